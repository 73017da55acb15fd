"""Active labelling: draws with known chances, estimates that they correct, and when to stop."""

import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison.stats.intervals import Interval
from harness.labels.ordering.draws import ByVerdict, begun, draw, draw_more, from_json, to_json
from harness.labels.ordering.estimate import _standing_for, estimate, further
from harness.labels.ordering.firmness import firmness
from harness.labels.ordering.grades import expect, fit, score_all
from harness.labels.ordering.pool import UNKNOWN, PoolItem, make_pool
from harness.report.by_labels import ByLabels
from harness.values.errors import LabelError


def study(queries=30, ahead=True, seed=1, judge=False):
    """Two settings over ten passages a query; the first ranks relevant ones higher where it is ``ahead``."""
    rng = np.random.default_rng(seed)
    items, labels = [], {}
    for query in range(queries):
        grades = np.where(rng.random(10) < 0.4, rng.integers(1, 4, 10), 0)
        good = np.argsort(-(grades + rng.normal(0, 1.0, 10)))
        poor = rng.permutation(10)
        ranks = {"good": good, "poor": poor} if ahead else {"good": good, "poor": good}
        for place in range(10):
            at = {name: int(np.flatnonzero(order == place)[0]) + 1 for name, order in ranks.items()}
            name = f"q{query}/{place}"
            output = float(grades[place]) if judge else None
            items.append(PoolItem(name, f"q{query}", {k: v for k, v in at.items() if v <= 5}, output))
            labels[name] = int(grades[place])
    return make_pool(items, ("good", "poor"), k=5), labels


def test_ndcg_of_known_grades_is_that_of_the_textbook():
    # a: grade 2 at rank 2, b: grade 1 at rank 1; gain 3 and 1
    pool = make_pool([PoolItem("a", "q", {"s": 2}), PoolItem("b", "q", {"s": 1})], ["s"], k=2)
    scores, ideals = score_all(pool, pool.grades({"a": 2, "b": 1})[None])
    second = 1 / math.log2(3)
    assert ideals[0, 0] == pytest.approx(3 + second)
    assert scores[0, 0, 0] == pytest.approx((1 + 3 * second) / (3 + second))


def test_all_labels_leave_nothing_to_estimate():
    pool, labels = study()
    design = draw_more(pool, {}, begun(pool), 20)
    now = estimate(pool, labels, design.batches)
    scores, _ = score_all(pool, pool.grades(labels)[None])
    assert now.score == pytest.approx(scores[0])
    assert now.left == 0
    assert not now.errors_from(0).any()
    assert firmness(now).state == "complete"


def test_without_draws_no_interval_is_claimed():
    pool, labels = study()
    some = dict(list(labels.items())[:40])
    firm = firmness(estimate(pool, some, ()))
    assert firm.state == "open"
    assert firm.needed is None
    assert firm.further == ()
    assert firm.rivals[0].labels.low is None
    assert firm.rivals[0].queries.low is None
    assert "nothing can be concluded" in " ".join(firm.sentences())


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=5), st.integers(1, 4), st.integers(0, 50))
def test_chances_are_those_of_the_threshold(size, count, seed):
    ids = [str(place) for place in range(len(size))]
    rng, every = np.random.default_rng(seed), np.ones(len(size), dtype=bool)
    batch = draw(ids, np.array(size), count, every, frozenset(), rng)
    assert len(batch.drawn) == min(count, len(size))
    assert len({one.item_id for one in batch.drawn}) == len(batch.drawn)
    for done in range(1, len(batch.drawn) + 1):
        chance = batch.chances(done)
        assert ((chance > 0) & (chance <= 1)).all()
    if count >= len(size):
        assert batch.chances(len(batch.drawn)) == pytest.approx(1.0)


def test_sums_over_draws_are_right_on_average():
    # values 1..6 at sizes that have nothing to do with them: the mean of the weighted sums must be 21
    values, size = np.arange(1.0, 7.0), np.array([3.0, 1.0, 2.0, 0.5, 1.0, 4.0])
    rng, ids, found = np.random.default_rng(3), [str(place) for place in range(6)], []
    for _ in range(4000):
        batch = draw(ids, size, 3, np.ones(6, dtype=bool), frozenset(), rng)
        # two of three, as if the person had stopped early
        chance = batch.chances(2)
        found.append(sum(values[int(one.item_id)] / chance[int(one.item_id)] for one in batch.drawn[:2]))
    assert np.mean(found) == pytest.approx(21, abs=4 * np.std(found) / math.sqrt(4000))


def test_what_is_drawn_stands_for_one_item_on_average():
    # whatever the grades: were the chance of an item to depend on its own grade, high grades would count
    # more or less than they are
    pool, labels = study(queries=12)
    grades, stands = pool.grades(labels), []
    for seed in range(60):
        design, known = begun(pool), {}
        for _ in range(4):
            design = draw_more(pool, known, design, 8, seed)
            known |= {name: labels[name] for name in design.pending(known)}
        used = [(batch, len(batch.drawn)) for batch in design.batches]
        stands.append(_standing_for(pool, pool.grades(known), used)[0])
    mean = np.mean(stands, axis=0)
    for found in (grades == 0, grades > 0):
        error = np.std([one[found].mean() for one in stands]) / math.sqrt(60)
        assert mean[found].mean() == pytest.approx(1.0, abs=4 * error)


def test_what_matters_most_is_soon_certain_to_be_drawn():
    # shares 1:1:8 of the spread and two draws: the third is certain, the others share what is left
    pool = make_pool([PoolItem(name, "q", {"s": 1}) for name in "abc"], ["s"])
    now = estimate(pool, {}, ())
    more = further(np.array([1.0, 1.0, 64.0]), now, np.ones(3, dtype=bool), 2)
    assert more == pytest.approx([0.5, 0.5, 1.0], abs=1e-3)


def test_the_model_learns_from_judge_and_rank():
    pool, labels = study(judge=True)
    some = {name: labels[name] for name in list(labels)[:150]}
    grades = pool.grades(some)
    chances = fit(pool, grades).chances(pool.query)
    true = pool.grades(labels)
    hidden = grades == UNKNOWN
    relevant = 1 - chances[hidden, 0]
    assert relevant[true[hidden] > 0].mean() > 0.8 > 0.3 > relevant[true[hidden] == 0].mean()
    assert chances.sum(axis=1) == pytest.approx(1.0)


def test_expectation_is_the_mean_over_all_completions():
    # two items, one graded 1: the other is relevant or not; few grades, so the model is nearly its prior
    pool = make_pool([PoolItem("a", "q", {"s": 2}), PoolItem("b", "q", {"s": 1})], ["s"], k=2, max_grade=1)
    likely = fit(pool, pool.grades({"a": 1}))
    found = expect(pool, likely, completions=20_000)
    p = likely.chances(pool.query)[1, 1]
    values = [score_all(pool, np.array([[1, g]]))[0][0, 0, 0] for g in (0, 1)]
    assert found.score[0, 0] == pytest.approx((1 - p) * values[0] + p * values[1], abs=0.02)


def label_on(pool, labels, seed=0, batch=15, limit=10_000):
    design, known, steps = begun(pool), {}, []
    while len(known) < min(limit, len(pool.ids)):
        design = draw_more(pool, known, design, batch, seed)
        known |= {name: labels[name] for name in design.pending(known)}
        steps.append((len(known), firmness(estimate(pool, known, design.batches))))
    return steps


def test_the_better_setting_is_found_and_it_says_stop_early():
    pool, labels = study()
    steps = label_on(pool, labels)
    stop = next((count, firm) for count, firm in steps if firm.stop)
    assert stop[1].leader == "good"
    assert stop[1].state == "settled"
    assert stop[0] < len(pool.ids) / 2
    assert "Stop: the verdict no longer depends on what is unlabelled" in " ".join(stop[1].sentences())
    first = steps[0][1]
    assert first.state == "open"
    assert first.needed
    assert "about 1 more label will" in " ".join(first.sentences())


def test_where_nothing_relevant_was_found_nobody_leads():
    pool, labels = study()
    _, found = label_on(pool, labels, limit=60)[-1]
    zero = replace(found, means=tuple((name, Interval(0.0, 0.0, 0.1)) for name, _ in found.means))
    assert "leads" not in " ".join(zero.sentences())
    assert "Nothing relevant was found so far." in zero.sentences()[0]
    text = ByLabels("ndcg_exp@10", "m", (), (("a", "0.000", "0.000–0.100", "–"),), ()).headline
    assert (
        text
        == "By the grades of m, corrected by people's, nothing was found: the highest ndcg_exp@10 is 0.000."
    )


def test_equal_settings_are_never_distinguished():
    pool, labels = study(ahead=False)
    for _, firm in label_on(pool, labels, limit=60):
        assert firm.state in ("open", "alike")
        assert (firm.state == "alike") == (firm.graded >= 40)
        assert firm.rivals[0].labels.value == pytest.approx(0.0)


def test_more_labels_are_predicted_to_shorten_the_interval():
    pool, labels = study()
    firm = label_on(pool, labels, limit=45)[-1][1]
    halves = [one.half_by_labels for one in firm.further]
    assert next(one.labels for one in firm.further) == 50
    assert halves == sorted(halves, reverse=True)
    now = firm.rivals[0].labels
    assert halves[0] < (now.high - now.low) / 2


@pytest.mark.slow
def test_intervals_cover():
    hits = []
    for seed in range(60):
        pool, labels = study(seed=seed)
        true, ideals = score_all(pool, pool.grades(labels)[None])
        means = true[0].sum(axis=1) / (ideals[0] > 0).sum()
        for count, firm in label_on(pool, labels, seed, limit=90):
            if count in (45, 90):
                span, sign = firm.rivals[0].labels, 1 if firm.leader == "good" else -1
                hits.append(span.low <= sign * (means[0] - means[1]) <= span.high)
    # 120 hits at 95 %: below 88 % has a chance of under 1 in 1,000, even were those of a study one hit
    assert np.mean(hits) > 0.88


def test_what_was_labelled_out_of_order_takes_no_part_in_the_draws():
    pool, labels = study()
    design = draw_more(pool, {}, begun(pool), 20)
    batch = design.batches[0]
    beyond = [name for name in pool.ids if name not in {one.item_id for one in batch.drawn}][:30]
    only = {one.item_id: labels[one.item_id] for one in batch.drawn}
    more = only | {name: labels[name] for name in beyond}
    assert estimate(pool, more, design.batches).drawn == estimate(pool, only, design.batches).drawn == 20
    again = draw_more(pool, more, design, 20).batches[1]
    assert again.known == frozenset(more)
    assert not {one.item_id for one in again.drawn} & set(more)


def test_skipped_items_do_not_block_a_batch():
    pool, labels = study()
    design = draw_more(pool, {}, begun(pool), 10)
    names = [one.item_id for one in design.batches[0].drawn]
    some = {name: labels[name] for name in names[1:]}
    assert estimate(pool, some, design.batches).drawn == 0
    assert estimate(pool, some, design.batches, {names[0]}).drawn == 9
    assert design.pending(some) == [names[0]]
    assert design.pending(some, {names[0]}) == []


def test_the_record_comes_back_and_damage_is_reported(tmp_path):
    pool, labels = study()
    design = draw_more(pool, {}, begun(pool), 10)
    design = draw_more(pool, {name: labels[name] for name in design.pending({})}, design, 10)
    assert from_json(to_json(design), tmp_path) == design
    for text in ("", "{}", "[]", to_json(design)[:200], to_json(design).replace('"size": ', '"size": -')):
        with pytest.raises(LabelError, match="damaged"):
            from_json(text, tmp_path / "record.json")
    # sizes of fewer items than there are, no whole number of them, and none above 0
    for sizes in ("AACAPw==", "AACA", "", "AAAAAA==", "?"):
        kept = json.loads(to_json(design))
        kept["batches"][0]["sizes"] = sizes
        with pytest.raises(LabelError, match="damaged"):
            from_json(json.dumps(kept), tmp_path / "record.json")
    with pytest.raises(LabelError, match="another version"):
        from_json(to_json(design).replace('"version": 2', '"version": 1'), tmp_path)


def test_an_order_goes_on_where_it_was_left(tmp_path):
    pool, labels = study()
    items = [
        PoolItem(name, pool.queries[pool.query[place]], {"good": 1 + place % 5, "poor": 1 + place % 3})
        for place, name in enumerate(pool.ids)
    ]
    order = ByVerdict(("good", "poor"), tmp_path / "order.json", batch=8)
    first = order.order(items, {})
    assert len(first) == 8
    assert order.order(items, {}) == first
    some = {name: labels[name] for name in first[:3]}
    assert order.order(items, some) == first[3:]
    done = {name: labels[name] for name in first}
    second = order.order(items, done)
    assert len(second) == 8
    assert not set(second) & set(first)
    assert firmness(order.estimate(items, done)).graded == 8
    # a record that holds fewer items than the pool it names
    text = (tmp_path / "order.json").read_text()
    kept = json.loads(text)
    for one in kept["batches"]:
        one["sizes"] = "AACAPw=="
    (tmp_path / "order.json").write_text(json.dumps(kept))
    with pytest.raises(LabelError, match="lacks items"):
        order.order(items, done)
    (tmp_path / "order.json").write_text(text)
    # other settings: what was drawn for these says nothing, what is labelled stays known
    other = ByVerdict(("poor", "good"), tmp_path / "order.json", batch=8)
    assert other.estimate(items, done).drawn == 0


def test_invalid_pools_are_refused():
    with pytest.raises(LabelError, match="nothing to label"):
        make_pool([PoolItem("a", "q", {"s": 11})], ["s"])
    with pytest.raises(LabelError, match="twice"):
        make_pool([PoolItem("a", "q", {"s": 1}), PoolItem("a", "q", {"s": 2})], ["s"])
    pool, labels = study()
    with pytest.raises(LabelError, match="scale ends at 4"):
        pool.grades({pool.ids[0]: 5})
    other, _ = study(queries=3)
    with pytest.raises(LabelError, match="other passages"):
        draw_more(other, {}, begun(pool))
    assert pool.grades({pool.ids[0]: -2})[0] == 0
    full = draw_more(pool, labels, begun(pool))
    assert full.batches == ()


@pytest.mark.parametrize("grades", list(product((None, 0, 4), repeat=2)))
def test_one_query_and_one_setting_do_not_fail(grades):
    items = [PoolItem("a", "q", {"s": 1}), PoolItem("b", "q", {"s": 2})]
    pool = make_pool(items, ["s"])
    known = {name: grade for name, grade in zip("ab", grades, strict=True) if grade is not None}
    firm = firmness(estimate(pool, known, draw_more(pool, {}, begun(pool), 2).batches))
    assert firm.rivals == ()
    assert firm.means[0][1].low is None
    assert not math.isnan(firm.means[0][1].value)
    assert firm.sentences()
