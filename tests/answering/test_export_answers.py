"""`harness export-answers`: the answers of a run for other tools, and back again."""

import json

import pytest

from harness.data import read_answers
from harness.report import read_table
from tests.answering.test_bench_answers import answering
from tests.command import bench, table
from tests.command import exit_code as run

__all__ = ["answering"]


@pytest.fixture
def results(answering, tmp_path):
    path = answering("{kind: extractive, top_n: [1, 3]}", more="answer_measures: [token_f1]\n")
    _, folder = bench(path)
    return folder


def test_exported_answers_can_be_imported_again(results, tmp_path, capsys):
    """Exported answers score as in the run, and import as a corpus to search and label."""
    setting = "top_n=3"
    words = ("export-answers", str(results), "--setting", setting, "--output")
    assert run(*words, str(tmp_path / "a.jsonl")) == 0
    assert run(*words, str(tmp_path / "new/a.jsonl")) == 0
    assert (tmp_path / "new/a.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    assert "a.jsonl: 5 queries" in " ".join(capsys.readouterr().out.split())
    found = {one.query_id: one for one in read_answers(tmp_path / "a.jsonl")}
    replies = read_table(results, "replies").set_index(["setting", "query_id"])
    texts = read_table(results, "passages").set_index("chunk_id").text
    read = read_table(results, "reply_passages").set_index(["setting", "query_id"]).sort_values("place")
    for query, one in found.items():
        row = replies.loc[setting, query]
        assert (one.answer or "", next(iter(one.references), "")) == (row.answer, row.golden)
        if not one.read:
            # nothing was found for it, so nobody was asked
            assert (row.reason, one.reason) == ("no_passages", "no_passages")
            continue
        own = read.loc[[(setting, query)]]
        assert [passage.text for passage in one.read] == [texts[chunk] for chunk in own.chunk_id]
        assert one.cited == tuple(
            place - 1 for place, cited in zip(own.place, own.cited, strict=True) if cited
        )
    # ragas reads these columns
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert {"user_input", "retrieved_contexts", "response", "reference"} <= set(first)

    assert run("score-answers", str(tmp_path / "a.jsonl"), "--measures", "token_f1", "--output",
               str(tmp_path / "s.csv"), "--quiet") == 0  # fmt: skip
    again = {row["query_id"]: row["value"] for row in table(tmp_path / "s.csv")}
    scores = read_table(results, "answer_scores").set_index(["setting", "query_id"]).loc[setting]
    for query in found:
        value = scores.loc[query].value
        assert again[query] == ("" if value != value else repr(float(value)))

    assert run("import", "ragas", str(tmp_path / "a.jsonl"), "--to", str(tmp_path / "back")) == 0
    assert {
        one.query_id: (one.answer, one.references) for one in read_answers(tmp_path / "back/answers.jsonl")
    } == {query: (one.answer, one.references) for query, one in found.items()}
