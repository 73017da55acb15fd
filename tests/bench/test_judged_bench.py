"""A benchmark whose grades come from a judge, end to end: over HTTP, through the ledger, into the tables."""

import json

import numpy as np
import pytest

from harness import read_results
from harness.report import CostRow, base_payload, read_summary, read_tables, summary_table
from harness.running import load_config, make_plan
from harness.running.judging.pool import cost_rows
from harness.values import JudgeError, LlmError, Silent
from tests.command import bench, printed, table, told
from tests.judge.fake_server import FakeServer, error, grade, says

from .conftest import DENSE, QUERIES

PASSAGES = "{unit: passage, depth: 3, passage_chars: 100}"
KEY = "sk-do-not-show-me-4711"
WORDS = {
    "How many people work": "39,717 people worked",
    "Why was the fuel pump": "seal could harden",
    "Where do the cars": "harbour of Bremerton",
    "What stopped loading": "crane failure",
}


def careful(request, number=0):
    """Gives a 4 to the passage that holds the answer and a 0 to every other one."""
    text = request["body"]["messages"][-1]["content"]
    return grade(4 if any(q in text and answer in text for q, answer in WORDS.items()) else 0)


@pytest.fixture
def judged(lexical, monkeypatch):
    """Write a configuration whose judge is served at an address; each test has a ledger of its own."""
    monkeypatch.setenv("FAKE_KEY", KEY)

    def write(url, cache="own", pool=PASSAGES, measures="[ndcg_exp@3, judged@3]", own="", **stages):
        relevance = (
            f"relevance:\n  judge: llm\n  {own}\n"
            f"  endpoint: {{model: fake-1, base_url: '{url}', api_key_env: FAKE_KEY, timeout: 120}}\n"
            f"  pool: {pool}\n"
            "  prices: {fake-1: {input: 10.0, output: 100.0}}\n"
            f"measures: {measures}\n"
        )
        return lexical(more=relevance, cache=cache, **{"retrieve": DENSE % "exact", **stages})

    return write


def scored_on(folder, answer="yes"):
    """The judgments of a result that scores are made of."""
    return [row for row in table(folder / "judgments.csv") if row["scored_on"] == answer]


def asked(server):
    return [request["body"]["messages"][-1]["content"] for request in server.requests]


def test_a_judge_grades_what_all_settings_retrieved_as_planned_and_once(judged, corpus, monkeypatch):
    monkeypatch.delenv("FAKE_KEY")
    with FakeServer(careful) as server:
        path = judged(server.url, chunk="{kind: recursive, chunk_size: [90, 180]}")
        plan = make_plan(load_config(path), Silent(), search=True)
        assert server.count == 0
        assert not (corpus / "results").exists()
        monkeypatch.setenv("FAKE_KEY", KEY)
        results, folder, _ = told(path)
        count, first = server.count, {p.name: p.read_bytes() for p in folder.glob("*.csv")}
        # a second run asks nothing and needs no key
        monkeypatch.delenv("FAKE_KEY")
        again, _, _ = told(path)
        assert make_plan(load_config(path), Silent(), search=True).judge.estimate.calls == 0
        assert server.count == count
    assert (again.record.cost["calls"], again.record.cost["from_ledger"]) == (0, count)
    assert {p.name: p.read_bytes() for p in folder.glob("*.csv")} == first
    judge = plan.judge
    assert judge.estimate.calls == judge.pairs == count
    assert judge.judge == "fake-1 (pointwise v1)"
    assert judge.estimate.price > 0
    assert all(0 < one.to_judge <= judge.pairs for one in plan.settings)
    judgments = scored_on(folder)
    assert len(judgments) == count == len({(r["query_id"], r["document"], r["start"]) for r in judgments})
    assert {row["judge"] for row in judgments} == {judge.judge}
    assert all(row["snippet"] and row["grade"] in "04" for row in judgments)
    # the human labels of labels.csv are kept beside them, and named as such
    assert [row["judge"] for row in scored_on(folder, "no")] == ["human"] * 4
    summary = table(folder / "summary.csv")
    assert {(row["judge"], row["n_failed"]) for row in summary} == {(judge.judge, "0")}
    assert read_summary(folder)[0] == results.summary
    # each of 100 + 10 tokens at 10 and 100 per million; shared adds up to the bill
    costs = table(folder / "costs.csv")
    assert [row["setting"] for row in costs] == ["chunk=90/0", "chunk=180/0"]
    assert sum(float(row["cost_shared"]) for row in costs) == pytest.approx(count * 0.002)
    assert all(float(row["cost_alone"]) == pytest.approx(int(row["judgments"]) * 0.002) for row in costs)
    record = results.record
    assert (record.judge["name"], len(record.judge["prompt_sha256"])) == (judge.judge, 64)
    assert (record.cost["calls"], record.cost["prompt_tokens"]) == (count, 100 * count)
    assert record.cost["cost"] == pytest.approx(count * 0.002)
    assert record.cost["served_models"] == ["fake-1-2025"]
    assert record.cost["maybe_billed"] == {"calls": 0, "at_most": 0.0}


def test_a_judge_is_shown_what_people_have_graded_and_its_answers_are_found_again(judged, capsys):
    with FakeServer(careful) as server:
        path = judged(server.url, own="examples: 1")
        dry = make_plan(load_config(path), Silent(), search=True)
        results, _, _ = told(path)
        for request in server.requests:
            _, shown, reply, last = request["body"]["messages"]
            query = next(text for _, text, *_ in QUERIES if f"\n{text}\n" in last["content"])
            held_back = [text for _, text, split, *_ in QUERIES if split == "validation"]
            assert not any(f"\n{text}\n" in shown["content"] for text in (query, *held_back))
            assert json.loads(reply["content"])["grade"] in range(5)
    assert (dry.judge.estimate.calls, results.record.judge["examples_sha256"] != "") == (server.count, True)
    assert f"{server.count} answers" in printed(capsys, "judge", "answers", path)


def test_text_that_is_only_on_the_subject_does_not_answer(judged):
    """All grades are 1: an NDCG of such a list says nothing, and answerable_from keeps it out."""
    with FakeServer(lambda request, number: grade(1)) as server:
        found = [told(judged(server.url, own=own))[0].summary for own in ("", "answerable_from: 2")]
    one, two = (next(r for r in x if (r.split, r.measure) == ("all", "ndcg_exp@3")) for x in found)
    assert one.mean > 0.9
    assert (two.mean, two.left_out) == (None, {"unanswerable": 1, "ungraded": 0, "irrelevant": 4})


def test_a_new_chunking_asks_only_about_passages_that_nobody_has_judged(judged):
    with FakeServer(careful) as server:
        told(judged(server.url, chunk="{kind: recursive, chunk_size: 90}"))
        old = set(asked(server))
        results, folder, _ = told(judged(server.url, chunk="{kind: recursive, chunk_size: 180}"))
        new = asked(server)[len(old) :]
    assert not old & set(new)
    used = scored_on(folder)
    assert len(new) < len(used)
    assert results.record.cost["from_ledger"] == len(used) - len(new)


def test_too_many_failures_end_the_run_with_the_list_and_few_are_counted(judged, corpus):
    def refuses_q1(request, number):
        text = request["body"]["messages"][-1]["content"]
        return says(None, refusal="I will not") if "How many people work" in text else careful(request)

    with FakeServer(refuses_q1) as server:
        with pytest.raises(JudgeError, match=r"max_unscored allows 2.0%(.|\n)*query q1, (.|\n)*refusal"):
            told(judged(server.url))
        assert not (corpus / "results").exists()
        results, folder, _ = told(judged(server.url, own="max_unscored: 0.5"))
    failed = {r.split: r.n_failed for r in results.summary if r.measure == "ndcg_exp@3"}
    assert failed == {"train": 1, "validation": 0, "all": 1}
    without = [r for r in scored_on(folder) if r["query_id"] == "q1"]
    assert {(r["grade"], r["reason"]) for r in without} == {("", "refusal")}
    (warning,) = [one for one in results.record.warnings if "no usable grade" in one.text]
    assert warning.kind == "judge"
    assert warning.text.startswith(f"{len(without)} of ")
    assert warning.text in results.verdict["warnings"][-1]["text"]


def test_the_key_appears_nowhere(judged, corpus):
    def tells(request, number):
        assert request["headers"]["authorization"] == f"Bearer {KEY}"
        return error(401, f"Incorrect API key provided: {KEY}") if number > 8 else careful(request)

    with FakeServer(tells) as server:
        path = judged(server.url)
        reporter = Silent()
        with pytest.raises(LlmError) as caught:
            bench(path, reporter)
        assert KEY not in str(caught.value)
        server.script = careful
        told(path)
    written = [p for p in [*corpus.rglob("*")] if p.is_file()]
    assert any(p.name == "record.json" for p in written)
    assert any(p.name == "judgments.sqlite" for p in written)
    assert not [p for p in written if KEY.encode() in p.read_bytes()]
    assert KEY not in " ".join(reporter.notes + reporter.warnings)


def test_a_model_that_grades_its_own_ranking_is_warned_of(judged):
    with FakeServer(careful) as server:
        path = judged(server.url)
        path.write_text(path.read_text().replace("fake-1", "sentence-transformers/all-minilm-l6-v2"))
        _, _, reporter = told(path)
    (warned,) = [text for text in reporter.warnings if "measures nothing" in text]
    assert "also ranks (embedded:all-MiniLM-L6-v2)" in warned


def test_seed_ratio_is_next_to_ndcg_when_asked_for_and_is_never_called_so(judged):
    with FakeServer(careful) as server:
        path = judged(
            server.url,
            pool="{unit: chunk, depth: 3}",
            own="seed_ratio: 3",
            rerank="{kind: python, call: 'tests.search.own:reversed_order', version: '1'}",
        )
        results, folder, _ = told(path)
    found = {row["query_id"]: row for row in table(folder / "seed_ratio.csv")}
    # predicted 0 1 2, as the reranker reverses the order: 1 / log2(3) + 3 / 2 = 2.130930; judged 4 0 0: 15
    assert float(found["q1"]["seed_ratio"]) == pytest.approx(2.1309297535714573 / 15)
    # all three are graded 0: the ratio is 0 and counts, where NDCG has no value
    assert (found["q5"]["seed_ratio"], found["q5"]["reason"]) == ("0.0", "")
    named = {row.measure for row in results.summary}
    assert named == {"ndcg_exp@3", "judged@3", "seed_ratio@3"}
    mean = next(r for r in results.summary if (r.measure, r.split) == ("seed_ratio@3", "all"))
    values = [float(row["seed_ratio"]) for row in found.values() if row["seed_ratio"]]
    assert mean.mean == pytest.approx(sum(values) / len(values))


def test_without_labels_a_judge_is_enough_and_finds_what_cannot_be_answered(judged, corpus):
    (corpus / "labels.csv").unlink()
    path = corpus / "queries.csv"
    # nobody has said that q5 is unanswerable
    path.write_text(path.read_text().replace("train,no", "train,yes"))
    with FakeServer(careful) as server:
        path = judged(server.url)
        path.write_text(path.read_text().replace(f"labels: {corpus}/labels.csv\n", ""))
        results, folder, _ = told(path)
    assert scored_on(folder, "no") == []
    assert results.record.counts["labels"] == 0
    values = {r.query_id: r.value for r in results.per_query if r.measure == "ndcg_exp@3"}
    assert [query for query, value in values.items() if value is None] == ["q5"]
    overall = next(r for r in results.summary if (r.split, r.measure) == ("all", "ndcg_exp@3"))
    assert (overall.n_queries, overall.n_unanswerable, overall.n_irrelevant) == (4, 0, 1)


def test_questions_that_are_left_out_are_counted_by_the_reason_everywhere(lexical, corpus):
    end = (corpus / "docs" / "people.txt").read_text().index(".") + 1
    (corpus / "labels.csv").write_text(f"query_id,document,start,end,grade\nq1,people,0,{end},4\n")
    results, folder, _ = told(lexical(retrieve=DENSE % "exact"))
    rows = [(r["query_id"], r["grade"], r["judge"]) for r in table(folder / "judgments.csv")]
    assert rows == [("q1", "4", "human")]
    left_out = {r.measure: tuple(r.left_out.values()) for r in results.summary if r.split == "all"}
    # of the other questions q5 is unanswerable, and three have no label
    assert {measure for measure, n in left_out.items() if n != (1, 3, 0)} == {"judged@10", "judged_text@5000"}
    assert left_out["judged@10"] == (0, 0, 0)
    assert results.record.counts["left_out"] == {"unanswerable": 1, "ungraded": 3, "irrelevant": 0}
    said = "Left out: 1 unanswerable and 3 never graded."
    assert said in summary_table("run", results.summary).notes[0]
    assert said in " ".join(results.verdict["sentences"])
    assert base_payload(read_tables(folder), {})["left_out"] == said
    assert said in " ".join(str(read_results(folder).compare()).split())


def test_cost_per_setting():
    costs = np.array([1.0, 2.0, 4.0, np.nan])
    # pair 1 is shared: A pays 1 + 2/2, B pays 2/2 + 4; what is unknown is not zero
    assert cost_rows(costs, {"A": [0, 1], "B": [1, 2, 2], "C": [3], "D": []}, np.arange(len(costs))) == [
        CostRow("A", 2, 3.0, 2.0),
        CostRow("B", 3, 6.0, 5.0),
        CostRow("C", 1, None, None),
        CostRow("D", 0, 0.0, 0.0),
    ]
