"""Test sets go out to other tools and come back; offsets mean what their own code takes them to mean."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.corpus.labels import read_labels
from harness.data.corpus.text import text_sha256
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import FORMATS
from harness.labels.testset.formats.label_studio import resolve_offsets
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
    "label_studio": "tasks.json",
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
        ("label_studio", ("query_id", "text", "kind", "answerable", "answer")),
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
    if name == "label_studio":
        assert {one.evidence for one in back.labels} == {"", "revenue"}
    if name == "trec":
        assert (tmp_path / "qrels-documents.txt").read_text().splitlines()[0] == "q1 0 report 4"


def records_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_offsets_may_come_back_as_floats_and_never_as_words(tmp_path):
    path = written("label_studio", tmp_path)
    records = records_of(path)
    for one in records:
        one["data"] |= {"start": float(one["data"]["start"]), "end": float(one["data"]["end"])}
    path.write_text(json.dumps(records))
    assert spans(FORMATS["label_studio"].read(path, DOCUMENTS).labels) == spans(MADE.labels)
    for odd in ("first", None, ""):
        records[0]["data"]["start"] = odd
        path.write_text(json.dumps(records))
        with pytest.raises(LabelError, match=r"start or end is|is not a range of"):
            FORMATS["label_studio"].read(path, DOCUMENTS)


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


def test_a_part_that_people_marked_becomes_the_label(tmp_path):
    written("label_studio", tmp_path)
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    value = tasks[2]["annotations"][0]["result"][1]["value"]
    # "1.240" counted in UTF-16, as a browser does: the emoji before it is two
    value |= {
        "start": value["text"].index("1.240") + 1,
        "end": value["text"].index("1.240") + 6,
        "text": "1.240",
    }
    tasks[0]["annotations"] = []
    tasks[1]["annotations"][0]["was_cancelled"] = True
    tasks[3]["annotations"] = [{"result": tasks[1]["annotations"][0]["result"], "completed_by": 7}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    back = FORMATS["label_studio"].read(tmp_path / "tasks.json", DOCUMENTS)
    assert [TEXT[one.start : one.end] for one in back.labels if one.grade == 3] == ["1.240"]
    (changed,) = [one for one in back.labels if one.query_id == "q2" and one.grade == 0]
    assert changed.judge == "Label Studio user 7"
    assert any("2 tasks have no annotation" in note for note in back.notes)


def rated(folder, *grades_of_passages):
    """An export in which users grade the first passages: {user: grade} for each."""
    written("label_studio", folder)
    path = folder / SOURCE["label_studio"]
    records = json.loads(path.read_text(encoding="utf-8"))
    for one, grades in zip(records, grades_of_passages, strict=False):
        one["annotations"] = [
            {"completed_by": u, "result": [{"type": "choices", "value": {"choices": [str(g)]}}]}
            for u, g in grades
        ]
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_every_raters_own_grade_is_kept_and_none_is_dropped(tmp_path):
    # the second passage is graded twice by one of them: the later grade is theirs
    path = rated(tmp_path, [("ann", 4), ("ben", 1)], [("ann", 0), ("ben", 3), ("ben", 0)])
    back = FORMATS["label_studio"].read(path, DOCUMENTS)
    own = [(row.start, row.grade, row.grader.removeprefix("Label Studio user ")) for row in back.grades[:4]]
    assert own == [(0, 4, "ann"), (0, 1, "ben"), (0, 0, "ann"), (0, 0, "ben")]
    # where they differ nothing counts; where they agree both are named
    first = [(one.doc_id, one.grade, one.judge[-3:]) for one in back.labels if one.query_id == "q1"]
    assert first == [("other", 0, "ann"), ("other", 0, "ben")]
    assert "2 passages, the same grade for 50%" in "\n".join(back.notes)


def test_grades_without_a_user_are_not_taken_for_one_persons(tmp_path):
    back = FORMATS["label_studio"].read(rated(tmp_path, [(None, 4), (None, 1)]), DOCUMENTS)
    assert [row.grade for row in back.grades[:2]] == [4, 1]
    assert len({row.grader for row in back.grades[:2]}) == 2


words = st.text(st.sampled_from("ab 😀é工\n"), min_size=1, max_size=30)


@given(words, st.data())
def test_offsets_of_any_way_of_counting_give_the_text_that_is_shown(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    expected = text[start:end]
    before, inside = len(text[:start].encode("utf-16-le")) // 2, len(expected.encode("utf-16-le")) // 2
    for first, last in (
        (start, end),
        (start, end - 1),
        (before, before + inside),
        (before, before + inside - 1),
    ):
        a, b = resolve_offsets(text, first, last, expected, "here")
        assert text[a:b] == expected


def test_what_does_not_fit_the_documents_is_refused():
    with pytest.raises(LabelError, match="is 'abc', not 'xyz'"):
        resolve_offsets("abcdef", 0, 3, "xyz", "task 1")
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
    written("label_studio", docs / "out")
    assert run("import", "label_studio", "out/tasks.json", "--to", "back") == 1
    assert "--documents" in capsys.readouterr().err
    words = ["import", "label_studio", "out/tasks.json", "--documents", "docs/*", "--to", "back"]
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
    assert "label_studio" in capsys.readouterr().err


def test_importing_writes_every_raters_own_grades(docs, capsys):
    rated(docs, [("ann", 4), ("ben", 1)])
    assert run("import", "label_studio", "tasks.json", "--documents", "docs/*", "--to", "back") == 0
    assert "grades.csv has every rater's own grade" in capsys.readouterr().out
    rows = Path("back/grades.csv").read_text(encoding="utf-8").splitlines()
    graded = [line.split(",")[4:6] for line in rows[1:3]]
    assert graded == [["4", "Label Studio user ann"], ["1", "Label Studio user ben"]]
    labels = read_labels(Path("back/labels.csv"))
    assert not any(one.grade in (4, 1) and one.query_id == "q1" for one in labels)


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
def test_label_studio_takes_our_ends_for_excluded(tmp_path):
    """Its converter tags exactly the tokens of a span that ends where the next token begins, less a blank."""
    code = """
import sys, json
from label_studio_sdk.converter import utils
class Blanks:
    def span_tokenize(self, text):
        at = 0
        for word in text.split(" "):
            yield at, at + len(word)
            at += len(word) + 1
utils.TreebankWordTokenizer = Blanks
for end in (8, 9, 10):
    print(utils.create_tokens_and_tags("one two-x three", [{"start": 4, "end": end, "labels": ["e"]}])[1])
print(utils.create_tokens_and_tags("ab cd", [{"start": 0, "end": 3, "labels": ["e"]}])[1])
print(utils.create_tokens_and_tags("ab cd", [{"start": 0, "end": 4, "labels": ["e"]}])[1])
"""
    lines = theirs("label_studio_sdk", code).splitlines()
    # an end of 3 is the start of "cd", which is not tagged: the end is excluded; 4 reaches into it
    assert lines[-2:] == ["['B-e', 'O']", "['B-e', 'I-e']"]


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
