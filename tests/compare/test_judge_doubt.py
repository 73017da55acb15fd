"""A judge that its own figures disown: every way that a verdict takes says so before what it found."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from harness.comparison import (
    ALSO_RANK,
    MOST_WORDS,
    JudgeDoubt,
    gate,
    gate_sentence,
    github_annotations,
    glance_json,
    glance_lines,
    judge_doubt,
    junit,
    sentence,
    sentences_of,
    steps_of,
    svg_of,
    verdict_json,
)

from .build import conclude, noisy

DISAGREES = JudgeDoubt(kappa=0.276)
RANKS = JudgeDoubt(also_ranks=("model",))
BOTH = JudgeDoubt(0.276, ("model",))
CLEAR = (0.6, 0.3)


def record(value=None, high=None, ranking=()):
    agreement = {} if value is None else {"kappa_quadratic": value, "kappa_quadratic_high": high}
    return {"judge": {"agreement": agreement}, "counts": {ALSO_RANK: [*ranking]}}


def test_a_kappa_is_low_where_its_whole_interval_is_below_that_of_studies():
    # nine judges against assessors of TREC: 0.34 to 0.60
    assert judge_doubt([record(0.2, 0.33)]) == JudgeDoubt(0.2)
    assert not judge_doubt([record(0.2, 0.35)])
    assert judge_doubt([record(0.2, None)]) == JudgeDoubt(0.2)
    assert not judge_doubt([record(None), {}, {"judge": {}}])
    several = [record(0.3, 0.33, ["a"]), record(0.1, 0.2, ["a", "b"]), record(0.5, 0.6)]
    assert judge_doubt(several) == JudgeDoubt(0.1, ("a", "b"))


@pytest.mark.parametrize(
    ("means", "n", "baseline", "says"),
    [
        (CLEAR, 60, None, "By its grades a leads by 0.30."),
        ((0.5, 0.499), 30, None, "By its grades a leads, not proven best."),
        ((0.5, 0.4999), 60, None, "By its grades a is as good as any."),
        (CLEAR, 11, None, "By its grades a leads, on too few queries."),
        ((0.6,), 60, None, "By its grades the mean is 0."),
        ((0.2, 0.1), 60, None, "By its grades a is not good enough."),
        (CLEAR, 60, "b", "By its grades a beats the baseline, b."),
        (CLEAR, 60, "a", "By its grades none beats the baseline, a."),
    ],
)
@pytest.mark.parametrize(
    ("doubt", "why"),
    [
        (DISAGREES, "the judge agrees little with people (kappa 0.28). "),
        (RANKS, "the judge also ranks, so it grades itself. "),
        (BOTH, "the judge also ranks, and agrees little with people (kappa 0.28). "),
    ],
)
def test_a_doubt_comes_before_what_was_found(means, n, baseline, says, doubt, why):
    scores = noisy(n, means, spread=0.4 if n == 30 else 0.02)
    found = conclude(scores, baseline=baseline, doubt=doubt)
    assert sentence(found).startswith(f"Do not rely on this: {why}{says}")
    assert len(sentence(found).split()) <= MOST_WORDS
    # no setting is to be used on the word of such a judge, however clear its grades are
    assert (found.used, found.advice) == ("", None)
    assert "use" not in {one.group for one in found.standings}
    assert found.tone in ("caution", "poor")
    assert not conclude(scores, baseline=baseline).doubt


def test_a_doubt_stands_where_nothing_was_found_too():
    scores = noisy(60, CLEAR)
    found = conclude(replace(scores, values=scores.values * 0), doubt=DISAGREES)
    assert sentence(found).endswith("By its grades nothing was found.")
    assert found.tone == "poor"


def test_a_doubt_goes_wherever_the_verdict_goes():
    found = conclude(noisy(60, CLEAR), doubt=DISAGREES)
    why = "the judge agrees little with people (kappa 0.28)"
    printed = " ".join(line.strip() for line in glance_lines(found))
    assert printed.startswith(f"Caution: Do not rely on this: {why}.")
    assert "use this" not in printed
    page = glance_json(found)
    assert (page["tone"], page["said"]) == ("caution", "Caution: ")
    assert why in page["sentence"]
    assert why in sentences_of(found)[0]
    assert why in repr(found)
    picture = svg_of(found)
    assert picture.count(why) > 0
    assert 'class="lead caution"' in picture
    plain = verdict_json(found)
    assert (plain["tone"], plain["advice"]) == ("caution", None)
    assert plain["doubt"] == {"kappa": 0.276, "also_ranks": ()}
    assert verdict_json(conclude(noisy(60, CLEAR)))["doubt"] is None


def test_the_next_step_is_another_judge():
    scores = noisy(60, CLEAR)
    plain = steps_of(conclude(scores))
    people, other = (steps_of(conclude(scores, doubt=doubt)) for doubt in (DISAGREES, RANKS))
    # people have graded where a kappa with them is known
    assert people[0].config == "relevance: {judge: labels}"
    assert not other[0].copied
    assert other[0].text.startswith("Let a judge grade that no setting ranks by")
    assert len(people) == len(other) == len(plain) + 1


@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_a_gate_says_so_and_fails_no_more_for_it(drop):
    before = noisy(60, CLEAR)
    now = replace(before, values=before.values - drop)
    plain, doubted = (gate(now, before, max_drop=0.02, doubt=doubt) for doubt in (None, DISAGREES))
    said = "Do not rely on this: the judge agrees little with people (kappa 0.28)."
    assert doubted.failed == plain.failed == (drop > 0)
    assert gate_sentence(doubted, str, "document").endswith(said)
    assert "rely" not in gate_sentence(plain, str, "document")
    assert github_annotations(doubted).endswith(f"::{said}\n")
    assert "::warning title=" in github_annotations(doubted)
    assert ElementTree.fromstring(junit(doubted)).find("system-out").text == said
