"""Test sets go out to other tools and come back; offsets mean what their own code takes them to mean."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from harness.data import read_labels
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import FORMATS, tables_of
from harness.values import Document, Judgment, text_sha256
from tests.command import refused, table
from tests.testset.helpers import run

TEXT = (
    "=Total revenue was 96,773 million.\nDas Werk in Turin 😀 beschäftigt 1.240 Leute. 苏州工厂有1200人。\n"
)
DOCUMENTS = {
    name: Document(name, text, (), text_sha256(text))
    for name, text in (("report", TEXT), ("other", "Nothing to do with it."))
}


def label(query_id, text, grade, evidence="", answer=None, document="report"):
    start = DOCUMENTS[document].text.index(text)
    return Judgment(query_id, document, start, start + len(text), grade, evidence, judge="Ann", answer=answer)


MADE = FinishedTestset(
    (
        TestQuestion("q1", "What was total revenue?", "fact", True, "96,773 million", "Ann"),
        TestQuestion("q2", "=Wie viele Leute, bitte?", "table", note="a note"),
        TestQuestion("q3", "Who is on Mars?", "unanswerable", False),
    ),
    (
        # the answer, the first 14 characters, begins like a formula
        label("q1", "=Total revenue was 96,773 million.", 4, "revenue", (0, 14)),
        label("q1", "Nothing to do with it.", 0, document="other"),
        label("q2", "Turin 😀 beschäftigt 1.240 Leute.", 3),
        label("q2", "苏州工厂有1200人。", 3),
        label("q3", "Nothing", 0, document="other"),
    ),
    DOCUMENTS,
)


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """A folder with the documents, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for one in DOCUMENTS.values():
        Path("docs", f"{one.doc_id}.txt").write_text(one.text, encoding="utf-8")
    return tmp_path


def test_qrels_name_every_passage_by_its_offsets_and_every_document_by_its_best():
    files = FORMATS["trec"][0](MADE)
    assert files["topics.tsv"].splitlines()[1] == "q2\t=Wie viele Leute, bitte?"
    passages = [line.split() for line in files["qrels.txt"].splitlines()]
    assert [line[0] for line in passages] == ["q1", "q1", "q2", "q2", "q3"]
    # 34 characters with the sign
    assert passages[0] == ["q1", "0", "report:0-34", "4"]
    best = ["q1 0 report 4", "q1 0 other 0", "q2 0 report 3", "q3 0 other 0"]
    assert files["qrels-documents.txt"].splitlines() == best


def test_our_tables_are_read_back_as_they_were(docs):
    for name, text in tables_of(MADE).items():
        Path(name).write_text(text, encoding="utf-8")
    Path("my.yaml").write_text(
        "name: mine\ndocuments: docs/*\nqueries: queries.csv\nlabels: labels.csv\n"
        "chunk: {kind: page}\nretrieve: {kind: bm25}\n"
    )
    assert run("bench", "my.yaml", "--quiet") == 0
    rows = table("results/mine/judgments.csv")
    columns = ("query_id", "document", "start", "end", "grade", "evidence", "judge")
    assert sorted(tuple(row[name] for name in columns) for row in rows) == sorted(
        (*map(str, (*one.key, one.grade)), one.evidence, one.judge) for one in MADE.labels
    )
    assert rows[0]["answer"] == "0-14"


def imported(capsys, *samples):
    """The labels and the queries that an import of ragas samples makes, and what it prints."""
    Path("t.jsonl").write_text("".join(json.dumps(one) + "\n" for one in samples), encoding="utf-8")
    assert run("import", "ragas", "t.jsonl", "--documents", "docs/*", "--to", "back") == 0
    return read_labels(Path("back/labels.csv")), table("back/queries.csv"), capsys.readouterr().out


def test_ragas_keeps_answers_and_what_is_relevant_and_says_what_it_cannot(docs, capsys):
    samples = map(json.loads, FORMATS["ragas"][0](MADE)["testset.jsonl"].splitlines())
    labels, queries, told = imported(capsys, *samples)
    assert [(one["text"], one["answer"], one["answerable"]) for one in queries] == [
        ("What was total revenue?", "96,773 million", "yes"),
        ("'=Wie viele Leute, bitte?", "", "yes"),
        ("Who is on Mars?", "", "no"),
    ]
    # one context: 4; of two each 3
    assert sorted((one.query_id, one.start, one.end, one.grade) for one in labels) == sorted(
        (one.query_id, one.start, one.end, one.grade) for one in MADE.labels if one.grade >= 2
    )
    assert "ragas knows no grades" in told
    assert "1 document, 3 queries, 3 labels" in told
    # what is printed to be pasted is a configuration
    following = told.partition("Next, put these lines into a configuration, and run harness bench:\n")[2]
    assert yaml.safe_load(following) == {
        "documents": "docs/*",
        "queries": str(Path("back/queries.csv")),
        "labels": str(Path("back/labels.csv")),
    }
    rest = "name: back\nchunk: {kind: recursive, chunk_size: 40}\nretrieve: {kind: bm25}\n"
    Path("back.yaml").write_text(following + rest, encoding="utf-8")
    assert run("bench", "back.yaml", "--quiet") == 0
    assert "exists already" in refused(
        capsys, "import", "ragas", "t.jsonl", "--documents", "docs/*", "--to", "back"
    )


def test_contexts_are_found_by_their_text_and_those_that_are_nowhere_are_counted(docs, capsys):
    contexts = [
        "Das Werk in Turin 😀\n beschäftigt 1.240 Leute.",
        " ",
        "Nothing to do",
        "Nothing to do",
        "this stands in no document at all, nowhere",
    ]
    labels, _, told = imported(capsys, {"user_input": "How many?", "reference_contexts": contexts})
    texts = [DOCUMENTS[one.document].text[one.start : one.end] for one in labels]
    assert texts == ["Das Werk in Turin 😀 beschäftigt 1.240 Leute.", "Nothing to do"]
    assert {one.grade for one in labels} == {3}
    assert "left out: 2" in told


def test_an_unknown_format_and_an_option_of_another_one_are_refused(docs, capsys):
    assert "Known: beir" in refused(capsys, "import", "nonsense", "x")
    assert "--documents goes with ragas alone" in refused(
        capsys, "import", "beir", "x", "--documents", "docs/*"
    )


@pytest.mark.slow
def test_ragas_reads_our_samples(tmp_path):
    """By an interpreter that has ragas: this one, or the one of HARNESS_PEERS."""
    peers = os.environ.get("HARNESS_PEERS", "")
    if not peers and importlib.util.find_spec("ragas") is None:
        pytest.skip("ragas is not installed (or set HARNESS_PEERS to a Python that has it)")
    file = tmp_path / "testset.jsonl"
    file.write_text(FORMATS["ragas"][0](MADE)["testset.jsonl"], encoding="utf-8")
    code = """
import sys
from ragas import EvaluationDataset
dataset = EvaluationDataset.from_jsonl(sys.argv[1])
print(len(dataset), dataset[0].reference, len(dataset[1].reference_contexts))
"""
    done = subprocess.run(
        [peers or sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "3 96,773 million 2"
