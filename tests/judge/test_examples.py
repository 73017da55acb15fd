"""Few-shot: what people have graded is shown to the judge, and never for the query that is judged."""

import json

import pytest

from harness.judge import LlmJudge
from harness.judge.prompting import LONGEST, Example, Examples, candidates_of
from harness.values.errors import JudgeError
from harness.values.progress import Silent
from harness.values.types import Document, Judgment, Query

from .fake_server import FakeServer, grade
from .helpers import config, judged, pairs, script_of

CANDIDATES = tuple(
    Example(f"query {number}", f"text {number} of grade {value}", value)
    for number in range(12)
    for value in (4, 2, 0)
)


def test_the_ends_of_the_scale_come_first_and_each_from_a_query_of_its_own():
    shown = Examples(CANDIDATES, 5).shown_for("another")
    assert [one.grade for one in shown] == [4, 0, 2, 4, 0]
    assert len({one.query for one in shown}) == 5
    # the order of the labels says nothing
    assert Examples(reversed(CANDIDATES), 5).shown_for("another") == shown
    assert Examples(CANDIDATES, 2).shown_for("another") == shown[:2]


def test_no_example_is_about_the_query_that_is_judged():
    examples = Examples(CANDIDATES, 6)
    usual = examples.shown_for("another")
    for query in {one.query for one in CANDIDATES}:
        for asked in (query, f"  {query.upper()} "):
            assert query not in {one.query for one in examples.shown_for(asked)}
        # the others are shown what they are shown anyway
        if query not in {one.query for one in usual}:
            assert examples.shown_for(query) == usual


def test_too_few_are_reported_and_not_made_up():
    few = [one for one in CANDIDATES if one.query in ("query 1", "query 2")]
    assert len(Examples(few, 2).shown_for("another")) == 2
    with pytest.raises(JudgeError, match=r"characters: 1\. Grade more"):
        Examples(few, 2).shown_for("query 1")


def test_only_short_graded_spans_of_train_queries_can_be_shown():
    document = Document("d", "x" * 4000, (), "")
    queries = [Query("t", "train?", "train"), Query("v", "validation?", "validation")]
    labels = [
        Judgment("t", "d", 0, 10, 4),
        Judgment("t", "d", 0, LONGEST + 1, 3),
        Judgment("t", "d", 20, 30, None),
        Judgment("v", "d", 0, 10, 4),
    ]
    assert candidates_of(labels, queries, {"d": document}) == (Example("train?", "x" * 10, 4),)


def shown_to(server, number=-1):
    return server.requests[number]["body"]["messages"]


def test_examples_are_turns_of_the_talk_and_fenced_like_the_passage(ledger):
    with FakeServer(script_of(grade(1))) as server:
        judge = LlmJudge(config(server.url, examples=2), ledger, candidates=CANDIDATES)
        assert "2 examples" in judge.name
        _, found = grade_with(judge, pairs(1))
    messages = shown_to(server)
    assert [one["role"] for one in messages] == ["system", *["user", "assistant"] * 2, "user"]
    for one, turn, reply in zip(
        judge.examples.shown_for("question 0"), messages[1:-1:2], messages[2::2], strict=True
    ):
        assert f"\n{one.query}\n</query " in turn["content"]
        assert f"\n{one.passage}\n</passage 1 " in turn["content"]
        assert json.loads(reply["content"]) == {"grade": one.grade}
    assert "passage 0" in messages[-1]["content"]
    assert found[0].judgment.grade == 1


def grade_with(judge, items):
    found = []
    return judge.grade(items, found.append, reporter=Silent()), found


def test_the_key_of_an_answer_holds_what_was_shown(ledger):
    with FakeServer(script_of(grade(1))) as server:
        for options, candidates in (
            ({}, ()),
            ({"examples": 2}, CANDIDATES),
            ({"examples": 3}, CANDIDATES),
            ({"examples": 2}, CANDIDATES[:6]),
        ):
            judge = LlmJudge(config(server.url, **options), ledger, candidates=candidates)
            for _ in range(2):
                grade_with(judge, pairs(1))
            expected = Examples(candidates, options["examples"]).sha256 if candidates else None
            assert judge.fingerprint.get("examples_sha256") == expected
    # each is asked once, and then known
    assert server.count == 4
    assert len({entry.prompt_sha for entry in ledger.entries()}) == 4


def test_without_examples_nothing_changes(ledger):
    (found,), _, server = judged(script_of(grade(1)), ledger, 1)
    judge = LlmJudge(config(server.url), ledger)
    assert found.judgment.prompt_sha == judge.prompt.sha256
    assert "examples_sha256" not in judge.fingerprint
    assert len(shown_to(server)) == 2
