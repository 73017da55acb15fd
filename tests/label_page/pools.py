"""Small documents and pools that the tests of the labelling page share."""

import csv
from itertools import count
from pathlib import Path

from harness.labels import DocumentStore, Envelope, PageState, PassageToGrade
from harness.labels.label_page.service import LabelService
from harness.running import Running, Session
from harness.values import Silent
from tests.corpus.conftest import text_document as document

# line breaks of three kinds, a table, Chinese, characters of two UTF-16 units, a right-to-left word, an emoji
STRANGE = (
    "Head\r\nA first line\nof text.\rEnd.\n\nPlant\tPeople\nGraz\t400\n\n"
    "他𠀋说：𠮷野家 🚗 在这里。\n\nשלום and 🚗🚗 cars.\n"
)
PLAIN = "The plant in Lyon was closed in May. It employed 300 people.\n\nThe plant in Graz makes gears.\n"
COPY = "Summary. The plant in Lyon was\nclosed in May. Nothing else.\n"
TEXTS = {"strange": STRANGE, "plain": PLAIN, "copy": COPY}


DOCUMENTS = {name: document(name, text) for name, text in TEXTS.items()}
SHAS = {name: one.sha256 for name, one in DOCUMENTS.items()}


def item(query_id, doc_id, start, end, text="", **more):
    return PassageToGrade(query_id, doc_id, start, end, text=text, **more)


def part(query_id, doc_id, words, **more):
    """The item of some words of a document."""
    start = TEXTS[doc_id].index(words)
    return item(query_id, doc_id, start, start + len(words), words, **more)


QUESTIONS = {"q1": "Which plant was closed?", "q2": "Where are cars?"}
ITEMS = [
    part("q1", "plain", "The plant in Lyon was closed in May. It employed 300 people."),
    part("q1", "plain", "The plant in Graz makes gears."),
    part("q1", "strange", "Plant\tPeople\nGraz\t400"),
    part("q2", "strange", "他𠀋说：𠮷野家 🚗 在这里。"),
    part("q2", "strange", "שלום and 🚗🚗 cars."),
]


_NUMBERS = count()


def by(rater="Ada", **more):
    """The envelope of a request that no test has made before."""
    return Envelope(rater, f"request-{next(_NUMBERS):06}", **more)


def state_at(path, items=ITEMS, questions=QUESTIONS):
    state = PageState(path)
    state.sync(questions, items, SHAS)
    return state


def desk_at(folder, items=ITEMS, questions=QUESTIONS, **more):
    """A service over the three texts; its cache and its labels are in ``folder``."""
    session = Session.at(Path(folder) / "cache", Silent(), may_ask=False)
    state = state_at(Path(folder) / "pool.labelling.sqlite", items, questions)
    return LabelService(state, DocumentStore(DOCUMENTS, Running(session), {}), "# How\n\n- 4: all", **more)


def write_folder(folder, items=ITEMS):
    """Documents and a pool file on the disk."""
    (folder / "docs").mkdir()
    for name, text in TEXTS.items():
        (folder / "docs" / f"{name}.txt").write_bytes(text.encode())
    with (folder / "pool.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_id", "question", "doc_id", "start", "end", "page", "text"])
        for one in items:
            cells = [one.query_id, QUESTIONS[one.query_id], one.doc_id, one.start, one.end, "", one.text]
            writer.writerow(cells)
    return folder / "pool.csv"
