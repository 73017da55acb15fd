"""How often do factors of a sweep err, and how much sooner do they find an effect than pairs of settings do?

python -m benchmarks.compare_factors [--trials 400] [--sweep chunks]

A sweep of 2 chunk sizes × 3 searches × 2 rerankers is compared by 30, 50 and 135 questions, and one of 2
chunk sizes × 3 overlaps × 2 searches too. Chunk sizes have an effect or none, the others have none.
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
from harness.comparison.design import Factor, SweepDesign, design_of

SIZES = (30, 50, 135)
SHOWN = (POPULATIONS[0], POPULATIONS[3])
# the shift of the better chunk size (compare_populations.draw): the less, the better
EFFECTS = {"no effect": EQUAL, "chunks": 0.75}
DOCUMENTS, ALIKE = 24, 0.2
SEED, RESAMPLES = 5, 1_000
BETTER_SIZE = "500 characters"


def of_steps() -> SweepDesign:
    """Steps that are crossed."""
    levels = ((BETTER_SIZE, "1,000 characters"), ("words", "vectors", "both"), ("reranked", "no reranker"))
    cells = {", ".join(cell): cell for cell in product(*levels)}
    return SweepDesign(
        tuple(
            Factor(name, {setting: cell[place] for setting, cell in cells.items()})
            for place, name in enumerate(("chunk size", "search", "reranker"))
        ),
        {name: name for name in cells},
    )


def of_chunks() -> SweepDesign:
    """Two keys of the chunks that are crossed, and searches."""
    return design_of(
        {
            f"{size}/{overlap} {kind}": {
                "chunk": {"kind": "recursive", "chunk_size": size, "chunk_overlap": overlap},
                "retrieve": {"kind": kind},
            }
            for size, overlap, kind in product((500, 1000), (0, 50, 100), ("bm25", "chroma"))
        }
    )


SWEEPS = {"steps": of_steps, "chunks": of_chunks}


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


def rates(
    population: Population, shift: float, n: int, trials: int, clustered: bool = False, sweep: str = "steps"
) -> Rates:
    """Simulated studies of ``n`` questions, alone or ``clustered`` on documents."""
    rng = np.random.default_rng(SEED)
    design = SWEEPS[sweep]()
    names = tuple(design.names)
    cells = {name: tuple(one.levels[name] for one in design.factors) for name in names}
    shifts = tuple(shift if cell[0] == BETTER_SIZE else EQUAL for cell in cells.values())
    truth = true_difference(population, shift)
    documents = np.sort(np.arange(n) % DOCUMENTS)
    out = np.zeros((trials, 5))
    for trial in range(trials):
        values = draw(population, shifts, (n,), rng)
        if clustered:
            own = rng.normal(0, values.std() * np.sqrt(ALIKE), (len(names), DOCUMENTS))
            values = values + own[:, documents]
        clusters = tuple(f"d{i}" for i in documents) if clustered else ()
        matrix = ScoreMatrix(
            "ndcg_exp@10", names, tuple(map(str, range(n))), values, ("train",) * n, clusters
        )
        grounds = Grounds(options=Options(resamples=RESAMPLES, seed=trial), design=design)
        verdict = verdict_of(Scores(matrices={matrix.measure: matrix}, **grounds.shared()))
        main = [(one.factor == "chunk size", one.found) for one in verdict.effects.main]
        out[trial] = (
            any(one.real for of_chunks, one in main if not of_chunks or shift == EQUAL),
            bool(verdict.effects.interactions),
            all(
                (one.low or 0.0) - 1e-9 <= _true(one.setting, truth, of_chunks) <= (one.high or 0.0) + 1e-9
                for of_chunks, one in main
            ),
            any(one.real for of_chunks, one in main if of_chunks),
            np.mean(
                [
                    one.real
                    for one in verdict.comparisons
                    if _in_size_alone(cells[one.setting], cells[one.against])
                ]
            ),
        )
    return Rates(*out.mean(axis=0).tolist())


def _true(level: str, truth: float, of_chunks: bool) -> float:
    """The true effect of the level that a contrast names first."""
    return (truth if level == BETTER_SIZE else -truth) if of_chunks else 0.0


def _in_size_alone(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    return first[0] != second[0] and first[1:] == second[1:]


def factor_table(trials: int, sweep: str) -> Iterator[str]:
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
            for got in [rates(population, shift, n, trials, clustered, sweep)]
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400, help="studies a row")
    parser.add_argument("--sweep", choices=SWEEPS, default="steps", help="what is crossed")
    args = parser.parse_args()
    start = time.perf_counter()
    for line in factor_table(args.trials, args.sweep):
        print(line, flush=True)
    print(f"\n{args.trials} studies a row, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
