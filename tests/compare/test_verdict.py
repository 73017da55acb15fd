"""One verdict: what it decides, and in which words."""

import re
from dataclasses import replace

import numpy as np
import pytest

from harness.comparison import (
    MOST_WORDS,
    Costs,
    Holes,
    LabelSensitivity,
    Options,
    Scores,
    Trust,
    compared_parts,
    finding_words,
    glance_json,
    lines_of,
    sentence,
    sentences_of,
    verdict_json,
    verdict_of,
)
from harness.comparison.advice import advise
from harness.comparison.caveats import same_ranking_notes
from harness.comparison.design import SweepDesign
from harness.comparison.phrases import extent_of
from harness.comparison.regret import losses
from harness.comparison.scores import holes_of
from harness.comparison.stats import units_of

from .build import conclude, matrix, noisy

QUICK = Options(resamples=2_000)


def groups(verdict):
    return {one.setting: one.group for one in verdict.standings}


def lines_in(verdict, role):
    return [line.text for line in lines_of(verdict) if line.role == role]


def test_one_setting_is_best_where_every_other_is_really_behind():
    found = conclude(noisy(80, (0.3, 0.7, 0.35)), options=QUICK)
    assert (found.decision, found.leader, found.needed) == ("best", "b", None)
    assert groups(found) == {"b": "use", "c": "out", "a": "out"}
    assert all(one.real for one in found.comparisons if "b" in (one.setting, one.against))


def test_nothing_is_best_while_another_may_be():
    found = conclude(noisy(60, (0.59, 0.2, 0.6), seed=2), options=QUICK)
    assert (found.decision, found.margin.real) == ("open", False)
    assert groups(found) == {"c": "use", "a": "may", "b": "out"}


def test_the_margin_is_to_a_setting_that_is_neither_ruled_out_nor_equal():
    # b is always 0.02 behind the leader a; c is further behind on the mean, but by turns far above and below
    turns = np.resize([0.9, -1.0], 60) / 3
    a = np.linspace(0.4, 0.6, 60)
    found = conclude(matrix({"a": a, "b": a - 0.02, "c": a - 0.03 + turns}), options=QUICK)
    assert groups(found) == {"a": "use", "b": "out", "c": "may"}
    assert (found.margin.setting, found.margin.against) == ("a", "c")
    one = noisy(200, (0.6,)).values[0]
    noise = np.random.default_rng(3).normal(0, 0.3, 200)
    noise -= noise.mean()
    near = matrix({"a": one, "b": one - 0.001 + noise / 30, "c": one - 0.002 + noise})
    found = conclude(near, options=QUICK)
    assert found.margin.against == "c"


@pytest.mark.parametrize("seed", range(12))
def test_groups_follow_from_the_intervals_and_from_nothing_else(seed):
    found = conclude(noisy(40, (0.5, 0.53, 0.56, 0.6), seed=seed), options=QUICK)
    beaten = set()
    for one in found.comparisons:
        assert one.real == (one.low > 0 or one.high < 0)
        if one.real:
            beaten.add(one.against if one.difference > 0 else one.setting)
    assert {name for name, group in groups(found).items() if group == "out"} == beaten
    assert (found.decision == "best") == (len(beaten) == 3)
    # the margin is one of the comparisons, not a test of its own
    (same,) = [
        o for o in found.comparisons if {o.setting, o.against} == {found.margin.setting, found.margin.against}
    ]
    assert (found.margin.p, abs(found.margin.difference)) == (same.p, abs(same.difference))


def drawn(ways, measure="ndcg_exp@10", **means):
    """The means of settings, first with the labels as given, then drawn in other ways."""
    lengths = (80.0,) * (len(ways) + 1)
    return {measure: LabelSensitivity(("as labelled", *ways), lengths, means)}


MEANS = {"a": (0.3, 0.3, 0.3), "b": (0.7, 0.5, 0.5), "c": (0.5, 0.7, 0.7)}
PADDED = drawn(("padded by 250", "padded by 700"), **MEANS)


def test_a_difference_whose_sign_turns_with_the_labels_is_not_real():
    scores = noisy(80, (0.3, 0.7, 0.5))
    sure = conclude(scores, options=QUICK)
    assert (sure.decision, sure.margin.finding) == ("best", "real")
    found = conclude(scores, sensitivity=PADDED, options=QUICK)
    assert (found.decision, found.margin.finding) == ("open", "turns")
    assert groups(found) == {"b": "use", "c": "may", "a": "out"}
    # the test stays as it was: what it says is not enough
    assert (found.margin.p, found.margin.low) == (sure.margin.p, sure.margin.low)
    (caveat,) = lines_in(found, "caveat")
    assert "with longer or shorter ones the other setting leads" in caveat
    cells = {(one.setting, one.against): finding_words(one, 0.02) for one in found.comparisons}
    assert cells == {("b", "c"): "depends on labels", ("b", "a"): "better", ("c", "a"): "better"}
    assert verdict_json(found)["margin"]["finding"] == "turns"


def test_of_differences_whose_sign_turns_those_of_the_leader_come_first():
    reverse = drawn(("padded by 700",), a=(0.3, 0.7), b=(0.7, 0.3), c=(0.5, 0.5))
    (caveat,) = lines_in(conclude(noisy(80, (0.3, 0.7, 0.5)), sensitivity=reverse, options=QUICK), "caveat")
    pairs = re.findall(r"\b(\w)\W+against\W+(\w)\b", caveat)
    assert len(pairs) == 3
    assert ["b" in pair for pair in pairs] == [True, True, False]


def test_a_sign_that_turns_changes_nothing_where_the_difference_may_be_chance_anyway():
    scores = noisy(60, (0.59, 0.2, 0.6), seed=2)
    plain = conclude(scores, options=QUICK)
    turned = drawn(("trimmed to 25 %",), a=(0.59, 0.61), b=(0.2, 0.2), c=(0.6, 0.6))
    found = conclude(scores, sensitivity=turned, options=QUICK)
    assert found.comparisons == plain.comparisons
    assert lines_in(found, "caveat") == []
    # nor do labels under which another measure turns
    given = noisy(80, (0.3, 0.7, 0.35))
    other = {"ndcg_text@5000": PADDED["ndcg_exp@10"]}
    assert conclude(given, sensitivity=other, options=QUICK).decision == "best"


def test_a_setting_that_only_the_labels_rule_out_stays_next_to_the_baseline_open():
    found = conclude(noisy(80, (0.3, 0.7, 0.5)), sensitivity=PADDED, baseline="c", options=QUICK)
    assert {one.setting: one.why for one in found.standings} == {
        "c": "baseline",
        "b": "depends on labels",
        "a": "worse",
    }


def test_another_measure_whose_difference_turns_contradicts_without_being_real():
    text, exp = noisy(80, (0.3, 0.7)), noisy(80, (0.7, 0.3), seed=1)
    exp = replace(exp, measure="ndcg_text@5000")
    trust = {name: Trust("for reading") for name in ("ndcg_exp@10", "ndcg_text@5000")}
    turned = drawn(("trimmed to 50 %",), "ndcg_text@5000", a=(0.7, 0.3), b=(0.3, 0.7))
    found = conclude(text, others=[exp], trust=trust, sensitivity=turned, options=QUICK)
    (caveat,) = lines_in(found, "caveat")
    assert "by ndcg_text@5000 (depends on labels)" in caveat


def holes(shares, upper=None):
    names = ("a", "b", "c")
    upper = dict(zip(names, upper, strict=False)) if upper else {}
    shares = dict(zip(names, shares, strict=False))
    return Holes("judged@10", shares, "ndcg_exp_upper@10" if upper else "", upper)


@pytest.mark.parametrize(
    ("shares", "few"), [((0.25, 0.31, 0.9), True), ((0.25,) * 3, True), ((0.8, 0.9, 1.0), False)]
)
def test_few_judged_ranks_are_reported(shares, few):
    found = conclude(noisy(80, (0.3, 0.7, 0.5)), holes=holes(shares), options=QUICK)
    assert (found.holes.least < 0.8, bool(lines_in(found, "caveat"))) == (few, few)
    alone = conclude(noisy(60, (0.5,)), holes=holes(shares[:1]), options=QUICK)
    assert bool(lines_in(alone, "caveat")) == few


def test_bounds_above_the_leader_are_reported():
    scores = noisy(80, (0.3, 0.7, 0.5))
    mean = float(scores.means[1])
    found = conclude(scores, holes=holes((0.9, 0.9, 0.9), (0.6, 0.99, mean + 0.05)), options=QUICK)
    assert found.decision == "best"
    (caveat,) = lines_in(found, "caveat")
    assert f"lift c above the {mean:.3f} of b, up to {mean + 0.05:.3f} (ndcg_exp_upper@10)" in caveat
    apart = conclude(scores, holes=holes((0.9, 0.9, 0.9), (0.6, 0.99, mean - 0.01)), options=QUICK)
    assert lines_in(apart, "caveat") == []


@pytest.mark.parametrize(
    ("baseline", "upper", "lifted"),
    [
        # next to a baseline only its own bound counts, and judging the rest can lift only what is behind
        ("c", (0.99, 0.99, 0.5), ""),
        ("c", (0.3, 0.99, 0.99), "lift c above the 0.7"),
        ("b", (0.3, 0.99, 0.99), "lift c above the 0.7"),
    ],
)
def test_what_judging_the_rest_can_lift_next_to_a_baseline(baseline, upper, lifted):
    scores = noisy(80, (0.3, 0.7, 0.5))
    found = conclude(scores, baseline=baseline, holes=holes((1.0, 1.0, 1.0), upper), options=QUICK)
    said = [text for text in lines_in(found, "caveat") if " lift " in text]
    assert len(said) == bool(lifted)
    assert not lifted or lifted in said[0]


def test_of_too_few_queries_no_setting_is_chosen():
    eleven, one = noisy(11, (0.1, 0.9)), matrix({"a": [0.1], "b": [0.2]})
    for scores in (eleven, one):
        found = conclude(scores, options=QUICK)
        assert (found.decision, found.margin.finding, found.used, found.leader) == ("few", "few", "", "b")
    caveats = lines_in(conclude(eleven, options=QUICK), "caveat")
    assert any("less than 24% of what is asked" in text for text in caveats)


def test_no_setting_leads_where_means_are_level():
    cases = [
        ({"a": [1.0] * 3, "b": [1.0] * 3}, "3 queries are too few", "So far both settings are level."),
        ({"a": [0.2, 0.4], "b": [0.4, 0.2]}, "2 queries are too few", "So far both settings are level."),
        ({"a": [0.5], "b": [0.5], "c": [0.5]}, "1 query is too few", "So far all 3 settings are level."),
        ({"a": [0.5], "b": [0.1], "c": [0.5]}, "1 query", "So far 2 of 3 settings are level."),
        ({"a": [0.5], "b": [0.1], "c": [0.1]}, "1 query", "So far the leader is a."),
    ]
    for rows, few, said in cases:
        found = conclude(matrix(rows), options=QUICK)
        words, values = sentence(found), verdict_json(found)
        assert (words.startswith(few), words.endswith(said)) == (True, True), words
        # verdict.json says the same
        level = "level" in said
        assert values["leader"] == (None if level else "a")
        assert values["tied"] == (tuple(name for name in rows if rows[name] != [0.1]) if level else ())
        assert values["conclusion"]["settings"] == ({} if level else {"setting": "a"})
    against = conclude(matrix({"a": [1.0] * 3, "b": [1.0] * 3, "c": [0.5] * 3}), baseline="c", options=QUICK)
    assert verdict_json(against)["leader"] == "a"


def test_a_measure_that_tells_level_settings_apart_contradicts_nothing():
    """What is level is no leader to contradict; a third setting that leads elsewhere does contradict."""
    text = matrix({"a": [1.0] * 3, "b": [1.0] * 3, "c": [0.5] * 3}, "ndcg_text@5000")
    apart = matrix({"a": [0.1] * 3, "b": [0.9] * 3, "c": [0.1] * 3}, "ndcg_exp@10")
    third = replace(apart, values=apart.values[[0, 2, 1]])
    alike = conclude(text, others=[apart], trust=TRUST, options=QUICK)
    assert (alike.conflicts, glance_json(alike)["others"]) == ((), None)
    other = conclude(text, others=[third], trust=TRUST, options=QUICK)
    assert [conflict.found.setting for conflict in other.conflicts] == ["c"]
    (caveat,) = (line for line in lines_in(other, "caveat") if "disagree" in line)
    assert "ndcg_text@5000 is level for 2 of 3 settings" in caveat


def test_one_setting_alone_is_compared_with_nothing():
    found = conclude(noisy(60, (0.5,)), options=QUICK)
    assert (found.decision, found.margin) == ("single", None)
    assert [line.role for line in lines_of(found)] == ["decision", "population", "next"]


def test_the_setting_that_may_lose_the_least_is_recommended_with_its_bound():
    scores = noisy(50, (0.59, 0.2, 0.61), seed=2)
    found = conclude(scores, options=QUICK)
    every = ~np.eye(3, dtype=bool)
    bounds = losses(scores.values, every, units_of((), 50), QUICK.level, QUICK.resamples, QUICK.seed)
    bounds = dict(zip("abc", bounds.tolist(), strict=True))
    assert found.advice.bounds == pytest.approx(bounds)
    bounds = {one.setting: one.regret for one in found.standings}
    assert found.advice.bounds == bounds
    assert found.advice.setting == min(bounds, key=bounds.get) == "c"
    plain = verdict_json(found)
    expected = {"setting": "c", "regret": bounds["c"], "among": ("c", "a", "b"), "cheaper": None}
    assert plain["advice"] == expected
    assert {one["setting"]: one["regret"] for one in plain["settings"]} == bounds
    assert plain["sentence"] == plain["lines"][0]["text"] == sentence(found)


def pair(one, other, difference, low, high):
    """A comparison of two settings that is open, or real where its interval excludes 0."""
    (plain,) = conclude(noisy(60, (0.5, 0.5)), options=QUICK).comparisons
    finding = "real" if low > 0 or high < 0 else "open"
    values = {"difference": difference, "low": low, "high": high, "finding": finding}
    return replace(plain, setting=one, against=other, **values)


@pytest.mark.parametrize(
    # difference and interval of a against b, the difference of a and c, the bounds, and what is taken
    ("ab", "ac", "bounds", "setting"),
    [
        # the smallest bound is that of b, 0.12 behind: a is taken, with its own bound
        ((0.12, -0.05, 0.3), 0.13, (0.2, 0.06, 0.4), "a"),
        # b is as good within the tolerance, and its bound smaller by more than that
        ((0.01, -0.03, 0.05), 0.1, (0.2, 0.05, 0.4), "b"),
        # smaller by no more than the tolerance
        ((0.01, -0.03, 0.03), 0.1, (0.045, 0.03, 0.4), "a"),
        # as good within the tolerance, but shown to be worse
        ((0.01, 0.001, 0.02), 0.1, (0.2, 0.04, 0.4), "a"),
    ],
)
def test_the_highest_mean_is_recommended_unless_one_as_good_may_lose_far_less(ab, ac, bounds, setting):
    found = [pair("a", "b", *ab), pair("a", "c", ac, -0.2, 0.4), pair("b", "c", ac - ab[0], -0.04, 0.2)]
    bounds = dict(zip("abc", bounds, strict=True))
    advice = advise("abc", found, bounds, None, {}, QUICK)
    assert (advice.setting, advice.regret) == (setting, bounds[setting])


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_recommended_that_is_behind_by_more_than_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    # the leader varies far more than the others
    rows = {
        name: rng.normal(0.5, spread, 40) for name, spread in zip("abcd", (0.3, 0.1, 0.05, 0.02), strict=True)
    }
    found = conclude(matrix(rows), options=QUICK)
    assert found.mean(found.leader) - found.mean(found.advice.setting) <= QUICK.tolerance
    bounds = {one.setting: one.regret for one in found.standings}
    assert found.advice.regret == bounds[found.advice.setting]


def test_fewer_questions_make_the_bound_larger_and_never_recommend_what_is_far_behind():
    bounds = []
    for n in (30, 240):
        found = conclude(
            noisy(n, (0.5, 0.6), seed=4), costs=Costs({"a": 1, "b": 2}, "dollars"), options=QUICK
        )
        assert found.advice.setting == "b"
        assert found.advice.cheaper is None
        bounds.append(next(one.regret for one in found.standings if one.setting == "a"))
    assert bounds == sorted(bounds, reverse=True)


def test_a_cheaper_setting_is_named_only_within_the_tolerance():
    scores = noisy(400, (0.60, 0.2, 0.601), seed=2)
    costs = Costs({"a": 1.5, "b": 0.1, "c": 3.0}, "dollars")
    bound = {one.setting: one.regret for one in conclude(scores, options=QUICK).standings}["a"]
    for tolerance, setting, rule in ((bound * 1.01, "a", "price"), (bound * 0.99, "c", "mean")):
        found = conclude(scores, costs=costs, options=replace(QUICK, tolerance=tolerance))
        assert (found.advice.setting, found.advice.rule, found.advice.cheaper) == (setting, rule, None)


def test_within_a_price_limit_the_choice_is_among_what_it_allows():
    scores = noisy(80, (0.5, 0.7, 0.45, 0.2))
    costs = Costs({"a": 2.0, "b": 9.0, "c": 1.0, "d": 1.0}, "dollars")
    found = conclude(scores, costs=costs, options=replace(QUICK, price_limit=2.0))
    assert (found.decision, found.leader, found.advice.setting) == ("best", "b", "a")
    assert found.advice.among == ("a", "c", "d")
    # by comparisons of a, c and d alone
    own = replace(scores, settings=("a", "c", "d"), values=scores.values[[0, 2, 3]])
    bounds = {one.setting: one.regret for one in conclude(own, options=QUICK).standings}
    assert (found.advice.regret, found.advice.bounds) == (bounds["a"], bounds)
    one = conclude(scores, costs=costs, options=replace(QUICK, price_limit=1.0))
    assert one.advice.among == ("c", "d")
    # several are better beyond the limit, and nobody knows which is best
    tied = replace(scores, values=scores.values[[1, 1, 0, 0]])
    dear = Costs({"a": 3.0, "b": 3.0, "c": 1.0, "d": 1.0}, "dollars")
    found = conclude(tied, costs=dear, options=replace(QUICK, price_limit=2.0))
    assert sentence(found).endswith("within the price limit (95%).")
    none = conclude(scores, costs=costs, options=replace(QUICK, price_limit=0.5))
    assert none.advice is None
    for more in ({}, {"costs": costs, "baseline": "c"}):
        found = conclude(scores, options=replace(QUICK, price_limit=0.5), **more)
        assert found.advice is None or found.advice.setting == "b"
        assert any("The price limit of 0.5 is not applied" in text for text in lines_in(found, "caveat"))


def test_settings_within_the_tolerance_are_equivalent():
    scores = noisy(80, (0.5, 0.2))
    values = {"a": scores.row("a"), "b": scores.row("b")}
    values["c"] = values["a"] + np.random.default_rng(1).normal(0, 0.02, 80)
    found = conclude(matrix(values), options=QUICK)
    assert (found.decision, found.needed) == ("equivalent", None)
    (pair,) = [one for one in found.comparisons if {one.setting, one.against} == {"a", "c"}]
    assert (pair.finding, finding_words(pair, 0.02)) == ("equivalent", "equal within 0.02")
    assert max(-pair.low, pair.high) <= 0.02
    assert verdict_json(found)["margin"]["finding"] == "equivalent"
    assert [one.group for one in found.standings if one.setting != found.used] == ["may", "out"]
    assert conclude(matrix(values), options=replace(QUICK, tolerance=0.001)).decision == "open"
    first, second = found.standings[0].setting, found.standings[1].setting
    beside = conclude(matrix(values), baseline=first, options=QUICK)
    assert {one.setting: one.why for one in beside.standings}[second] == "equal within 0.02"


def test_on_documents_too_few_to_stand_for_new_ones_findings_are_of_these_alone():
    scores = noisy(60, (0.3, 0.7, 0.5))
    for count, clusters in (
        (5, [f"d{i % 5}" for i in range(60)]),
        (11, ["d"] * 50 + [f"e{i}" for i in range(10)]),
    ):
        for baseline in (None, "a"):
            found = conclude(replace(scores, clusters=tuple(clusters)), baseline=baseline, options=QUICK)
            assert found.decision == ("best" if baseline is None else "better")
            assert {(one.finding, one.here) for one in found.comparisons} == {("real", True)}
            # what the bounds of single queries say holds for these documents, and says so
            said_ = " ".join(sentences_of(found))
            assert (f"On these {count} documents alone use b" in said_) == (found.advice is not None)
            assert all(word not in said_ for word in ("Use ", "ruled out", "Ruled out", "best", "Really"))
            assert all(one.why in ("", "baseline") or one.why.endswith(" here") for one in found.standings)
    assert "These are worth only 1.4 such documents, so the 60 queries are tested one by one." in said_
    enough = conclude(replace(scores, clusters=tuple(f"d{i % 6}" for i in range(60))), options=QUICK)
    assert enough.decision == "best"


def test_where_nothing_was_found_no_setting_leads():
    for names in ("ab", "a"):
        for n in (1, 40):
            found = conclude(matrix({name: np.zeros(n) for name in names}), options=QUICK)
            assert (found.decision, found.leader, found.margin) == ("nothing found", None, None)
    assert conclude(matrix({"a": [0.0, 0.1], "b": [0.0, 0.0]})).leader == "a"


def test_the_queries_to_ask_do_not_depend_on_which_setting_happens_to_lead():
    scores = noisy(50, (0.5, 0.5), seed=3)
    lifted = matrix({"a": scores.row("a"), "b": scores.row("b") + 0.01})
    few = [conclude(m, options=QUICK).needed for m in (scores, lifted)]
    assert few[0].queries == pytest.approx(few[1].queries, rel=0.02)
    assert few[0].low < few[0].queries < few[0].high


TRUST = {
    "ndcg_text@5000": Trust("for text"),
    "ndcg_exp@10": Trust("for chunks", comparable=False),
    "recall@10": Trust("for finding", comparable=False),
    "judged@10": Trust("", quality=False),
}


def named_matrix(measure, means, seed=0):
    scores = noisy(80, means, seed=seed)
    return matrix(dict(zip("ab", scores.values, strict=True)), measure=measure)


def others_of(leader, rows, unfit=()):
    """What the page says of other measures: ``rows`` has the two means of each."""
    base = replace(noisy(80, leader), measure="ndcg_text@5000")
    others = [replace(noisy(80, means, seed=1), measure=name) for name, means in rows.items()]
    trust = {name: Trust("for it", comparable=name not in unfit) for name in rows}
    trust |= {"ndcg_text@5000": Trust("for it"), "judged@10": Trust(quality=False)}
    found = conclude(base, others=others, trust=trust, chunkings={"a": "500", "b": "1000"}, options=QUICK)
    return glance_json(found)["others"]


def test_the_page_says_whether_other_measures_have_the_same_leader():
    b_first, a_first, ahead = (0.3, 0.7), (0.7, 0.3), (0.53, 0.5)
    cases = [
        ({"m1": b_first}, "The other measure has the same leader."),
        ({"m1": b_first, "m2": b_first}, "Both have the same leader."),
        ({"m1": b_first, "m2": b_first, "m3": b_first}, "All 3 have the same leader."),
        (
            {"m1": a_first, "m2": b_first},
            "By 1 of 2 another setting leads; by 1 of these it is shown to be better.",
        ),
        (
            {"m1": ahead},
            "By the other measure another setting leads, but it is not shown to be better.",
        ),
        ({"m1": a_first}, "By the other measure another setting leads, and it is shown to be better."),
        (
            {"m1": ahead, "m2": ahead},
            "By 2 of 2 another setting leads, but it is not shown to be better.",
        ),
    ]
    assert [others_of(b_first, rows)["text"] for rows, _ in cases] == [text for _, text in cases]
    assert others_of(b_first, {}) is None


def test_the_page_names_measures_that_cannot_compare_the_settings():
    rows = {"m1": (0.7, 0.3), "m2": (0.7, 0.3)}
    assert (
        others_of((0.3, 0.7), rows, unfit=rows)["text"] == "None of the other 2 can compare these settings."
    )
    single = others_of((0.3, 0.7), {"m1": (0.7, 0.3)}, unfit=["m1"])
    assert single["text"] == "The other measure cannot compare these settings."
    alone = others_of((0.3, 0.7), rows | {"m3": (0.3, 0.7)}, unfit=rows)
    assert alone == {
        "text": "All that can compare these settings have the same leader.",
        "names": ["m1", "m2"],
        "unfit": True,
    }
    mixed = others_of((0.3, 0.7), rows, unfit=["m2"])
    assert mixed["text"] == (
        "By 2 of 2 another setting leads; by 1 of these it is shown to be better. 1 of these cannot compare "
        "these settings."
    )
    assert (mixed["names"], mixed["unfit"]) == (["m1", "m2"], False)


def test_measures_that_cannot_compare_the_settings_do_not_disagree():
    text, exp = noisy(80, (0.3, 0.7)), noisy(80, (0.7, 0.3), seed=1)
    text = replace(text, measure="ndcg_evidence@5000")
    cut = {"a": "500", "b": "1000"}
    trust = {"ndcg_exp@10": Trust("for the order of chunks", comparable=False)}
    found = conclude(text, others=[exp], trust=trust, chunkings=cut, options=QUICK)
    assert [one.found.finding for one in found.conflicts] == ["incomparable"]
    (caveat,) = lines_in(found, "caveat")
    assert caveat.startswith("The leader is the same by all measures that can compare these settings.")
    assert "disagree" not in caveat


def test_measures_that_disagree_on_the_winner_are_reported():
    text, exp = named_matrix("ndcg_text@5000", (0.4, 0.6)), named_matrix("ndcg_exp@10", (0.6, 0.4))
    recall, judged = named_matrix("recall@10", (0.7, 0.6)), named_matrix("judged@10", (0.9, 0.1))
    found = conclude(text, others=[exp, recall, judged], trust=TRUST, options=QUICK)
    # what is no measure of quality is not asked
    assert [one.measure for one in found.conflicts] == ["ndcg_exp@10", "recall@10"]
    (caveat,) = lines_in(found, "caveat")
    assert "by ndcg_exp@10 and recall@10 (better)" in caveat
    agreeing = named_matrix("ndcg_exp@10", (0.4, 0.6), seed=1)
    alike = conclude(text, others=[agreeing], trust=TRUST, options=QUICK)
    assert (alike.conflicts, lines_in(alike, "caveat")) == ((), [])


def test_a_measure_rules_settings_out_only_by_others_over_the_same_chunks():
    # by ndcg_exp@10: c is far above a, and both far above b and d
    scores = noisy(80, (0.6, 0.3, 0.9, 0.2))
    apart = {"a": "500", "b": "500", "c": "1000", "d": "1000"}
    options = {"trust": TRUST, "instead": "ndcg_text@5000", "options": QUICK}
    found = conclude(scores, chunkings=apart, **options)
    assert found.decision == "open"
    assert groups(found) == {"c": "may", "a": "may", "b": "out", "d": "out"}
    assert {frozenset((one.setting, one.against)) for one in found.comparisons if one.real} == {
        frozenset("ab"),
        frozenset("cd"),
    }
    assert {one.finding for one in found.comparisons} == {"real", "incomparable"}
    assert lines_in(found, "next") == ["Use ndcg_text@5000 instead."]
    # what a setting may lose is known among those over its chunks alone, which is no advice
    assert (found.advice, "Use " in sentence(found)) == (None, False)
    assert all(one.regret is not None for one in found.standings)
    # against a baseline, too, only settings over its chunks are better or worse
    against = conclude(scores, chunkings=apart, baseline="a", **options)
    assert {one.setting: one.why for one in against.standings} == {
        "a": "baseline",
        "b": "worse",
        "c": "not comparable",
        "d": "not comparable",
    }
    # the same numbers over one chunking
    alike = conclude(scores, chunkings=dict.fromkeys("abcd", "500"), **options)
    assert alike.decision == "best"


def test_against_a_baseline_the_family_is_of_the_others():
    found = conclude(noisy(60, (0.5, 0.7, 0.3, 0.5)), baseline="a", options=QUICK)
    assert (found.decision, len(found.comparisons)) == ("better", 3)
    assert [(one.group, one.why) for one in found.standings] == [
        ("use", "better"),
        ("out", "baseline"),
        ("may", "no difference found"),
        ("out", "worse"),
    ]
    assert conclude(noisy(60, (0.7, 0.5)), baseline="a", options=QUICK).decision == "not better"


@pytest.mark.parametrize(
    ("count", "kind"),
    [(20, "clusters"), (4, "few clusters"), (1, "few clusters"), (60, "queries"), (0, "unknown")],
)
def test_the_verdict_names_its_population(count, kind):
    clusters = tuple(f"d{i % count}" for i in range(60)) if count else ()
    found = conclude(replace(noisy(60, (0.5, 0.6)), clusters=clusters), options=QUICK)
    assert (found.population.kind, found.population.clusters) == (kind, count)
    assert (found.population.icc is not None) == (1 < count < 60)
    assert ("whole documents" in lines_in(found, "test")[0]) == (kind == "clusters")
    assert ("this one document" in lines_in(found, "population")[0]) == (count == 1)


def test_of_the_differences_only_those_found_are_printed_if_wanted():
    scores = noisy(80, (0.59, 0.2, 0.6), seed=2)
    verdict = verdict_of(Scores(matrices={scores.measure: scores}, options=QUICK))
    for only_real, count in ((False, 3), (True, 2)):
        assert len(compared_parts(verdict, only_real=only_real)[-1].rows) == count
    assert verdict_json(verdict)["population"]["tested_by"] == "queries"


def test_holes_are_those_of_what_the_measure_reads():
    def of(measure, *others):
        names = (measure, *others)
        table = {name: matrix(dict.fromkeys("ab", [0.1 * (i + 1)] * 4), name) for i, name in enumerate(names)}
        return holes_of(Scores(matrices=table), measure)

    # labels may be short quotes: how much of the text has one says nothing
    text = of("ndcg_evidence@500", "judged_text@500", "judged@10", "ndcg_evidence_upper@500")
    assert (text.measure, text.bound) == ("judged@10", "ndcg_evidence_upper@500")
    assert extent_of(text) == "the first 10 passages"
    assert list(text.upper.values()) == pytest.approx([0.4, 0.4])
    assert of("ndcg_evidence@500", "judged_text@500", "judged@5") is None
    assert extent_of(of("ndcg_exp@5", "judged@10", "judged@5")) == "the first 5 passages"
    ranks = of("ndcg_exp@10", "judged_text@500", "judged@5", "judged@10", "ndcg_exp_upper@5")
    assert (ranks.measure, ranks.bound) == ("judged@10", "")
    # a bound alone is worth saying too; that of rbp is its residual on top of it
    alone = of("rbp(p=0.5)@10", "rbp_residual(p=0.5)@10", "rbp_residual@10")
    assert (alone.measure, alone.bound, alone.least) == ("", "rbp_residual(p=0.5)@10", 1.0)
    assert list(alone.upper.values()) == pytest.approx([0.3, 0.3])
    assert of("ndcg_text@500", "ndcg_exp@10") is None
    assert of("a_measure_of_another_tool@5", "judged@10").measure == "judged@10"


def setting(size, answer=None, result="r"):
    return {"name": "any", "chunk": {"size": size}, "answer": answer, "result": result}


def test_settings_without_answers_or_with_other_steps_tie_by_chance_alone():
    assert same_ranking_notes({}) == ()
    assert same_ranking_notes({"a": setting(1, {"top_n": 1}), "b": setting(2, {"top_n": 2})}) == ()
    # of two results each is a run of its own, whose documents or queries may be others
    assert same_ranking_notes({"a": setting(1, None, "r"), "b": setting(1, {"top_n": 1}, "s")}) == ()


def test_on_few_documents_only_what_is_shown_is_better_than_all():
    """Two alike are no better than each other; nor is one whose lead turns with the labels."""
    clusters = tuple(f"d{i % 3}" for i in range(60))
    one = noisy(60, (0.6,)).values[0]
    same, ahead = matrix({"a": one, "b": one}), noisy(60, (0.8, 0.5))
    turned = drawn(("padded by 700",), a=(0.8, 0.5), b=(0.5, 0.8))
    for scores, sensitivity, claim in (
        (same, {}, "no worse than any other (95%)."),
        (ahead, {}, "better than all others, the next by 0.3"),
        (ahead, turned, "no worse than any other (95%), with labels as given."),
    ):
        given = replace(scores, clusters=clusters)
        assert claim in sentence(conclude(given, options=QUICK, sensitivity=sensitivity))


def test_rounding_is_no_difference_between_means_and_bounds():
    one = noisy(60, (0.6,)).values[0]
    equal = matrix({"a": one, "b": one})
    shifted = matrix({"a": one, "b": one + 1e-15}, "rr")
    assert conclude(equal, others=[shifted], options=QUICK).conflicts == ()
    means = {"a": float(one.mean()), "b": float(one.mean()) + 1e-15}
    holes = Holes("judged@10", {"a": 1.0, "b": 1.0}, "ndcg_exp_upper@10", means)
    assert not any(
        "could lift" in text for text in lines_in(conclude(equal, holes=holes, options=QUICK), "caveat")
    )


def test_levels_near_1_are_not_rounded_to_it():
    found = conclude(noisy(60, (0.8, 0.5)), options=replace(QUICK, level=0.999))
    assert "It is shown to be best (99.9%)" in sentence(found)
    assert "99.9% interval" in " ".join(sentences_of(found))


def test_a_name_that_is_cut_is_still_that_of_one_setting():
    same = "500 characters, no overlap, keyword search, top k 40, k1 1.5, b"
    names = {"a": f"{same} 0.4", "b": f"{same} 0.75"}
    found = conclude(noisy(60, (0.5, 0.5)), design=SweepDesign((), names), options=QUICK)
    told = sentence(found)
    assert "b 0.4. Not proven" in told
    assert len(told.split()) <= MOST_WORDS


def test_to_be_equal_is_no_other_sign():
    means = {"a": (0.8, 0.8, 0.4), "b": (0.6, 0.8 + 1e-16, 0.5)}
    known = LabelSensitivity(("as labelled", "padded by 100", "cut"), (80.0, 280.0, 40.0), means)
    assert known.turns(("a", "b")) == ("cut",)


def test_a_verdict_is_shown_as_its_sentence():
    found = conclude(noisy(80, (0.3, 0.7, 0.35)), options=QUICK)
    assert repr(found) == f"<Verdict: {sentence(found)}>"
    assert len(repr(found)) < 300


def test_hits_in_no_document_count_from_half_of_them_on_where_hardly_anything_is_judged():
    hardly = Holes("judged@10", {"a": 0.05, "b": 0.05})
    for share, displaced in ((0.5, 0.5), (0.49, 0.0)):
        found = conclude(noisy(40, (0.6, 0.5)), holes=hardly, elsewhere={"a": 0.1, "b": share})
        assert found.displaced == displaced
