"""Answers of other pipelines become a folder that can be labelled and scored."""

import json

from harness.data import IMPORTS
from tests.command import printed, table

import_ragas = IMPORTS["ragas"].read

QUESTION = "How long is the Halden ferry crossing?"
ANSWER = "The crossing takes 35 minutes."
FIRST = "The Halden ferry crosses in 35 minutes."
SECOND = "The ferry was built in 1961."
ANSWERED = {
    "user_input": QUESTION,
    "retrieved_contexts": [FIRST, SECOND],
    "documents": ["docs/ferry.pdf"] * 2,
    "response": ANSWER,
}


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(path):
    if path.suffix == ".csv":
        return table(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_answers_become_a_corpus(tmp_path):
    summary = import_ragas(lines(tmp_path / "a.jsonl", ANSWERED, ANSWERED), tmp_path / "june")
    assert (summary.documents, summary.queries) == (1, 2)
    assert "Questions asked before in the same words: 1; they are in one cluster each." in summary.notes
    june = tmp_path / "june"
    queries = [(row["query_id"], row["text"], row["cluster"]) for row in rows_of(june / "queries.csv")]
    assert queries == [("q1", QUESTION, "q1"), ("q2", QUESTION, "q1")]
    assert (june / "documents" / "docs_ferry.pdf.txt").read_text() == f"{FIRST}\n\n{SECOND}\n"
    second = {"query_id": "q1", "rank": 2, "document": "docs_ferry.pdf.txt", "text": SECOND}
    assert rows_of(june / "hits.jsonl")[1] == second
    assert rows_of(june / "answers.jsonl")[0]["response"] == ANSWER


def test_the_folder_can_be_scored(tmp_path, monkeypatch, capsys):
    import_ragas(lines(tmp_path / "a.jsonl", ANSWERED), tmp_path / "june")
    labels = "query_id,document,quote,grade\nq1,docs_ferry.pdf,crosses in 35 minutes,4\n"
    (tmp_path / "june" / "labels.csv").write_text(labels)
    monkeypatch.chdir(tmp_path)
    words = (
        "score --hits june/hits.jsonl --queries june/queries.csv --labels june/labels.csv --quiet "
        "--documents june/documents/* --measures ndcg_exp@10"
    )
    printed(capsys, *words.split())
    rows = rows_of(tmp_path / "results" / "hits" / "per_query.csv")
    assert [float(row["value"]) for row in rows if row["measure"] == "ndcg_exp@10"] == [1]


def test_passages_without_a_document_are_documents(tmp_path):
    rows = [
        {"user_input": "Why?", "retrieved_contexts": ["a", "b"], "response": "So.", "reference": "Thus."},
        {"user_input": "How?", "retrieved_contexts": ["b"], "answerable": False},
    ]
    summary = import_ragas(lines(tmp_path / "r.jsonl", *rows), tmp_path / "r")
    assert (summary.documents, summary.queries) == (2, 2)
    assert "Questions without an answer: 1." in summary.notes
    queries = rows_of(tmp_path / "r" / "queries.csv")
    assert [(row["answer"], row["answerable"]) for row in queries] == [("Thus.", "yes"), ("", "no")]
    hits = rows_of(tmp_path / "r" / "hits.jsonl")
    assert hits[1]["document"] == hits[2]["document"]
    assert (tmp_path / "r" / "documents" / hits[0]["document"]).read_text() == "a\n"


def test_names_of_documents_stay_apart_and_cannot_lead_out_of_the_folder(tmp_path):
    row = {"user_input": "Why?", "retrieved_contexts": ["a", "b"], "documents": ["x/y", "x:Y"]}
    assert import_ragas(lines(tmp_path / "a.jsonl", row), tmp_path / "a").documents == 2
    row |= {"documents": ["../../etc/x", ".."]}
    import_ragas(lines(tmp_path / "r.jsonl", row), tmp_path / "r")
    names = sorted(path.name for path in (tmp_path / "r" / "documents").iterdir())
    assert names[0] == "etc_x.txt"
    assert names[1].startswith("passage-")
