"""Active labelling: how many labels a reliable verdict takes, and whether the intervals cover as stated.

    HARNESS_SHARED=shared python -m benchmarks.label_order [--tables soonest cover] [--trials 200]

On collections where everything is judged, so that the verdict by all labels is known. docs/labelling.md says
what the columns mean. Everything follows from the seeds.
"""

import argparse
from functools import partial
from itertools import combinations

import numpy as np

from benchmarks.label_order_data import (
    K,
    chunking,
    cranfield,
    dl19,
    dl23,
    judged_pairs,
    of_queries,
    of_settings,
    with_judge,
)
from harness.labels.ordering.draws import begun, draw, draw_more
from harness.labels.ordering.estimate import estimate
from harness.labels.ordering.firmness import ALIKE, firmness
from harness.labels.ordering.grades import score_all
from harness.labels.ordering.pool import make_pool

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
        open_ = np.array([name not in known for name in pool.ids])
        batches.append(draw(pool.ids, np.ones(len(open_)), batch, open_, frozenset(known), rng))
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


def at_random_as_they_are(pool, labels, seed, batch=BATCH):
    """Label at random and count unlabelled passages as 0: labels and means, with no estimate of the rest."""
    rng, full = np.random.default_rng(seed), pool.grades(labels)
    turn = rng.permutation(len(full))
    for count in range(batch, len(full) + batch, batch):
        grades = np.where(turn < count, full, 0)
        scores, ideals = score_all(pool, grades[None])
        yield min(count, len(full)), scores[0].sum(axis=1) / max((ideals[0] > 0).sum(), 1)


def stop(pool, labels, order, seed):
    """Labels until it says stop, the leader then, and from where on that was the leader."""
    steps = []
    for count, now in order(pool, labels, seed):
        steps.append((count, int(now.means.argmax())))
        if firmness(now).stop:
            break
    count, found = steps[-1]
    return min(count, len(pool.ids)), found, kept_from(steps, found)


def batch_of(pool):
    """The size of a batch: larger for larger pools, so that all trials have as many steps."""
    return max(BATCH, len(pool.ids) // BATCH // 40 * BATCH)


def soonest(trials, collections):
    """Labels until the verdict can be relied on, and how often it is then the right one."""
    print("\n| collection | order | labels until it says stop: median (10 %, 90 %) | times ours | right |")
    print("|---|---|---|---|---|")
    for collection in collections:
        pool, labels = pool_of(collection), collection.labels
        true, whole = truth(pool, labels), len(pool.ids)
        leader = int(true.argmax())
        batch, base, needed = batch_of(pool), None, {}
        for name, order in (("ours", by_effect), ("random", at_random)):
            run = partial(order, batch=batch)
            found = [stop(pool, labels, run, seed) for seed in range(trials)]
            # the verdict calls settings alike that are less than this apart
            right = np.mean([true[leader] - true[one[1]] < ALIKE for one in found])
            needed[name] = [one[2] if one[1] == leader else whole for one in found]
            base = base or np.median([one[0] for one in found])
            _line(collection.name, name, [one[0] for one in found], base, f"{right:.1%}")
        _line(collection.name, f"pool to depth {K}", [whole], base, "100.0%")
        plain = [
            kept_from(_leaders(at_random_as_they_are(pool, labels, seed, batch)), leader)
            for seed in range(trials)
        ]
        depth = kept_from(_leaders(by_depth(pool, labels)), leader)
        base = np.median(needed["ours"])
        for name, counts in (
            ("ours", needed["ours"]),
            ("random", needed["random"]),
            ("random, the rest as 0", plain),
            ("by depth, the rest as 0", [depth]),
        ):
            _line(collection.name, f"{name}, told by an oracle when to stop", counts, base, "–")


def _leaders(steps):
    return ((count, int(means.argmax())) for count, means in steps)


def _line(collection, name, counts, base, right):
    low, middle, high = np.percentile(counts, [10, 50, 90])
    shown = f"{middle:.0f} ({low:.0f}, {high:.0f})" if len(counts) > 1 else f"{middle:.0f}"
    print(f"| {collection} | {name} | {shown} | {middle / base:.1f} | {right} |", flush=True)


def pairs(trials, collections):
    """The same of every two settings by themselves, by how far apart they are."""
    print("\n| collection | apart | pairs | ours | random | random / ours | pool / ours | right |")
    print("|---|---|---|---|---|---|---|---|")
    for collection in collections:
        rows = [_pair(collection, two, trials) for two in combinations(collection.settings, 2)]
        for low, high in ((0, 0.02), (0.02, 0.05), (0.05, 0.1), (0.1, 1)):
            own = np.array([row for row in rows if low <= row[0] < high])
            if len(own):
                ours, random = np.median(own[:, 1:3], axis=0)
                right, other = own[:, 4:].mean(axis=0)
                print(
                    f"| {collection.name} | {low} to {high} | {len(own)} | {ours:.0f} | {random:.0f} "
                    f"| {np.median(own[:, 2] / own[:, 1]):.1f} | {np.median(own[:, 3] / own[:, 1]):.1f} "
                    f"| {right:.0%}, {other:.0%} |",
                    flush=True,
                )


def _pair(collection, two, trials):
    pool = pool_of(of_settings(collection, two))
    true = truth(pool, collection.labels)
    found = []
    for order in (by_effect, at_random):
        run = partial(order, batch=batch_of(pool))
        found.append([stop(pool, collection.labels, run, seed)[:2] for seed in range(trials)])
    counts = [np.median([one[0] for one in own]) for own in found]
    right = [np.mean([true.max() - true[one[1]] < ALIKE for one in own]) for own in found]
    return abs(true[0] - true[1]), *counts, len(pool.ids), *right


def cover(trials, collections):
    """Coverage of the difference by all labels, at several numbers of labels."""
    print("\n| collection | labels | covered | of how many | half-width | half-width at random |")
    print("|---|---|---|---|---|---|")
    for collection in collections:
        pool = pool_of(collection)
        true = truth(pool, collection.labels)
        batch = batch_of(pool)
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
    leader = int(true.argmax())
    found = {mark: ([], []) for mark in marks}
    for seed in range(trials):
        for count, now in order(pool, labels, seed, limit=marks[-1], batch=batch):
            if count not in found:
                continue
            halves = now.halves_from(leader, 0.025)
            for other in range(len(true)):
                if other != leader:
                    apart = now.means[leader] - now.means[other]
                    missed = abs(apart - (true[leader] - true[other]))
                    found[count][0].append(missed <= halves[other])
                    found[count][1].append(halves[other])
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
    """The value of a judge's grades: half-widths with and without, and coverage with."""
    print("\n| collection | judge | labels | covered | half-width with | without |")
    print("|---|---|---|---|---|---|")
    pairs = judged_pairs()
    cases = [(with_judge(one), one, "made up") for one in collections]
    cases.append((pairs, _without(pairs), "a language model"))
    for collection, plain, what in cases:
        pool, bare = pool_of(collection), pool_of(plain)
        true = truth(pool, collection.labels)
        batch = batch_of(pool)
        marks = [4 * batch, 8 * batch]
        if len(pool.ids) < 500:
            batch, marks = 10, [40, 80]
        found = _covered(pool, collection.labels, true, by_effect, batch, marks, trials)
        other = _covered(bare, collection.labels, true, by_effect, batch, marks, max(trials // 5, 5))
        for mark in marks:
            hits, halves = found[mark]
            print(
                f"| {collection.name} | {what} | {mark} | {_share(hits)} | {np.mean(halves):.3f} "
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


COLLECTIONS = {"dl19": dl19, "dl23": dl23, "chunking": chunking, "cranfield": cranfield}
TABLES = {"soonest": soonest, "pairs": pairs, "cover": cover, "queries": queries, "judge": judge}


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
