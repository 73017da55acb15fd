"""What to label next: labels to a verdict that can be relied on, and whether intervals hold what they say.

    HARNESS_SHARED=shared python -m benchmarks.label_order --tables soonest cover queries judge [--trials 200]

On collections where everything is judged, so that the verdict by all labels is known. docs/labelling.md says
what the columns mean. Everything follows from the seeds.
"""

import argparse
from functools import partial

import numpy as np

from benchmarks.label_order_data import K, cranfield, dl19, judged_pairs, of_queries, with_judge
from harness.ordering.design import begun, draw_more
from harness.ordering.drawing import draw
from harness.ordering.estimate import estimate
from harness.ordering.expected import score_all
from harness.ordering.firmness import firmness
from harness.ordering.pool import make_pool

BATCH = 25


def pool_of(collection):
    """The pool of a collection, scored by NDCG@10 of exponential gain."""
    return make_pool(collection.items, collection.settings, k=K, max_grade=collection.max_grade)


def truth(pool, labels):
    """The means of all settings when everything is labelled."""
    scores, ideals = score_all(pool, pool.grades(labels)[None])
    return scores[0].sum(axis=1) / (ideals[0] > 0).sum()


def by_effect(pool, labels, seed, limit=None, batch=BATCH):
    """Label in our order; yields the number of labels and the estimate after every batch."""
    design, known, now = begun(pool), {}, None
    while now is None or (now.left and len(known) < (limit or len(labels))):
        design = draw_more(pool, known, design, batch, seed, now=now)
        known |= {name: labels[name] for name in design.pending(known)}
        now = estimate(pool, known, design.batches)
        yield len(known), now


def at_random(pool, labels, seed, limit=None, batch=BATCH):
    """The same estimates from draws in which all items are alike."""
    rng, known, batches, now = np.random.default_rng(seed), {}, [], None
    while now is None or (now.left and len(known) < (limit or len(labels))):
        open_ = [name for name in pool.ids if name not in known]
        alike = np.ones(len(open_))
        error = np.eye(len(pool.settings)) * len(open_) * max(len(open_) / batch - 1, 1e-9)
        batches.append(draw(open_, alike, batch, error, frozenset(known), rng))
        known |= {one.item_id: labels[one.item_id] for one in batches[-1].drawn}
        now = estimate(pool, known, batches)
        yield len(known), now


def by_depth(pool, labels):
    """Label rank 1 of all settings, then rank 2 and so on, the rest as 0: labels and means at every depth."""
    best = pool.discount.max(axis=0)
    full = pool.grades(labels)
    for worth in np.unique(best)[::-1]:
        grades = np.where(best >= worth, full, 0)
        scores, ideals = score_all(pool, grades[None])
        answered = max((ideals[0] > 0).sum(), 1)
        yield int((best >= worth).sum()), scores[0].sum(axis=1) / answered


def kept_from(steps, leader):
    """The number of labels from which on the leader is the true one; steps are (labels, leader)."""
    last = None
    for count, found in steps:
        last = None if found != leader else last or count
    return last


def _stop(pool, labels, order, seed, leader):
    steps, stopped = [], None
    for count, now in order(pool, labels, seed):
        found = int(now.means.argmax())
        steps.append((count, found))
        if stopped is None and firmness(now).stop:
            stopped = (count, found, firmness(now).state)
            break
    return steps, stopped


def soonest(trials, collections):
    """Labels until the verdict can be relied on, and how often it is then the right one."""
    print("\n| collection | order | labels until it says stop: median (10 %, 90 %) | of the pool | right |")
    print("|---|---|---|---|---|")
    for collection in collections:
        pool = pool_of(collection)
        true = truth(pool, collection.labels)
        leader, whole = int(true.argmax()), len(pool.ids)
        batch = BATCH if whole < 2000 else 3 * BATCH
        for name, order in (("ours", by_effect), ("random", at_random)):
            run = partial(order, batch=batch)
            found = [_stop(pool, collection.labels, run, seed, leader)[1] for seed in range(trials)]
            counts = [one[0] if one else whole for one in found]
            right = np.mean([one is None or one[1] == leader for one in found])
            low, middle, high = np.percentile(counts, [10, 50, 90])
            print(
                f"| {collection.name} | {name} | {middle:.0f} ({low:.0f}, {high:.0f}) "
                f"| 1 / {whole / middle:.1f} | {right:.1%} |",
                flush=True,
            )
        print(f"| {collection.name} | pool to depth {K} | {whole} | 1 / 1 | 100.0% |")
        depth = kept_from(((n, int(m.argmax())) for n, m in by_depth(pool, collection.labels)), leader)
        print(f"| {collection.name} | by depth, told by an oracle when to stop | {depth} | – | 100.0% |")


def cover(trials, collections):
    """Coverage of the difference by all labels, at several numbers of labels."""
    print("\n| collection | labels | covered | of how many | half-width | half-width at random |")
    print("|---|---|---|---|---|---|")
    for collection in collections:
        pool = pool_of(collection)
        true = truth(pool, collection.labels)
        batch = BATCH if len(pool.ids) < 2000 else 3 * BATCH
        marks = [4 * batch, 8 * batch, 12 * batch]
        ours = _covered(pool, collection.labels, true, by_effect, batch, marks, trials)
        random = _covered(pool, collection.labels, true, at_random, batch, marks, max(trials // 10, 5))
        for mark in marks:
            hits, halves = ours[mark]
            print(
                f"| {collection.name} | {mark} | {_share(hits)} | {len(hits)} | {np.mean(halves):.3f} "
                f"| {np.mean(random[mark][1]):.3f} |",
                flush=True,
            )


def _covered(pool, labels, true, order, batch, marks, trials):
    from scipy.stats import norm

    leader = int(true.argmax())
    reach = norm.ppf(0.975)
    found = {mark: ([], []) for mark in marks}
    for seed in range(trials):
        for count, now in order(pool, labels, seed, limit=marks[-1], batch=batch):
            if count not in found:
                continue
            errors = now.errors_from(leader)
            for other in range(len(true)):
                if other != leader:
                    apart = now.means[leader] - now.means[other]
                    missed = abs(apart - (true[leader] - true[other]))
                    found[count][0].append(missed <= reach * errors[other])
                    found[count][1].append(reach * errors[other])
    return found


def queries(trials, collections):
    """Coverage of what new queries would give: queries are drawn, then some of their passages labelled."""
    print("\n| collection | queries | labels | means covered | of how many | differences covered |")
    print("|---|---|---|---|---|---|")
    for collection in collections:
        size, counts = (40, (100, 200, 400)) if collection.name == "TREC DL 2019" else (60, (150, 300, 600))
        _over_queries(collection, size, counts, trials)


def _over_queries(collection, size, counts, trials):
    true = truth(pool_of(collection), collection.labels)
    names = sorted({one.query_id for one in collection.items})
    means, differences = {n: [] for n in counts}, {n: [] for n in counts}
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        part = of_queries(collection, rng.choice(names, size))
        pool = pool_of(part)
        for count, now in by_effect(pool, part.labels, seed, limit=counts[-1], batch=counts[0] // 2):
            if count not in means:
                continue
            firm = firmness(now)
            value = dict(zip(collection.settings, true, strict=True))
            means[count] += [span.low <= value[name] <= span.high for name, span in firm.means]
            differences[count].append(
                all(
                    one.queries.low <= value[firm.leader] - value[one.setting] <= one.queries.high
                    for one in firm.rivals
                )
            )
    for count in counts:
        print(
            f"| {collection.name} | {size} | {count} | {_share(means[count])} | {len(means[count])} "
            f"| {_share(differences[count])} |",
            flush=True,
        )


def judge(trials, collections):
    """What a judge's grades are worth: half-widths with and without, and coverage with."""
    print("\n| collection | judge | labels | covered | half-width with | without |")
    print("|---|---|---|---|---|---|")
    pairs = judged_pairs()
    cases = [(with_judge(one), one, "made up") for one in collections]
    cases.append((pairs, _without(pairs), "a language model"))
    for said, plain, what in cases:
        pool, bare = pool_of(said), pool_of(plain)
        true = truth(pool, said.labels)
        batch = BATCH if len(pool.ids) < 2000 else 3 * BATCH
        marks = [4 * batch, 8 * batch]
        if len(pool.ids) < 500:
            batch, marks = 10, [40, 80]
        found = _covered(pool, said.labels, true, by_effect, batch, marks, trials)
        other = _covered(bare, said.labels, true, by_effect, batch, marks, max(trials // 5, 5))
        for mark in marks:
            hits, halves = found[mark]
            print(
                f"| {said.name} | {what} | {mark} | {_share(hits)} | {np.mean(halves):.3f} "
                f"| {np.mean(other[mark][1]):.3f} |",
                flush=True,
            )


def _without(collection):
    from dataclasses import replace

    items = tuple(replace(one, judge=None) for one in collection.items)
    return replace(collection, items=items)


def _share(hits):
    """A share with its Monte-Carlo error, which is that of the trials: hits of one trial go together."""
    share = float(np.mean(hits))
    return f"{share:.1%} ± {1.96 * np.sqrt(share * (1 - share) / len(hits)):.1%}"


COLLECTIONS = {"dl19": dl19, "cranfield": cranfield}
TABLES = {"soonest": soonest, "cover": cover, "queries": queries, "judge": judge}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=tuple(TABLES), default=tuple(TABLES))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--collections", nargs="+", choices=tuple(COLLECTIONS), default=tuple(COLLECTIONS))
    given = parser.parse_args()
    collections = [COLLECTIONS[name]() for name in given.collections]
    for name in given.tables:
        TABLES[name](given.trials, collections)


if __name__ == "__main__":
    main()
