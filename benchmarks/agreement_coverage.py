"""Do intervals of agreement hold with few queries? Coverage on populations like the public judgments.

    python -m benchmarks.agreement_coverage [FOLDER] [--trials 1000] [--queries 12 25 50] [--percentile]

FOLDER holds the files of judge_agreement.py. A query of the population is a published one, chosen by chance,
whose shares of (human grade, judge's grade) are shaken: Dirichlet with concentration 60 about its own table
mixed with 15 % of the mean one; it has as many pairs. The truth is the coefficient over 40,000 such queries.
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np

from harness.comparison.stats import bootstrap, jackknife
from harness.judge.rater_agreement import cohen_kappa, krippendorff_alpha

CASES = (
    ("llmjudge_dl23.csv", "h2oloo-fewself", 4),
    ("llmjudge_dl23.csv", "TREMA-4prompts", 4),
    ("rag25_umbrela.csv", "umbrela2", 5),
)
CONCENTRATION = 60
SHARED_PART = 0.15
KINDS = ("kappa", "quadratic kappa", "alpha")


def read_tables(path, judge, grades):
    """Counts [queries, grades, grades] of one judge: rows are human grades."""
    tables = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["model"] == judge and row["llm_grade"] and int(row["llm_grade"]) < grades:
                table = tables.setdefault(row["query_id"], np.zeros((grades, grades)))
                table[int(row["human_grade"]), int(row["llm_grade"])] += 1
    return np.array(list(tables.values()))


def draw(tables, queries, rng):
    """Tables of new queries, [queries, grades, grades]."""
    grades = tables.shape[1]
    picked = rng.integers(len(tables), size=queries)
    shares = (tables + SHARED_PART * tables.mean(axis=0))[picked].reshape(queries, -1)
    shares /= shares.sum(axis=1, keepdims=True)
    shaken = rng.gamma(CONCENTRATION * shares + 1e-9)
    shaken /= shaken.sum(axis=1, keepdims=True)
    counts = tables.sum(axis=(1, 2))[picked].astype(int)
    return rng.multinomial(counts, shaken).reshape(queries, grades, grades)


def rows_of(tables):
    """Query, human grade and judge's grade of every pair."""
    query, human, judge = np.nonzero(tables)
    times = tables[query, human, judge]
    return tuple(np.repeat(column, times) for column in (query, human, judge))


def coefficient(kind, human, judge, grades):
    if kind == "alpha":
        return krippendorff_alpha(np.stack([human, judge]).astype(float))
    return cohen_kappa(human, judge, grades, kind == "quadratic kappa")


def whole_queries(statistic, query, seed):
    """The bootstrap interval of a coefficient of rows, each drawn with all rows of its query."""
    rows = [np.flatnonzero(query == one) for one in np.unique(query)]
    return bootstrap(lambda drawn: statistic(np.concatenate([rows[i] for i in drawn])), len(rows), 300, seed)


def simulate(tables, queries, trials, *, percentile=False, seed=5):
    """The share of intervals that hold the truth, by coefficient."""
    grades = tables.shape[1]
    # Of very many queries only the sums matter.
    whole = sum(draw(tables, 4000, np.random.default_rng(90 + part)).sum(axis=0) for part in range(10))
    human, judge = rows_of(whole[None] // 50)[1:]
    truth = {kind: coefficient(kind, human, judge, grades) for kind in KINDS}
    hits = dict.fromkeys(KINDS, 0)
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        query, human, judge = rows_of(draw(tables, queries, rng))
        for kind in KINDS:

            def statistic(rows, kind=kind, human=human, judge=judge):
                return coefficient(kind, human[rows], judge[rows], grades)

            found = whole_queries(statistic, query, trial) if percentile else jackknife(statistic, query)
            hits[kind] += found.low is not None and found.low <= truth[kind] <= found.high
    return {kind: count / trials for kind, count in hits.items()}


def main():
    shared = Path(os.environ.get("HARNESS_SHARED", Path(__file__).parents[1] / ".." / "shared"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=shared / "corpora" / "judge-agreement")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--queries", type=int, nargs="+", default=[12])
    parser.add_argument("--percentile", action="store_true", help="also percentiles of a bootstrap; slow")
    options = parser.parse_args()
    print("| like | interval | queries | kappa | quadratic kappa | alpha (ordinal) |")
    print("|---|---|---|---|---|---|")
    for name, judge, grades in CASES:
        tables = read_tables(options.folder / name, judge, grades)
        for queries in options.queries:
            _line(judge, "jackknife", queries, simulate(tables, queries, options.trials))
            if options.percentile:
                found = simulate(tables, queries, options.trials, percentile=True)
                _line(judge, "percentile bootstrap", queries, found)


def _line(judge, how, queries, found):
    print(f"| {judge} | {how} | {queries} | " + " | ".join(f"{found[kind]:.1%}" for kind in KINDS) + " |")


if __name__ == "__main__":
    main()
