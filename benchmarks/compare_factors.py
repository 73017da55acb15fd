"""How often do factors of a sweep err, and how much sooner do they find an effect than pairs of settings do?

python -m benchmarks.compare_factors [--trials 400]

A sweep of 2 chunk sizes × 3 searches × 2 rerankers is compared by 30, 50 and 135 questions. Chunk sizes have
an effect or none, searches and rerankers have none.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.compare_calibration import percent, table
from benchmarks.compare_populations import EQUAL, POPULATIONS, Population, draw, true_difference
from harness.comparison import Grounds, Options, ScoreMatrix, Scores, verdict_of
from harness.comparison.design import Factor, SweepDesign

SIZES = (30, 50, 135)
SHOWN = (POPULATIONS[0], POPULATIONS[3])
# the shift of the better chunk size (compare_populations.draw): the less, the better
EFFECTS = {"no effect": EQUAL, "chunks": 0.75}
DOCUMENTS, ALIKE = 24, 0.2
SEED, RESAMPLES = 5, 1_000
LEVELS = (("500", "1,000"), ("words", "vectors", "both"), ("reranked", "no reranker"))
CELLS = tuple(product(*LEVELS))
NAMES = tuple(", ".join(cell) for cell in CELLS)
DESIGN = SweepDesign(
    tuple(
        Factor(name, {setting: cell[place] for setting, cell in zip(NAMES, CELLS, strict=True)})
        for place, name in enumerate(("chunks", "search", "reranker"))
    ),
    {name: name for name in NAMES},
)


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of studies.

    ``false``: some effect that does not exist is called real; ``interaction``: some interaction is;
    ``covered``: the intervals of all effects hold the truth; ``found``: the effect of chunks is real;
    ``pairs``: the share of the pairs of settings with this difference alone that are real.
    """

    false: float
    interaction: float
    covered: float
    found: float
    pairs: float


def rates(population: Population, shift: float, n: int, trials: int, clustered: bool = False) -> Rates:
    """Simulated studies of ``n`` questions, alone or ``clustered`` on documents."""
    rng = np.random.default_rng(SEED)
    shifts = tuple(shift if cell[0] == "500" else EQUAL for cell in CELLS)
    truth = true_difference(population, shift)
    documents = np.sort(np.arange(n) % DOCUMENTS)
    out = np.zeros((trials, 5))
    for trial in range(trials):
        values = draw(population, shifts, (n,), rng)
        if clustered:
            own = rng.normal(0, values.std() * np.sqrt(ALIKE), (len(NAMES), DOCUMENTS))
            values = values + own[:, documents]
        clusters = tuple(f"d{i}" for i in documents) if clustered else ()
        matrix = ScoreMatrix(
            "ndcg_exp@10", NAMES, tuple(map(str, range(n))), values, ("train",) * n, clusters
        )
        grounds = Grounds(options=Options(resamples=RESAMPLES, seed=trial), design=DESIGN)
        verdict = verdict_of(Scores(matrices={matrix.measure: matrix}, **grounds.shared()))
        main = [(one.factor == "chunks", one.found) for one in verdict.effects.main]
        out[trial] = (
            any(one.real for of_chunks, one in main if not of_chunks or shift == EQUAL),
            bool(verdict.effects.interactions),
            all(
                (one.low or 0.0) - 1e-9 <= _true(one.setting, truth, of_chunks) <= (one.high or 0.0) + 1e-9
                for of_chunks, one in main
            ),
            any(one.real for of_chunks, one in main if of_chunks),
            np.mean([one.real for one in verdict.comparisons if _in_chunks_alone(one.setting, one.against)]),
        )
    return Rates(*out.mean(axis=0).tolist())


def _true(level: str, truth: float, of_chunks: bool) -> float:
    """The true effect of the level that a contrast names first."""
    return (truth if level == "500" else -truth) if of_chunks else 0.0


def _in_chunks_alone(one: str, other: str) -> bool:
    first, second = CELLS[NAMES.index(one)], CELLS[NAMES.index(other)]
    return first[0] != second[0] and first[1:] == second[1:]


def factor_table(trials: int) -> Iterator[str]:
    """One row a population, effect and number of questions."""
    yield from table(
        ("queries", "truth", "n", "false effect", "false interaction", "all covered", "found", "by pairs"),
        (
            (
                f"{population.name}{f', {DOCUMENTS} documents' if clustered else ''}",
                f"{effect} {true_difference(population, shift):+.3f}" if shift != EQUAL else effect,
                n,
                *map(percent, (got.false, got.interaction, got.covered)),
                *(map(percent, (got.found, got.pairs)) if shift != EQUAL else ("–", "–")),
            )
            for population, clustered in ((SHOWN[0], False), (SHOWN[1], False), (SHOWN[0], True))
            for effect, shift in EFFECTS.items()
            for n in SIZES
            for got in [rates(population, shift, n, trials, clustered)]
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400, help="studies a row")
    args = parser.parse_args()
    start = time.perf_counter()
    for line in factor_table(args.trials):
        print(line, flush=True)
    print(f"\n{args.trials} studies a row, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
