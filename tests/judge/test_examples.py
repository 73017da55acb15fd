"""Few-shot: what people have graded is shown to the judge, and never for the query that is judged."""

import json

import pytest

from harness.judge import Example, Examples, LlmJudge, candidates_of
from harness.judge.prompting import LONGEST
from harness.values import ConfigError, Document, JudgeError, Judgment, Query, Silent

from .fake_server import FakeServer, grade
from .helpers import config, pairs, script_of

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


def test_too_few_are_reported_and_not_made_up(ledger):
    few = [one for one in CANDIDATES if one.query in ("query 1", "query 2")]
    assert len(Examples(few, 2).shown_for("another")) == 2
    with pytest.raises(JudgeError, match=r"characters: 1\. Grade more"):
        Examples(few, 2).shown_for("query 1")
    with pytest.raises(ConfigError, match=r"examples: there is no label .*Name a label file"):
        LlmJudge(config("http://127.0.0.1:9/v1", examples=1), ledger)


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


def shown_to(server):
    return server.requests[-1]["body"]["messages"]


def grade_one(url, ledger, candidates=(), **options):
    """The judge that graded a pair, and its grade."""
    judge, found = LlmJudge(config(url, **options), ledger, candidates=candidates), []
    judge.grade(pairs(1), found.append, reporter=Silent())
    return judge, found[0].judgment


def test_examples_are_turns_of_the_talk_and_fenced_like_the_passage(ledger):
    with FakeServer(script_of(grade(1))) as server:
        judge, found = grade_one(server.url, ledger, CANDIDATES, examples=2)
    assert (found.grade, "2 examples" in judge.name) == (1, True)
    messages = shown_to(server)
    assert [one["role"] for one in messages] == ["system", *["user", "assistant"] * 2, "user"]
    shown = judge.examples.shown_for("question 0")
    for one, turn, reply in zip(shown, messages[1:-1:2], messages[2::2], strict=True):
        assert f"\n{one.query}\n</query " in turn["content"]
        assert f"\n{one.passage}\n</passage 1 " in turn["content"]
        assert json.loads(reply["content"]) == {"grade": one.grade}
    assert "passage 0" in messages[-1]["content"]


def test_the_key_of_an_answer_holds_what_was_shown(ledger):
    with FakeServer(script_of(grade(1))) as server:
        for count, candidates in ((0, ()), (2, CANDIDATES), (3, CANDIDATES), (2, CANDIDATES[:6])):
            for _ in range(2):
                judge, found = grade_one(server.url, ledger, candidates, examples=count)
            expected = Examples(candidates, count).sha256 if candidates else None
            assert judge.fingerprint.get("examples_sha256") == expected
            if not candidates:
                # without examples nothing changes
                assert (found.prompt_sha, len(shown_to(server))) == (judge.prompt.sha256, 2)
    # each is asked once, and then known
    assert server.count == 4
    assert len({entry.prompt_sha for entry in ledger.entries()}) == 4
