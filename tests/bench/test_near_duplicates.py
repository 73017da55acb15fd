"""Rephrasings of a question are told in numbers, as they are not so many questions."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from benchmarks import question_vectors
from benchmarks.question_vectors import ONE_TABLE, SAME
from harness.running import same_evidence_words
from harness.running.evaluate.near_duplicates import (
    clusters_by_question,
    near_duplicates,
    near_duplicates_sentence,
    same_evidence,
    weights_of,
)
from harness.values import Judgment, Query
from tests.bench.conftest import SENTENCES
from tests.command import bench, printed, table

REVENUE = (
    "What was the total revenue in 2023?",
    "How high was the total revenue in 2023?",
    "Total revenue in 2023, what was it?",
)


def query(name, text):
    return Query(query_id=name, text=text, split="train")


def label(name, start, grade=4):
    return Judgment(name, "report", start, start + 50, grade)


def test_three_rephrasings_are_one_question():
    """17 questions in three wordings each: 51 queries, 34 of which are no question of their own."""
    queries = [query(f"q{n}-{w}", f"{text} For unit{n}") for n in range(17) for w, text in enumerate(REVENUE)]
    labels = [label(one.query_id, 100 * int(one.query_id[1:].split("-")[0])) for one in queries]
    groups = near_duplicates(queries, labels)
    assert len(groups) == 17
    assert groups[0] == ("q0-0", "q0-1", "q0-2")
    told = near_duplicates_sentence(queries, labels)
    assert told.startswith("51 queries ask only 17 different things: 34 have the same evidence")
    clustered = [replace(one, cluster=one.query_id.split("-")[0]) for one in queries]
    assert near_duplicates_sentence(clustered, labels) is None


def test_other_evidence_figures_or_words_are_other_questions():
    first = query("a", REVENUE[0])
    for second, labels in (
        (query("b", REVENUE[1]), [label("a", 0), label("b", 100)]),
        (query("b", REVENUE[1].replace("2023", "2022")), [label("a", 0), label("b", 0)]),
        (query("b", "Who audited the figures?"), [label("a", 0), label("b", 0)]),
        (query("b", REVENUE[1]), [label("a", 0, grade=0), label("b", 0, grade=0)]),
    ):
        assert near_duplicates([first, second], labels) == []
    assert near_duplicates([first, query("b", REVENUE[1])], [label("a", 0), label("b", 0)]) == [("a", "b")]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_a_rephrasing_is_found_among_other_questions_on_the_same_text(texts):
    queries = [query(f"same{n}", text) for n, text in enumerate(texts)]
    texts_of_others = [text for questions in ONE_TABLE for text in questions]
    others = [query(f"other{n}", text) for n, text in enumerate(texts_of_others)]
    labels = [label(each.query_id, 0) for each in [*queries, *others]]
    groups = near_duplicates([*queries, *others], labels)
    assert any({"same0", "same1"} <= set(group) for group in groups)


@pytest.mark.parametrize("texts", ONE_TABLE, ids=lambda texts: texts[0])
def test_different_questions_about_one_table_are_not_joined(texts):
    queries = [query(f"q{n}", text) for n, text in enumerate(texts)]
    assert near_duplicates(queries, [label(each.query_id, 0) for each in queries]) == []
    for pair in combinations(queries, 2):
        assert near_duplicates(pair, [label(each.query_id, 0) for each in pair]) == []


def test_questions_of_one_short_piece_of_evidence_in_other_words_are_shown_to_be_looked_at():
    """Synonyms, which no comparison of words or vectors tells from other questions about one table."""
    texts = {"a": "How much did the firm sell in 2023?", "b": REVENUE[0], "c": "Who audited the figures?"}
    queries = [query(name, text) for name, text in texts.items()]
    labels = [label("a", 0), label("b", 2), label("c", 100)]
    assert near_duplicates(queries, labels) == []
    # 48 of 50 characters are shared
    assert same_evidence(queries, labels) == [("a", "b")]
    assert same_evidence_words(queries, labels).startswith("a = b. Their words differ: look whether")
    for others in (
        # 40 of 50 characters; a page; both have one cluster
        [label("a", 0), label("b", 10)],
        [Judgment(name, "report", 0, 3000, 4) for name in "ab"],
    ):
        assert same_evidence(queries, others) == []
    clustered = [replace(each, cluster="sales") for each in queries]
    assert same_evidence(clustered, labels) == []
    assert same_evidence_words(clustered, labels) == ""
    # those that words find are told by the warning, unless another one joins them
    alike = [*queries, query("d", REVENUE[1])]
    assert same_evidence(alike[1:], [*labels, label("d", 0)]) == []
    assert same_evidence(alike, [*labels, label("d", 0)]) == [("a", "b", "d")]


def test_validate_shows_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("Sales rose to 12 million. The auditor was new.", encoding="utf-8")
    Path("queries.csv").write_text(
        "query_id,text\nq1,How much was sold?\nq2,What is the turnover?\nq3,Who audited?\n", encoding="utf-8"
    )
    quotes = ("q1,Sales rose to 12 million.", "q2,Sales rose to 12 million.", "q3,The auditor was new.")
    rows = "\n".join(f"{name},notes.txt,{quote},4" for name, quote in (row.split(",") for row in quotes))
    Path("labels.csv").write_text(f"query_id,document,quote,grade\n{rows}\n", encoding="utf-8")
    Path("my.yaml").write_text(
        "name: t\ndocuments: notes.txt\nqueries: queries.csv\nlabels: labels.csv\n"
        "chunk: {kind: sentence, chunk_size: 40}\nretrieve: {kind: bm25, top_k: 3}\n",
        encoding="utf-8",
    )
    compared = []

    def weigh(wordings):
        compared.append(wordings)
        return weights_of(wordings)

    monkeypatch.setattr("harness.running.evaluate.near_duplicates.weights_of", weigh)
    shown = printed(capsys, "validate", "my.yaml")
    # the warning and this line need the same groups
    assert len(compared) == 1
    assert "same evidence q1 = q2. Their words differ: look whether they ask the same thing." in shown


def test_evidence_that_overlaps_by_half_is_shared():
    """Two people seldom mark the same characters: 26 of 50 are shared, and 24 of 50 are not enough."""
    queries = [query("a", REVENUE[0]), query("b", REVENUE[1])]
    assert near_duplicates(queries, [label("a", 0), label("b", 24)]) == [("a", "b")]
    assert near_duplicates(queries, [label("a", 0), label("b", 26)]) == []


def test_clusters_by_question_keep_the_names_of_the_query_file():
    queries = [query("a", REVENUE[0]), query("b", REVENUE[1]), query("c", REVENUE[2]), query("d", "Who?")]
    labels = [label(each.query_id, 0) for each in queries[:3]]
    assert clusters_by_question(queries, labels) == {"a": "a", "b": "a", "c": "a", "d": "d"}
    queries[1] = replace(queries[1], cluster="revenue")
    assert clusters_by_question(queries, labels) == {"a": "revenue", "b": "revenue", "c": "revenue", "d": "d"}


def test_a_run_tests_near_duplicates_as_one_where_the_configuration_says_so(lexical, corpus):
    with (corpus / "queries.csv").open("a", encoding="utf-8") as file:
        file.write("q6,How many people are working for the company?,train,yes\n")
    with (corpus / "labels.csv").open("a", encoding="utf-8") as file:
        file.write(f'q6,people,"{SENTENCES["people"][0]}",4\n')
    _, folder = bench(lexical(retrieve="{kind: bm25, top_k: 10}"))
    warned = _warned(folder)
    assert "set bootstrap: {clusters: near_duplicates}" in warned[0]
    clusters = {row["query_id"]: row["cluster"] for row in table(folder / "per_query.csv")}
    assert clusters["q3"] == clusters["q4"] == "harbour"
    _, folder = bench(
        lexical(retrieve="{kind: bm25, top_k: 10}", more="bootstrap: {clusters: near_duplicates}")
    )
    assert _warned(folder) == []
    clusters = {row["query_id"]: row["cluster"] for row in table(folder / "per_query.csv")}
    assert clusters["q1"] == clusters["q6"] == "q1"
    assert (clusters["q3"], clusters["q4"]) == ("q3", "q4")


def _warned(folder):
    warnings = json.loads((folder / "record.json").read_text(encoding="utf-8"))["warnings"]
    return [warning["text"] for warning in warnings if warning["kind"] == "questions"]


@pytest.mark.slow
def test_no_threshold_of_vectors_joins_synonyms_alone(capsys, monkeypatch):
    """Why the words alone decide: what the docs say of vectors of questions is what the benchmark prints."""
    monkeypatch.setattr("sys.argv", ["question_vectors"])
    question_vectors.main()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    cosines = {(row[0], row[1]): row[4].split(", ") for row in rows}
    table, synonyms = cosines["about one table", "English"], cosines["synonyms", "English"]
    assert cosines[f"above all different ones ({table[-1]})", "English"][1] == "0 synonyms"
    page = " ".join(Path("docs/statistics.md").read_text("utf-8").split())
    assert f"a cosine of {table[0]} to {table[-1]} in English" in page
    assert f"synonyms {synonyms[0]} to {synonyms[-1]}" in page
