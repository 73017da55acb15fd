"""`harness score-answers`: answers of other pipelines, with and without a language model."""

import json
from pathlib import Path

import pytest

from harness.running import MeasureScores, people_table
from harness.values import ANSWER, QueryScore
from tests.command import exit_code as run
from tests.command import one_line, printed, refused, table
from tests.judge.fake_server import Answer, FakeServer, error, says

ROWS = [
    {
        "user_input": "How long?",
        "retrieved_contexts": ["It takes 35 minutes."],
        "response": "35 minutes",
        "reference": "35 minutes",
    },
    {
        "user_input": "How dear?",
        "retrieved_contexts": ["14.50 crowns."],
        "response": "15 crowns",
        "reference": "14.50 crowns",
    },
    {"user_input": "Who?", "retrieved_contexts": ["Nobody."], "reference": "Nobody"},
]


@pytest.fixture
def answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def score(config, *more):
    """The exit code of scoring the answers into s.csv."""
    words = ("score-answers", "answers.jsonl", "--config", config, "--output", "s.csv", "--quiet")
    return run(*words, *more)


def values(measure=None, path="s.csv"):
    """The rows of a table of scores; of one measure its values, query by query."""
    rows = table(Path(path))
    if measure:
        return [row["value"] for row in rows if row["measure"] == measure]
    return {(row["query_id"], row["measure"]): row for row in rows}


def test_without_a_model(answers, capsys):
    out = printed(capsys, "score-answers", str(answers), "--output", "scores.csv", "--quiet")
    assert "3 queries, 2 answered" in out
    found = values(path="scores.csv")
    assert found["q1", "exact_match"]["value"] == "1.0"
    # 15 crowns | 1450 crowns share one of two words each
    assert found["q2", "token_f1"]["value"] == "0.5"
    assert (found["q3", "token_f1"]["value"], found["q3", "token_f1"]["failed"]) == ("", "yes")


def config_at(url, path="c.yaml", **more):
    config = {
        "answer_measures": [
            {"kind": "faithfulness"},
            {"kind": "aspect_critic", "name": "short", "aspect": "Short."},
        ],
        "answer_judge": {"endpoint": {"model": "fake", "base_url": url, "api_key_env": None}},
    }
    Path(path).write_text(json.dumps(config | more))
    return path


def judge(request, number):
    """Faithful where the answer is in the passages; one statement an answer."""
    text = request["body"]["messages"][-1]["content"]
    if "take" in request["body"]["messages"][0]["content"]:
        reply = "35 minutes" if "35 minutes" in text else "15 crowns"
        return says(json.dumps({"statements": [reply]}))
    if "<statements" in text:
        verdict = int("35 minutes" in text.split("<statements")[0])
        return says(json.dumps({"verdicts": [{"number": 1, "verdict": verdict}]}))
    return says('{"verdict": 1}')


@pytest.mark.usefixtures("answers")
def test_with_a_model_whose_answers_are_paid_once(capsys):
    with FakeServer(judge) as server:
        config = config_at(server.url)
        assert score(config, "--dry-run") == 0
        assert "statements v1 by fake" in capsys.readouterr().out
        assert server.count == 0
        # two answers: statements, verdicts and the aspect each
        for _ in range(2):
            assert score(config) == 0
            assert server.count == 6
        # a panel asks its other member alone
        members = [
            {"endpoint": {"model": name, "base_url": server.url, "api_key_env": None}}
            for name in ("fake", "b")
        ]
        measure = {"kind": "aspect_critic", "name": "short", "aspect": "Short.", "panel": members}
        config_at(server.url, answer_measures=["faithfulness", measure])
        assert score(config) == 0
        assert [one["body"]["model"] for one in server.requests[6:]] == ["b", "b"]
    assert values("faithfulness") == ["1.0", "0.0", ""]
    assert values("short")[0] == "1.0"


@pytest.mark.usefixtures("answers")
def test_a_cross_encoder_behind_an_endpoint_is_priced_before_and_paid_once(capsys):
    def rerank(request, number):
        # as many words as the two share
        query, texts = request["body"]["query"].split(), request["body"]["documents"]
        scores = [len({*query} & {*text.split()}) for text in texts]
        results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return Answer(body={"results": results})

    with FakeServer(rerank) as server:
        endpoint = {"model": "r-1", "base_url": server.url, "price_per_request": 0.5}
        measure = {"kind": "answer_similarity", "by": "cross_encoder", "endpoint": endpoint}
        Path("c.yaml").write_text(json.dumps({"answer_measures": [measure]}))
        assert score("c.yaml", "--dry-run") == 0
        assert "r-1: 2 pairs: 2 requests to make" in " ".join(capsys.readouterr().out.split())
        assert server.count == 0
        for _ in range(2):
            assert score("c.yaml") == 0
        assert server.count == 2
        assert score("c.yaml", "--dry-run") == 0
    assert "No calls are needed." in capsys.readouterr().out
    assert values("answer_similarity") == ["2.0", "1.0", ""]


@pytest.mark.usefixtures("answers")
def test_answers_that_cannot_be_read_are_asked_again_and_then_end_the_run(capsys):
    def nonsense(request, number):
        taking = "take" in request["body"]["messages"][0]["content"]
        return says("I think so.") if taking else judge(request, number)

    with FakeServer(nonsense) as server:
        config = config_at(server.url)
        assert score(config) == 1
        # two statements calls, two tries each, and the aspect of both answers, asked at the same time
        assert server.count == 6
        output = " ".join(capsys.readouterr().err.split())
        assert "faithfulness: 2 of 2 answers could not be scored" in output
        config_at(server.url, answer_max_unscored=1.0)
        assert score(config) == 0
    assert values("faithfulness")[:2] == ["", ""]
    assert values("short")[0] == "1.0"


@pytest.mark.usefixtures("answers")
def test_max_calls_is_one_limit_for_all_measures_and_steps(capsys):
    with FakeServer(judge) as server:
        endpoint = {"model": "fake", "base_url": server.url, "api_key_env": None}
        # two statements calls and one of the two about the aspect; each step by itself stays within three
        config = config_at(server.url, answer_judge={"endpoint": endpoint, "max_calls": 3})
        assert score(config) == 1
        assert server.count == 3
        assert " stopped at max_calls (3) after 3 calls" in " ".join(capsys.readouterr().err.split())
        # the next run has the limit anew, and goes on: the aspect of the other answer, and two verdicts
        assert score(config) == 0
        assert server.count == 6


@pytest.mark.usefixtures("answers")
def test_what_a_night_may_cost_is_a_limit(capsys):
    """A plan says what they cost at most; nothing is asked that might go beyond."""
    with FakeServer(judge) as server:
        endpoint = {"model": "fake", "base_url": server.url, "api_key_env": None, "max_concurrency": 1}
        priced = {"endpoint": endpoint, "prices": {"fake": {"input": 100, "output": 100}}}
        assert score(config_at(server.url, answer_judge=priced), "--dry-run") == 0
        assert "at most" in capsys.readouterr().out
        config = config_at(server.url, answer_judge={**priced, "max_cost": 0.000001})
        assert score(config) == 1
        assert server.count == 0
        assert "max_cost" in capsys.readouterr().err


def test_only_what_failed_counts_towards_the_limit_of_failures(answers):
    answers.write_text(json.dumps({**ROWS[0], "response": "I am."}))
    # an answer without a claim has no faithfulness: that is no failure
    with FakeServer(lambda request, number: says('{"statements": []}')) as server:
        config = config_at(server.url, answer_measures=["faithfulness"], answer_max_unscored=0)
        assert score(config) == 0
    assert {row["failed"] for row in values().values()} == {"no"}


@pytest.mark.usefixtures("answers")
def test_an_endpoint_that_refuses_ends_the_run_and_writes_nothing():
    with FakeServer(lambda request, number: error(401, "no such key")) as server:
        assert score(config_at(server.url)) == 1
    assert not Path("s.csv").exists()


def test_passages_without_their_text_cannot_be_judged(answers, capsys):
    answers.write_text(json.dumps({**ROWS[0], "retrieved_contexts": ["a", ""]}))
    assert score(config_at("http://localhost:9")) == 1
    assert "line 1: the text of a passage that was read is not known" in one_line(capsys.readouterr().err)


def scores(values):
    rows = tuple(
        QueryScore(
            "", ANSWER, f"q{n}", "m", value, "" if value is not None else "timeout", failed=value is None
        )
        for n, value in enumerate(values)
    )
    return MeasureScores("m", rows, None, False)


def test_few_values_give_no_corrected_mean_and_failures_do_not_count():
    people = {"m": {"q0": 0.5, "q1": 0.0, "q2": 0.5}}
    assert people_table([scores([0.5, None, 1.0])], people).rows == (("m", "2", "+0.250", "–", "–", "–"),)
    assert people_table([scores([None])], people).rows == ()


def test_people_correct_a_measure(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    rows = [
        {"user_input": f"Which is {n}?", "response": "right" if n % 2 == 0 else "wrong", "reference": "right"}
        for n in range(40)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    # people find the wrong answers of the first 20 half right: the measure is 0.25 too strict on average
    ratings = [f"q{n + 1},exact_match,{1 if n % 2 == 0 else 0.5}" for n in range(20)]
    rated = "\n".join(["query_id,measure,value", *ratings]) + "\n"
    (tmp_path / "h.csv").write_text(rated)
    words = ("score-answers", "a.jsonl", "--measures", "exact_match", "--quiet", "--human")
    # corrected: 0.5 of all, and 0.25 more
    assert "exact_match 20 -0.250 1.000 0.750" in printed(capsys, *words, "h.csv")
    (tmp_path / "bad.csv").write_text("query_id,measure,value\nq99,exact_match,1\n")
    # before anything is measured, and perhaps paid for
    assert run(*words, "bad.csv") == 1
    out, err = capsys.readouterr()
    assert (out, "there is no query 'q99'" in err) == ("", True)
    assert "which is read here" in refused(capsys, *words, "h.csv", "--output", "./h.csv")
    assert (tmp_path / "h.csv").read_text() == rated


def test_where_the_fault_lies_is_said_of_answers_without_labels(answers, capsys):
    def supported(request, number):
        words = json.dumps(request["body"]["messages"])
        if "check statements" in words:
            return says('{"verdicts": [{"number": 1, "verdict": 1}]}')
        if "how much of a golden answer" in words:
            return says('{"statements": [{"statement": "One.", "verdict": 0}]}')
        return says('{"statements": ["One."]}')

    with FakeServer(supported) as server:
        judge = {"endpoint": {"model": "m", "base_url": server.url, "api_key_env": None}}
        measures = ["context_recall", "token_f1", "faithfulness"]
        config = {"answer_measures": measures, "answer_judge": judge, "cache": "cache"}
        Path("c.yaml").write_text(json.dumps(config))
        out = printed(capsys, "score-answers", answers, "--config", "c.yaml", "--quiet")
    # (1 + .5) / 2; the first tier stands first
    said = out[out.index("Where the fault lies:") :].strip()
    assert said.startswith("Where the fault lies: answers.jsonl has token_f1 0.75.")
    assert "What falls short is context_recall:" in said
    assert out.index("token_f1") < out.index("faithfulness") < out.index("context_recall")
