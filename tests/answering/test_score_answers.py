"""`harness score-answers`: answers of other pipelines, with and without a language model."""

import json

import pytest

from harness.running.answering.external import MeasureScores, people_table
from harness.values.types import ANSWER, QueryScore
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


def score(answers, config, *more):
    """The exit code of scoring the answers into s.csv."""
    return run("score-answers", answers, "--config", config, "--output", "s.csv", "--quiet", *more)


def values(path):
    return {(row["query_id"], row["measure"]): row for row in table(path)}


def test_without_a_model(answers, capsys):
    out = printed(capsys, "score-answers", str(answers), "--output", "scores.csv", "--quiet")
    assert "3 queries, 2 answered" in out
    found = values(answers.parent / "scores.csv")
    assert found["q1", "exact_match"]["value"] == "1.0"
    # 15 crowns | 1450 crowns share one of two words each
    assert found["q2", "token_f1"]["value"] == "0.5"
    assert (found["q3", "token_f1"]["value"], found["q3", "token_f1"]["failed"]) == ("", "yes")
    assert "not answered: the file has no answer (1)" in out


def config_at(url, path, **more):
    config = {
        "answer_measures": [
            {"kind": "faithfulness"},
            {"kind": "aspect_critic", "name": "short", "aspect": "Short."},
        ],
        "answer_judge": {"endpoint": {"model": "fake", "base_url": url, "api_key_env": None}},
        **more,
    }
    path.write_text(json.dumps(config))
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


def test_with_a_model_whose_answers_are_paid_once(answers, tmp_path, capsys):
    with FakeServer(judge) as server:
        config = config_at(server.url, tmp_path / "c.yaml")
        assert score(answers, config, "--dry-run") == 0
        assert "statements v1 by fake" in capsys.readouterr().out
        assert server.count == 0
        assert score(answers, config) == 0
        asked = server.count
        # two answers: statements, verdicts and the aspect each
        assert asked == 6
        assert score(answers, config) == 0
        assert server.count == asked
        # a panel asks its other member alone
        members = [
            {"endpoint": {"model": name, "base_url": server.url, "api_key_env": None}}
            for name in ("fake", "b")
        ]
        measure = {"kind": "aspect_critic", "name": "short", "aspect": "Short.", "panel": members}
        config_at(server.url, config, answer_measures=["faithfulness", measure])
        assert score(answers, config) == 0
        assert [one["body"]["model"] for one in server.requests[asked:]] == ["b", "b"]
        assert "short: All members agree on 100% of the answers" in one_line(capsys.readouterr().out)
    found = values(tmp_path / "s.csv")
    assert [found[f"q{n}", "faithfulness"]["value"] for n in (1, 2, 3)] == ["1.0", "0.0", ""]
    assert found["q1", "short"]["value"] == "1.0"


def test_a_cross_encoder_behind_an_endpoint_is_priced_before_and_paid_once(answers, tmp_path, capsys):
    def rerank(request, number):
        # as many words as the two share
        query, texts = request["body"]["query"].split(), request["body"]["documents"]
        scores = [len({*query} & {*text.split()}) for text in texts]
        results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return Answer(body={"results": results})

    with FakeServer(rerank) as server:
        endpoint = {"model": "r-1", "base_url": server.url, "price_per_request": 0.5}
        measure = {"kind": "answer_similarity", "by": "cross_encoder", "endpoint": endpoint}
        path = tmp_path / "c.yaml"
        path.write_text(json.dumps({"answer_measures": [measure]}))
        assert score(answers, path, "--dry-run") == 0
        assert "r-1: 2 pairs: 2 requests to make" in " ".join(capsys.readouterr().out.split())
        assert server.count == 0
        for _ in range(2):
            assert score(answers, path) == 0
        assert server.count == 2
        assert score(answers, path, "--dry-run") == 0
    assert "No calls are needed." in capsys.readouterr().out
    found = values(tmp_path / "s.csv")
    assert [found[f"q{n}", "answer_similarity"]["value"] for n in (1, 2, 3)] == ["2.0", "1.0", ""]


def test_answers_that_cannot_be_read_are_asked_again_and_then_end_the_run(answers, tmp_path, capsys):
    def nonsense(request, number):
        taking = "take" in request["body"]["messages"][0]["content"]
        return says("I think so.") if taking else judge(request, number)

    with FakeServer(nonsense) as server:
        config = config_at(server.url, tmp_path / "c.yaml")
        assert score(answers, config) == 1
        # two statements calls, two tries each
        assert server.count == 4
        output = " ".join(capsys.readouterr().err.split())
        assert "faithfulness: 2 of 2 answers could not be scored (no usable answer to statements" in output
        config_at(server.url, config, answer_max_unscored=1.0)
        assert score(answers, config) == 0
    found = values(tmp_path / "s.csv")
    assert [found[f"q{n}", "faithfulness"]["value"] for n in (1, 2)] == ["", ""]
    assert found["q1", "short"]["value"] == "1.0"


def test_max_cost_is_one_limit_for_all_measures_and_steps(answers, tmp_path, capsys):
    with FakeServer(judge) as server:
        config = config_at(server.url, tmp_path / "c.yaml")
        limited = json.loads(config.read_text())
        # two statements calls and one of the two verdicts; each step by itself stays within three
        limited["answer_judge"]["max_calls"] = 3
        config.write_text(json.dumps(limited))
        assert score(answers, config) == 1
        assert server.count == 3
        assert " stopped at max_calls (3) after 3 calls" in " ".join(capsys.readouterr().err.split())
        # the next run has the limit anew, and goes on: one verdict, and the aspect of both answers
        assert score(answers, config) == 0
        assert server.count == 6


def test_only_what_failed_counts_towards_the_limit_of_failures(answers, tmp_path):
    answers.write_text(
        "".join(
            json.dumps({"user_input": f"Who is {n}?", "retrieved_contexts": ["-"], "response": f"I am {n}."})
            + "\n"
            for n in range(4)
        )
    )

    def no_claims(request, number):
        # an answer without a claim has no faithfulness: that is no failure
        return says(json.dumps({"statements": []}))

    with FakeServer(no_claims) as server:
        config = config_at(
            server.url, tmp_path / "c.yaml", answer_measures=["faithfulness"], answer_max_unscored=0
        )
        assert score(answers, config) == 0
    assert {row["failed"] for row in values(tmp_path / "s.csv").values()} == {"no"}


def test_an_endpoint_that_refuses_ends_the_run_and_writes_nothing(answers, tmp_path):
    with FakeServer(lambda request, number: error(401, "no such key")) as server:
        config = config_at(server.url, tmp_path / "c.yaml")
        assert score(answers, config) == 1
    assert not (tmp_path / "s.csv").exists()


def test_passages_without_their_text_cannot_be_judged(answers, tmp_path, capsys):
    answers.write_text(json.dumps({**ROWS[0], "retrieved_contexts": ["a", ""]}))
    config = config_at("http://localhost:9", tmp_path / "c.yaml")
    assert score(answers, config) == 1
    assert "line 1: the text of a passage that was read is not known" in " ".join(
        capsys.readouterr().err.split()
    )


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


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    rows = [
        {"user_input": f"Which is {n}?", "response": "right" if n % 2 == 0 else "wrong", "reference": "right"}
        for n in range(40)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    # people find the wrong answers of the first 20 half right: the measure is 0.25 too strict on average
    values = [f"q{n + 1},exact_match,{1 if n % 2 == 0 else 0.5}" for n in range(20)]
    (tmp_path / "h.csv").write_text("\n".join(["query_id,measure,value", *values]) + "\n")
    words = ("--measures", "exact_match", "--human", "h.csv", "--quiet")
    out = printed(capsys, "score-answers", "a.jsonl", *words)
    assert "Agreement with people" in out
    assert "token_f1. Put keys" in refused(capsys, "score-answers", "a.jsonl", "--measures", "none")
    # corrected: 0.5 of all, and 0.25 more
    assert "exact_match 20 -0.250 1.000 0.750" in out
    rated = (tmp_path / "h.csv").read_text()
    (tmp_path / "bad.csv").write_text("query_id,measure,value\nq99,exact_match,1\n")
    # before anything is measured, and perhaps paid for
    assert run("score-answers", "a.jsonl", *words[:2], "--human", "bad.csv") == 1
    out, err = capsys.readouterr()
    assert not out
    assert "there is no query 'q99'" in err
    assert "which is read here" in refused(capsys, "score-answers", "a.jsonl", *words, "--output", "./h.csv")
    assert (tmp_path / "h.csv").read_text() == rated
