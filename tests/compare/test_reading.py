"""Which of settings that are as good is named, and where another one would lead who reads less or more."""

from dataclasses import replace

import pytest

from harness.comparison import Costs, LabelSensitivity, Options, sentences_of
from harness.comparison.advice import shortfalls
from harness.comparison.reading import OtherLeader, leaders_in_words, other_leaders, reading_line
from harness.comparison.reading_depths import ScoreAtDepth, readings_of
from harness.report import ReadingRow
from tests.compare.build import conclude, noisy

QUICK = Options(resamples=500, tolerance=0.02)
MEASURE = "ndcg_exp@10"


def drawn(a, b):
    """The means of a and b with the labels as given and padded."""
    return {MEASURE: LabelSensitivity(("as labelled", "padded by 100"), (100, 300), {"a": a, "b": b})}


def test_of_settings_as_good_the_one_that_stays_under_other_labels_is_named_and_said_to_be():
    scores = noisy(400, (0.601, 0.6), seed=2)
    first = conclude(scores, options=QUICK).advice
    assert (first.rule, {first.setting}) == ("mean", {first.among[0]})
    leader, other = first.among
    padded = {leader: (0.6, 0.5), other: (0.598, 0.59)}
    found = conclude(scores, options=QUICK, sensitivity=drawn(padded["a"], padded["b"]))
    assert (found.advice.setting, found.advice.rule) == (other, "labels")
    text = " ".join(sentences_of(found))
    # with padded labels the leader is 0.59 - 0.5 behind; the other one at most 0.002, as labelled
    assert f"{other} is named, not {leader}" in text
    assert "with longer or shorter labels it falls at most 0.00 behind the best, the other 0.09." in text
    # where the effects of factors decide, that is said, and nothing where they name the highest mean
    by_effects = replace(found, advice=replace(found.advice, rule="effects"))
    text = " ".join(sentences_of(by_effects))
    assert f"{other} is named, not {leader}" in text
    assert "and each of its choices is the best, or a lighter one as good, averaged over the others." in text
    back = replace(found, advice=replace(found.advice, rule="effects", setting=leader))
    assert "is named, not" not in " ".join(sentences_of(back))
    # to fall behind by no more than the tolerance decides nothing
    padded[leader] = (0.6, 0.575)
    found = conclude(scores, options=QUICK, sensitivity=drawn(padded["a"], padded["b"]))
    assert found.advice.setting == leader


def test_then_the_cheaper_is_named_if_it_is_cheaper_by_a_tenth_and_shown_to_be_as_good():
    scores = noisy(400, (0.601, 0.6), seed=2)
    leader, other = conclude(scores, options=QUICK).advice.among
    wide = replace(QUICK, tolerance=0.05)
    for price, setting in ((89.0, other), (91.0, leader)):
        costs = Costs({leader: 100.0, other: price}, "tokens to read")
        found = conclude(scores, options=wide, costs=costs)
        assert found.advice.setting == setting
    found = conclude(scores, options=wide, costs=Costs({leader: 100.0, other: 50.0}, "tokens to read"))
    assert found.advice.rule == "price"
    assert "it costs 50 instead of 100 tokens to read." in " ".join(sentences_of(found))
    # labels come before the price
    labels = drawn(*[(0.6, 0.6) if name == leader else (0.6, 0.4) for name in "ab"])
    costs = Costs({leader: 100.0, other: 50.0}, "tokens to read")
    assert conclude(scores, options=wide, costs=costs, sensitivity=labels).advice.setting == leader


def test_shortfalls_are_those_from_the_best_of_every_way():
    means = {"a": (0.9, 0.5), "b": (0.8, 0.7), "c": (0.6, 0.6)}
    assert shortfalls(means) == pytest.approx({"a": 0.2, "b": 0.1, "c": 0.3})


def whole(*means, ends=9**9):
    depths = (500, 1000, 5000, 10000, 20000)
    scores = zip(depths, means, strict=True)
    return {depth: ScoreAtDepth(mean, depth < ends, "ndcg_exp") for depth, mean in scores}


def test_another_leader_is_named_with_the_depths_at_which_it_leads():
    small, large = whole(0.6, 0.7, 0.8, 0.8, 0.8), whole(0.3, 0.5, 0.75, 0.85, 0.9)
    assert other_leaders({"a": small, "b": large}, "a", 0.02) == [OtherLeader("b", 10000, 20000)]
    assert other_leaders({"a": small, "b": large}, "b", 0.02) == [OtherLeader("a", 500, 5000)]
    assert other_leaders({"a": small, "b": large}, "a", 0.2) == []
    # where rankings of the one to use end nobody knows whether it would be as good
    ends = whole(0.6, 0.7, 0.8, 0.8, 0.8, ends=10000)
    assert other_leaders({"a": ends, "b": large}, "a", 0.02) == []
    found = conclude(noisy(60, (0.9, 0.5)), options=QUICK, reading={"a": small, "b": large})
    assert leaders_in_words(found) == "From 10,000 characters on, b leads."
    line = "Read 500 to 20,000 characters: 0.60 ▅▆▇▇▇ 0.80. From 10,000 characters on, b leads."
    assert reading_line(found) == line
    assert "is served otherwise. From 10,000 characters on, b leads." in " ".join(sentences_of(found))
    assert reading_line(conclude(noisy(60, (0.9, 0.5)), options=QUICK)) == ""
    # where the verdict is by a measure that does not depend on what is read, the other one is named
    other = {depth: replace(score, measure="ndcg_evidence") for depth, score in small.items()}
    line = reading_line(replace(found, reading={"a": other, "b": large}))
    assert line.startswith("Read 500 to 20,000 characters, in ndcg_evidence: 0.60 ▅▆▇▇▇ 0.80.")


def test_every_range_of_depths_has_its_sentence_and_so_have_rankings_that_end():
    flat = whole(0.5, 0.5, 0.5, 0.5, 0.5)

    def said(*means, of=flat):
        reading = {"a": of, "b": whole(*means)}
        return leaders_in_words(conclude(noisy(60, (0.9, 0.5)), options=QUICK, reading=reading))

    assert said(0.6, 0.6, 0.5, 0.5, 0.5) == "Up to 1,000 characters, b leads."
    assert said(0.5, 0.5, 0.6, 0.5, 0.5) == "At 5,000 characters, b leads."
    assert said(0.5, 0.6, 0.6, 0.5, 0.5) == "From 1,000 to 5,000 characters, b leads."
    both = "Up to 500 characters, b leads. From 20,000 characters on, b leads."
    assert said(0.6, 0.5, 0.5, 0.5, 0.6) == both
    ends = whole(0.5, 0.5, 0.5, 0.5, 0.5, ends=10_000)
    found = conclude(noisy(60, (0.9, 0.5)), options=QUICK, reading={"a": ends, "b": flat})
    line = "Read 500 to 20,000 characters: 0.50 ▅▅▅▅▅ 0.50. Rankings end before 10,000 characters."
    assert reading_line(found) == line


def test_rows_are_read_by_the_names_of_settings():
    rows = [
        (name, ReadingRow("x", "retrieve", f"ndcg_evidence@{depth}", depth, depth / 1e4, read))
        for name in "ab"
        for depth, read in ((500, 1.0), (1000, 0.9))
    ]
    assert readings_of(rows, "ab")["a"] == {
        500: ScoreAtDepth(0.05, True, "ndcg_evidence"),
        1000: ScoreAtDepth(0.1, False, "ndcg_evidence"),
    }
    assert readings_of(rows, "abc") == {}
    assert readings_of(rows[:-1], "ab") == {}
