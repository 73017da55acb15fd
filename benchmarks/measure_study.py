"""Which measure can be trusted between chunkings? Prints the tables of docs/study-measure.md.

    python -m benchmarks.measure_study configs/study_measure_meridian.yaml --budget 5000
    python -m benchmarks.measure_study configs/study_measure_meridian.yaml --budget 5000 --bm25
    python -m benchmarks.measure_study configs/study_measure_chunking_eval.yaml --budget 5000 --bm25
    python -m benchmarks.measure_study configs/study_measure_financebench.yaml --budget 10000 --bm25 --own

Ranks the chunks of every setting for every query, by the retriever of the configuration or by BM25, and
scores the rankings by every candidate (``measure_candidates``) with the labels drawn in several ways.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.measure_answers import anchored, answers, keys, without_answer
from benchmarks.measure_candidates import CANDIDATES, HALF_OR_200, L, Values
from benchmarks.measure_systems import DEPTH, Study, System, first, prepared
from harness.measures import Scorer, median_length
from harness.measures.evidence_ndcg import gain_by_place, places
from harness.running.config.load import load_config
from harness.running.corpus import Corpus
from harness.values.types import Ranking

SEEDS = range(3)
DEPTHS = (1, 5, 20, 50)
ANCHORED = "answer, else half or 200"
SHOWN = ("ndcg_text", "half", "half or 100", "half or 200")
Means = dict[tuple[str, str, str], Values]


def scored(study: Study, corpus: Corpus) -> Means:
    """(candidate, setting, way) → the values of all queries."""
    values: Means = {}
    for way in study.ways:
        cores, drawn = anchored(study, corpus, way)
        for system in study.systems:
            if cores:
                trail = study.trail(system, way, drawn=drawn)
                core = np.array([key in cores for key in keys(trail.spans)])
                needed = np.where(core, trail.length, HALF_OR_200(trail))
                place = places(trail, needed)
                values[ANCHORED, system.name, way] = gain_by_place(trail, place, study.budget, 200, L)
            trail = study.trail(system, way)
            for name, compute in CANDIDATES.items():
                values[name, system.name, way] = compute(trail, study.budget)
    return values


CHUNK_LEVEL = "ndcg_exp@10"


def random_means(study: Study) -> dict[str, list[float]]:
    """By candidate, and by ``ndcg_exp@10``, the mean of every system over rankings drawn at random."""
    given = next(iter(study.ways))
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        for system in study.systems:
            ids = np.array(system.table.chunk_ids, dtype=object)
            depth = min(len(ids), 2 * DEPTH)
            scores = tuple(-float(i) for i in range(depth))
            drawn = [
                Ranking(query.query_id, tuple(ids[rng.permutation(len(ids))[:depth]]), scores)
                for query in study.queries
            ]
            trail = study.trail(system, given, drawn)
            for name, compute in CANDIDATES.items():
                found[name][system.name].append(float(compute(trail, study.budget).mean()))
            scorer = Scorer(study.queries, study.ways[given], system.table)
            chunks = scorer.score(drawn, [CHUNK_LEVEL]).values
            found[CHUNK_LEVEL][system.name].append(float(chunks.mean()))
    return {name: [float(np.mean(means)) for means in by.values()] for name, by in found.items()}


def lowered_by_reading_on(study: Study) -> dict[str, int]:
    """By candidate in how many (setting, query) a longer beginning of the ranking scores less."""
    given = next(iter(study.ways))
    counts: dict[str, int] = dict.fromkeys(CANDIDATES, 0)
    for system in study.systems:
        earlier: dict[str, Values] = {}
        lowered = {name: np.zeros(len(study.queries), dtype=bool) for name in CANDIDATES}
        for depth in (*DEPTHS, DEPTH):
            cut = [first(ranking, depth) for ranking in system.rankings]
            trail = study.trail(system, given, cut)
            for name, compute in CANDIDATES.items():
                now = compute(trail, study.budget)
                lowered[name] |= now < earlier.get(name, now) - 1e-9
                earlier[name] = now
        for name, flags in lowered.items():
            counts[name] += int(flags.sum())
    return counts


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" + "|---:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def stable_pairs(values: Means, study: Study, name: str, systems: Sequence[System]) -> tuple[int, int]:
    """The pairs of systems whose order is the same under every way of drawing, and all pairs."""
    pairs = list(combinations(systems, 2))
    stable = 0
    for one, other in pairs:
        signs = {
            np.sign(values[name, one.name, way].mean() - values[name, other.name, way].mean())
            for way in study.ways
        }
        stable += len(signs) == 1
    return stable, len(pairs)


def real_pairs(values: Means, study: Study, name: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The pairs of systems whose difference has a paired 95 % t interval off 0 with the labels as they are.

    For each the ways of drawing the labels under which it has another sign.
    """
    given = next(iter(study.ways))
    found = {}
    for one, other in combinations(study.systems, 2):
        gaps = values[name, one.name, given] - values[name, other.name, given]
        if abs(gaps.mean()) <= 1.98 * gaps.std(ddof=1) / np.sqrt(len(gaps)):
            continue
        found[one.name, other.name] = tuple(
            way
            for way in study.ways
            if np.sign((values[name, one.name, way] - values[name, other.name, way]).mean())
            != np.sign(gaps.mean())
        )
    return found


def print_study(study: Study, corpus: Corpus) -> None:
    values = scored(study, corpus)
    given = next(iter(study.ways))
    print(f"{len(study.queries)} queries, budget {study.budget} characters\n")
    print("Labels:\n")
    print_table(
        ["labels", "median characters"], [[w, f"{median_length(s):,.0f}"] for w, s in study.ways.items()]
    )
    for name in (name for name in (*SHOWN, ANCHORED) if (name, study.systems[0].name, given) in values):
        print(f"{name}:\n")
        rows = [
            [s.name, f"{s.length:,.0f}", *(f"{values[name, s.name, way].mean():.3f}" for way in study.ways)]
            for s in study.systems
        ]
        print_table(["setting", "median characters", *study.ways], rows)
    chance, lowered = random_means(study), lowered_by_reading_on(study)
    larger = [system for system in study.systems if system.length >= 150]
    rows = []
    for name in dict.fromkeys(name for name, *_ in values):
        every, of = stable_pairs(values, study, name, study.systems)
        some, of_some = stable_pairs(values, study, name, larger)
        real = real_pairs(values, study, name)
        most = max(v.max() for (candidate, *_), v in values.items() if candidate == name)
        rows.append(
            [
                name,
                f"{every} of {of}",
                f"{some} of {of_some}",
                f"{sum(not ways for ways in real.values())} of {len(real)}",
                f"{most:.3f}",
                f"{min(chance[name]):.3f}–{max(chance[name]):.3f}" if name in chance else "–",
                str(lowered.get(name, "–")),
            ]
        )
    head = [
        "candidate",
        "order holds",
        "of chunks from 150",
        "of differences off 0",
        "highest value",
        "random rankings",
        "lowered",
    ]
    print_table(head, rows)
    print("Differences off 0 under half or 200 that turn:\n")
    turned = real_pairs(values, study, "half or 200").items()
    print_table(["of", "under"], [[" − ".join(pair), ", ".join(ways)] for pair, ways in turned if ways])
    print("Random rankings:\n")
    names = (CHUNK_LEVEL, *SHOWN)
    rows = [[s.name, *(f"{chance[name][i]:.3f}" for name in names)] for i, s in enumerate(study.systems)]
    print_table(["setting", *names], rows)
    labels = study.ways[given]
    known = len(answers(study, corpus, given))
    print(f"{known} of {(labels.grade >= 3).sum()} spans of grade 3 or more hold figures of the answer\n")
    if any(more.get("answer") for more in corpus.queries.extras.values()):
        for way in (next(iter(study.ways)), "padded by 250"):
            rows = [
                [rule, f"{lacking:,} of {total:,}", f"{lacking / total:.1%}" if total else "–"]
                for rule, (total, lacking) in without_answer(study, corpus, way).items()
            ]
            print(f"Found without the answer's figures, labels {way}:\n")
            print_table(["rule", "found without", "share"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("--budget", type=int, default=5000, help="characters to read")
    parser.add_argument("--bm25", action="store_true", help="rank by BM25 and embed nothing")
    parser.add_argument(
        "--own",
        action="store_true",
        help="with --bm25: rank only chunks of the documents that the labels of the query are in",
    )
    args = parser.parse_args()
    study, corpus = prepared(load_config(args.config), args.budget, args.bm25, args.own)
    print_study(study, corpus)


if __name__ == "__main__":
    main()
