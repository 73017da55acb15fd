"""Test sets go out to other tools and come back; offsets mean what their own code takes them to mean."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.data.corpus.labels import read_labels
from harness.data.corpus.text import text_sha256
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import FORMATS
from harness.labels.testset.formats.values import place_of
from harness.labels.testset.rows import Place
from harness.values.errors import LabelError
from harness.values.types import Document
from tests.testset.helpers import run

TEXT = (
    "=Total revenue was 96,773 million.\nDas Werk in Turin 😀 beschäftigt 1.240 Leute. 苏州工厂有1200人。\n"
)
DOCUMENT = Document("report", TEXT, (0, 35), text_sha256(TEXT))
OTHER = Document("other", "Nothing to do with it.", (), text_sha256("Nothing to do with it."))
DOCUMENTS = {"report": DOCUMENT, "other": OTHER}


def part(text):
    return Place(DOCUMENT, TEXT.index(text), TEXT.index(text) + len(text))


MADE = FinishedTestset(
    (
        TestQuestion("q1", "What was total revenue?", "fact", True, "96,773 million", "Ann"),
        TestQuestion("q2", "=Wie viele Leute, bitte?", "table", note="a note"),
        TestQuestion("q3", "Who is on Mars?", "unanswerable", False),
    ),
    (
        # the answer, the first 14 characters, begins like a formula
        part("=Total revenue was 96,773 million.").judged("q1", 4, "Ann", "revenue", (0, 14)),
        Place(OTHER, 0, len(OTHER.text)).judged("q1", 0, "Ann"),
        part("Turin 😀 beschäftigt 1.240 Leute.").judged("q2", 3, "Ben"),
        part("苏州工厂有1200人。").judged("q2", 3, "Ben"),
        Place(OTHER, 0, 7).judged("q3", 0, "Ann"),
    ),
    DOCUMENTS,
)
SOURCE = {
    "quepid": "judgments.csv",
    "ragas": "testset.jsonl",
}


def written(name, folder):
    """The files of a format; returns the one that is read."""
    folder.mkdir(exist_ok=True)
    for file, content in FORMATS[name].write(MADE).files.items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / SOURCE.get(name, "")


def there_and_back(name, folder):
    return FORMATS[name].read(written(name, folder), DOCUMENTS)


def spans(labels, least=0):
    return {(one.query_id, one.doc_id, one.start, one.end, one.grade) for one in labels if one.grade >= least}


@pytest.mark.parametrize("name", ["csv", "jsonl", "xlsx"])
def test_our_own_tables_lose_nothing_but_who_answered(name, tmp_path):
    back = there_and_back(name, tmp_path)
    assert [replace(one, answer_by="") for one in back.questions] == [
        replace(one, answer_by="") for one in MADE.questions
    ]
    assert {replace(one, source="") for one in back.labels} == set(MADE.labels)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("trec", ("query_id", "text")),
        ("quepid", ("text",)),
    ],
)
def test_other_tools_keep_graded_spans_and_what_they_know_of_questions(name, kept, tmp_path):
    back = there_and_back(name, tmp_path)
    ours, theirs = (
        [[getattr(one, field) for field in kept] for one in made.questions] for made in (MADE, back)
    )
    assert theirs == ours
    # Quepid has no ids: they are given in the order of the questions
    ids = {one.query_id: new.query_id for one, new in zip(MADE.questions, back.questions, strict=True)}
    assert spans(back.labels) == {(ids[query], *rest) for query, *rest in spans(MADE.labels)}
    if name == "trec":
        assert (tmp_path / "qrels-documents.txt").read_text().splitlines()[0] == "q1 0 report 4"


def test_ragas_keeps_answers_and_what_is_relevant_and_says_what_it_cannot(tmp_path):
    back = there_and_back("ragas", tmp_path)
    assert [(one.text, one.answer, one.answerable) for one in back.questions] == [
        (one.text, one.answer, one.answerable) for one in MADE.questions
    ]
    # one context: 4; of two each 3
    assert sorted((one.start, one.grade) for one in back.labels) == sorted(
        (one.start, one.grade) for one in MADE.labels if one.grade >= 2
    )
    assert any("no grades" in note for note in back.notes)


def test_ragas_contexts_without_ids_are_found_by_their_text(tmp_path):
    file = tmp_path / "old.jsonl"
    samples = [
        {
            "question": "How many?",
            "contexts": ["Das Werk in Turin 😀\n beschäftigt 1.240 Leute."],
            "ground_truth": "1.240",
        },
        {"question": "Where?", "contexts": ["this stands in no document at all, nowhere"]},
    ]
    file.write_text("\n".join(json.dumps(one) for one in samples), encoding="utf-8")
    back = FORMATS["ragas"].read(file, DOCUMENTS)
    (label,) = back.labels
    assert TEXT[label.start : label.end] == "Das Werk in Turin 😀 beschäftigt 1.240 Leute."
    assert back.questions[0].answer == "1.240"
    assert any("1 contexts are empty or in none" in note for note in back.notes)


@pytest.mark.parametrize(
    ("ids", "found"),
    # with ids these decide, which are paired with the contexts before the empty one is dropped
    [([], "Das Werk in Turin"), (["report:1-6", "report:7-14", "other:0-7"], "Total")],
)
def test_ragas_contexts_that_are_empty_are_lost_with_their_ids(ids, found, tmp_path):
    file = tmp_path / "testset.jsonl"
    contexts = ["Das Werk in Turin", " ", "Nothing"]
    sample = {"user_input": "How many?", "reference_contexts": contexts, "reference_context_ids": ids}
    file.write_text(json.dumps(sample), encoding="utf-8")
    back = FORMATS["ragas"].read(file, DOCUMENTS)
    assert [(DOCUMENTS[one.doc_id].text[one.start : one.end], one.grade) for one in back.labels] == [
        (found, 3),
        ("Nothing", 3),
    ]
    assert any("1 contexts are empty or in none" in note for note in back.notes)


def test_what_does_not_fit_the_documents_is_refused():
    with pytest.raises(LabelError, match="not a range of other"):
        place_of("other:5-500", DOCUMENTS, "line 1")
    with pytest.raises(LabelError, match="neither a document nor a passage"):
        place_of("missing:5-50", DOCUMENTS, "line 1")
    assert place_of("other.txt", DOCUMENTS, "line 1") == Place(OTHER, 0, len(OTHER.text))


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """A folder with the documents, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for one in DOCUMENTS.values():
        Path("docs", f"{one.doc_id}.txt").write_text(one.text, encoding="utf-8")
    return tmp_path


def test_importing_writes_what_a_benchmark_reads(docs, capsys):
    written("trec", docs / "out")
    assert run("import", "trec", "out", "--to", "back") == 1
    assert "--documents" in capsys.readouterr().err
    words = ["import", "trec", "out", "--documents", "docs/*", "--to", "back"]
    assert run(*words) == 0
    assert "2 documents, 3 queries, 5 labels" in capsys.readouterr().out
    assert run(*words) == 1
    assert "exists already" in capsys.readouterr().err
    Path("my.yaml").write_text(
        "name: mine\ndocuments: docs/*\nqueries: back/queries.csv\nlabels: back/labels.csv\n"
        "chunk: {kind: page}\nretrieve: {kind: bm25}\n"
    )
    assert run("bench", "my.yaml", "--quiet") == 0
    assert run("import", "nonsense", "x") == 1
    assert "jsonl" in capsys.readouterr().err
    assert run("import", "label_studio", "x") == 1
    assert "was removed. Use csv or jsonl" in capsys.readouterr().err


def test_labels_that_repeat_are_imported_once(docs, capsys):
    row = "How many?,other:0-7,4\n"
    Path("j.csv").write_text(f"query,docid,rating\n{row}How many?,other:8-10,1\n{row}{row}")
    assert run("import", "quepid", "j.csv", "--documents", "docs/*", "--to", "back") == 0
    shown = capsys.readouterr().out
    assert "1 query, 2 labels" in shown
    labels = read_labels(Path("back/labels.csv"))
    assert [(one.start, one.end, one.grade) for one in labels] == [(0, 7, 4), (8, 10, 1)]


def python_with(module):
    """An interpreter that has a library of another tool: this one, or the one of HARNESS_PEERS."""
    peers = os.environ.get("HARNESS_PEERS", "")
    if peers:
        return peers
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed (or set HARNESS_PEERS to a Python that has it)")
    return sys.executable


def theirs(module, code, *arguments):
    done = subprocess.run(
        [python_with(module), "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_ragas_reads_our_samples(tmp_path):
    written("ragas", tmp_path)
    code = """
import sys
from ragas import EvaluationDataset
dataset = EvaluationDataset.from_jsonl(sys.argv[1])
print(len(dataset), dataset[0].reference, len(dataset[1].reference_contexts))
dataset.to_jsonl(sys.argv[2])
"""
    output = theirs("ragas", code, tmp_path / "testset.jsonl", tmp_path / "theirs.jsonl")
    assert output.splitlines()[-1] == "3 96,773 million 2"
    ours, back = (
        FORMATS["ragas"].read(tmp_path / f"{name}.jsonl", DOCUMENTS) for name in ("testset", "theirs")
    )
    assert spans(back.labels) == spans(ours.labels)
