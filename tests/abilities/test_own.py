"""Trials of one's own questions: evidence by labels, near misses of real rankings, figures changed."""

import json

import pytest

from harness.running.abilities.own import Evidence, LeftOut, own_trials
from harness.running.abilities.rgb import RgbOptions
from tests.command import exit_code as run
from tests.command import table
from tests.judge.fake_server import FakeServer, says

NEAR = tuple(f"Near miss {letter}." for letter in "abcde")
ONE = Evidence("q1", "How many?", ("39,717",), {"0": ("It employs 39,717 people.",)}, NEAR)


def trials(*evidence, **options):
    left = LeftOut()
    return {one.trial_id: one for one in own_trials(evidence, RgbOptions(**options), left)}, left


def test_the_noise_rate_sets_the_number_of_near_misses():
    found, _ = trials(ONE, rates=(0.0, 0.4, 0.8))
    assert [sorted(found[f"q1-noise-{rate}"].passages) for rate in ("0", "0.4")] == [
        ["It employs 39,717 people."],
        ["It employs 39,717 people.", "Near miss a.", "Near miss b."],
    ]
    assert sum(text.startswith("Near") for text in found["q1-noise-0.8"].passages) == 4
    assert found["q1-noise-0"].golden == (("39,717", "39717"),)


def test_rejection_takes_the_evidence_away():
    found, _ = trials(ONE)
    assert sorted(found["q1-rejection-1"].passages) == sorted(NEAR)
    _, left = trials(Evidence("q1", "?", ("1",), ONE.facts, NEAR[:3]))
    assert left["rejection", "too few near misses"] == 1


def test_integration_shows_every_fact():
    two = Evidence(
        "q2", "?", ("5 km; 2021",), {"0": ("It is 5 km.", "5 km long."), "1": ("Since 2021.",)}, NEAR
    )
    found, left = trials(two, rates=(0.4, 0.8))
    # room for three: both facts, then a second passage of the first
    assert sorted(found["q2-integration-0.4"].passages) == [
        "5 km long.",
        "It is 5 km.",
        "Near miss a.",
        "Near miss b.",
        "Since 2021.",
    ]
    assert found["q2-integration-0.4"].golden == (("5 km",), ("2021",))
    # one place is too few for two facts
    assert "q2-integration-0.8" not in found
    assert left["integration", "too few near misses, or no room for all facts, at 0.8"] == 1


def test_counterfactual_changes_every_digit_of_the_figures_of_the_answer_alone():
    text = "In 2025 it employs 39,717 people, once 39717; 41,205 shares."
    (one,) = (
        t
        for t in trials(Evidence("q", "?", ("39,717",), {"0": (text,)}, NEAR), rates=(0.0,))[0].values()
        if t.ability == "counterfactual"
    )
    (changed,) = one.passages
    new = one.changed.split(" → ")[1]
    assert changed == text.replace(" 39,717", f" {new}").replace("once 39717", f"once {new.replace(',', '')}")
    assert len(new) == 6
    assert all(a != b or a == "," for a, b in zip(new, "39,717", strict=True))


def test_a_counterfactual_needs_a_figure_in_the_passages():
    words = Evidence("q", "?", ("Norway",), {"0": ("Norway won.",)}, NEAR)
    other = Evidence("r", "?", ("40",), {"0": ("Forty people.",)}, NEAR)
    found, left = trials(words, other, rates=(0.0,))
    assert not [one for one in found.values() if one.ability == "counterfactual"]
    assert left["counterfactual", "the figures of the answer are not in the passages as written"] == 1


def test_questions_without_a_golden_answer_are_counted():
    found, left = trials(Evidence("q", "?", (), ONE.facts, NEAR))
    assert not found
    assert left["noise", "no golden answer"] == 1


RGB = {
    "id": 1,
    "query": "How long?",
    "answer": ["35 minutes"],
    "positive": ["It takes 35 minutes.", "35 minutes it is."],
    "negative": [f"Noise {n}." for n in range(5)],
}


def test_a_model_answers_the_trials(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zh_refine.jsonl").write_text(json.dumps(RGB))
    assert run("abilities", "rgb", "zh_refine.jsonl", "--output", "t.jsonl", "--rates", "0,0.4") == 0
    assert "3 trials (noise 2, rejection 1)" in capsys.readouterr().out

    def reply(request, number):
        text = request["body"]["messages"][-1]["content"]
        return says("35 minutes." if "35 minutes" in text else "I cannot answer: insufficient information.")

    with FakeServer(reply) as server:
        endpoint = {"model": "fake", "base_url": server.url, "api_key_env": None}
        config = {"answer": {"kind": "llm", "prompt": "abilities", "endpoint": endpoint}, "cache": "c"}
        (tmp_path / "c.yaml").write_text(json.dumps(config))
        assert run("abilities", "try", "t.jsonl", "--config", "c.yaml", "--dry-run", "--quiet") == 0
        assert server.count == 0
        assert "abilities v1 by fake: 3 questions: 3 calls to make" in " ".join(
            capsys.readouterr().out.split()
        )
        assert run("abilities", "try", "t.jsonl", "--config", "c.yaml", "--output", "a.csv", "--quiet") == 0
        assert server.count == 3
        assert run("abilities", "try", "t.jsonl", "--config", "c.yaml", "--dry-run", "--quiet") == 0
        assert "No calls are needed." in capsys.readouterr().out
        assert run("abilities", "try", "t.jsonl", "--config", "c.yaml", "--quiet") == 0
        assert server.count == 3
    out = capsys.readouterr().out
    assert "rejects" in out
    rows = table(tmp_path / "a.csv")
    assert [(row["ability"], row["right"], row["rejects"]) for row in rows] == [
        ("noise", "yes", "no"),
        ("noise", "yes", "no"),
        ("rejection", "no", "yes"),
    ]


def test_trials_without_an_answer_end_the_run_where_they_are_too_many(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zh_refine.jsonl").write_text(json.dumps(RGB))
    assert run("abilities", "rgb", "zh_refine.jsonl", "--output", "t.jsonl", "--rates", "0,0.4") == 0

    def reply(request, number):
        # the passages of rejection alone hold no answer
        known = "35 minutes" in request["body"]["messages"][-1]["content"]
        return says("35 minutes.") if known else says("", refusal="No.")

    with FakeServer(reply) as server:
        endpoint = {"model": "fake", "base_url": server.url, "api_key_env": None}
        for most, code in ((0.1, 1), (0.34, 0)):
            section = {"kind": "llm", "prompt": "abilities", "endpoint": endpoint, "max_failed": most}
            (tmp_path / "c.yaml").write_text(json.dumps({"answer": section, "cache": "c"}))
            assert run("abilities", "try", "t.jsonl", "--config", "c.yaml", "--quiet") == code
    output = capsys.readouterr()
    assert "The trials: 1 of 3 questions have no answer by abilities v1 by fake (refusal x1)" in " ".join(
        output.err.split()
    )
    assert "Trials without an answer are left out: refusal (1)." in " ".join(output.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rgb", "x.jsonl", "--output", "t", "--rates", "a"], "write shares such as"),
        (["rgb", "x.jsonl", "--output", "t", "--rates", "1"], "from 0 to below 1"),
        (["own", "nowhere", "--output", "t"], "holds no results with passages"),
        (["try", "t.jsonl", "--config", "none.yaml"], "There is no configuration file"),
        (["try", "t.jsonl", "--config", "list.yaml"], "cache: must be the path of a folder"),
    ],
)
def test_wrong_usage(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.yaml").write_text("answer: {kind: extractive}\ncache: [a]\n")
    assert run("abilities", *words) == 1
    assert message in " ".join(capsys.readouterr().err.split())


def test_an_answer_that_is_within_another_figure_cannot_be_marked():
    # 139,717 holds 39,717: copying it would count as the right answer
    text = "It employs 39,717 people and has 139,717 shares."
    _, left = trials(Evidence("q", "?", ("39,717",), {"0": (text,)}, NEAR), rates=(0.0,))
    assert left["counterfactual", "the figures of the answer are not in the passages as written"] == 1


def test_several_golden_answers_are_further_ways_to_say_each_part():
    one = Evidence("q", "?", ("5 km; 2021", "5 kilometres; in 2021", "both"), {}, NEAR)
    # the third has one part where the first has two, and cannot be put beside it
    assert one.golden == (("5 km", "5 kilometres"), ("2021", "in 2021"))
