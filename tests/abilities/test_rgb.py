"""RGB's trials and marks; worked through by hand against its script."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.running.abilities.rgb import RgbOptions, read_rgb, rgb_trials
from harness.running.abilities.trial import MarkedAnswer, Trial, mark, read_trials, write_trials
from harness.values.errors import CorpusError

PLAIN = {"id": 1, "query": "How long?", "answer": ["35 minutes"], "positive": ["p1", "p2", "p3", "p4", "p5"]}
PLAIN["negative"] = ["n1", "n2", "n3", "n4", "n5"]
INT = {
    "id": 2,
    "query": "When and where?",
    "answer": [["3 May", "May 3"], "Halden"],
    "asnwer1": ["3 May"],
    "answer2": ["Halden"],
    "positive": [["a1", "a2"], ["b1"]],
    "negative": ["n1", "n2", "n3", "n4"],
}
FACT = {
    "id": 3,
    "query": "Who?",
    "answer": "Norway",
    "fakeanswer": "Sweden",
    "positive": ["p1", "p2"],
    "positive_wrong": ["w1", "w2"],
    "negative": ["n1", "n2", "n3"],
}


def rgb(path, *records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def trials(tmp_path, record, **options):
    return list(rgb_trials(rgb(tmp_path / "t.jsonl", record), RgbOptions(**options)))


def test_noise_is_the_share_rounded_up(tmp_path):
    found = trials(tmp_path, PLAIN, rates=(0.0, 0.2, 0.5, 0.6))
    assert [(one.ability, one.rate) for one in found] == [
        ("noise", 0.0),
        ("noise", 0.2),
        ("noise", 0.5),
        ("noise", 0.6),
        ("rejection", 1.0),
    ]
    # ⌈5 · rate⌉: 0, 1, 3 and 3 passages of noise, then nothing else
    noise = [sum(text.startswith("n") for text in one.passages) for one in found]
    assert noise == [0, 1, 3, 3, 5]
    assert all(len(one.passages) == 5 for one in found)
    assert {text for text in found[3].passages if text.startswith("p")} == {"p1", "p2"}


def test_missing_passages_of_one_kind_are_filled_with_the_other(tmp_path):
    few = {**PLAIN, "positive": ["p1"], "negative": ["n1", "n2", "n3", "n4", "n5"]}
    (one, *_) = trials(tmp_path, few, rates=(0.2,))
    assert sorted(one.passages) == ["n1", "n2", "n3", "n4", "p1"]
    few = {**PLAIN, "negative": ["n1"]}
    (one, rejection) = trials(tmp_path, few, rates=(0.8,))
    assert sorted(one.passages) == ["n1", "p1", "p2", "p3", "p4"]
    assert rejection.passages == ("n1",)


def test_integration_shows_a_passage_of_every_part(tmp_path):
    (clean, noisy) = trials(tmp_path, INT, rates=(0.0, 0.6))
    assert clean.golden == (("3 May", "May 3"), ("Halden",))
    # a1 and a2 in some order, b1; five passages in all
    assert sorted(clean.passages) == ["a1", "a2", "b1", "n1", "n2"]
    assert "b1" in noisy.passages
    assert sum(text.startswith("n") for text in noisy.passages) == 3


def test_counterfactual_shows_the_false_passages(tmp_path):
    (one,) = trials(tmp_path, FACT, rates=(0.4,))
    assert sorted(one.passages) == ["n1", "n2", "w1", "w2"]
    assert one.changed == "Norway → Sweden"


def test_counterfactual_instances_with_their_true_passages_are_tried_for_noise(tmp_path):
    rgb(tmp_path / "t.jsonl", FACT)
    found = list(rgb_trials(tmp_path / "t.jsonl", RgbOptions(rates=(0.4,)), true=True))
    assert [one.ability for one in found] == ["noise", "rejection"]
    # two of noise leave room for three, and there are two true passages: 5 - 2 = 3 passages of noise
    assert sorted(found[0].passages) == ["n1", "n2", "n3", "p1", "p2"]
    assert not found[0].changed


def test_the_same_seed_gives_the_same_trials(tmp_path):
    assert trials(tmp_path, PLAIN) == trials(tmp_path, PLAIN)
    assert trials(tmp_path, PLAIN) != trials(tmp_path, PLAIN, seed=1)


def trial(golden, ability="noise"):
    return Trial("t", ability, 0.0, "q", ("p",), golden)


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ("It was on MAY 3 in halden.", MarkedAnswer(False, False, (True, True))),
        ("On 3 May.", MarkedAnswer(False, False, (True, False))),
        # a refusal is one whatever else is said
        (
            "I can not answer because of the insufficient information; 3 May in Halden.",
            MarkedAnswer(True, False, ()),
        ),
        (
            "There are factual errors in the provided documents. 3 May, Halden",
            MarkedAnswer(False, True, (True, True)),
        ),
        ("文档信息不足。", MarkedAnswer(True, False, ())),
        ("提供文档的文档存在事实性错误。", MarkedAnswer(False, True, (False, False))),
        # phrases are looked for as they are written, answers in lower case, as in RGB's script
        ("Insufficient Information", MarkedAnswer(False, False, (False, False))),
    ],
)
def test_marks_follow_rgb(answer, marked):
    assert mark(trial((("3 May", "May 3"), ("Halden",))), answer) == marked


def test_other_words_of_refusal_count_if_asked_for():
    one, reply = trial((("a",),)), "I cannot answer this from the passages."
    assert (mark(one, reply).rejects, mark(one, reply, any_refusal=True).rejects) == (False, True)


def test_an_answer_is_right_with_every_part():
    golden = (("a",), ("b",))
    assert [mark(trial(golden), text).right for text in ("a b", "a", "insufficient information a b")] == [
        True,
        False,
        False,
    ]


TEXT = st.text("ab→信 \n", min_size=1).filter(lambda text: text.strip())


@given(
    st.lists(TEXT, min_size=1, max_size=4),
    st.lists(st.lists(TEXT, min_size=1, max_size=2), min_size=1, max_size=3),
)
def test_trials_are_read_as_they_were_written(tmp_path_factory, passages, golden):
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    one = Trial("t", "noise", 0.2, "q", tuple(passages), tuple(map(tuple, golden)), "x → y")
    assert write_trials([one], path) == 1
    assert read_trials(path) == [one]
    with pytest.raises(CorpusError, match="exists already"):
        write_trials([one], path)


def test_a_falsified_answer_may_be_a_list(tmp_path):
    listed = {**FACT, "answer": ["法国", "巴黎"], "fakeanswer": ["中国", "北京"]}
    (one,) = read_rgb(rgb(tmp_path / "zh_fact.jsonl", listed))
    assert (one.task, one.fake) == ("fact", "中国, 北京")


@pytest.mark.parametrize("name", ["en_fact", "zh_fact", "zh_int", "zh_refine"])
def test_the_public_files(name, shared_corpora):
    path = shared_corpora / "rgb" / f"{name}.jsonl"
    instances = read_rgb(path)
    assert len(instances) == len(path.read_text(encoding="utf-8").splitlines())
    found = list(rgb_trials(path, RgbOptions()))
    assert len(found) >= 5 * len(instances) - 15
    assert all(len(one.passages) <= 5 or one.ability == "integration" for one in found)
    assert {one.ability for one in found} <= {"noise", "rejection", "integration", "counterfactual"}
