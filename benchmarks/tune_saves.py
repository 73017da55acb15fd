"""What `harness tune` saves on documents, most of which have no label, and what its choice is worth.

    python -m benchmarks.tune_saves [--settings 18 60] [--distractors 10] [--budget "50 %"] [--orders 200]
    python -m benchmarks.tune_saves --judge [--settings 18]

The labelled part are the short documents of the quickstart; distractors are those of benchmarks/scale_sample,
as many times its characters. BM25 searches chunks of several sizes. One full sweep and one `tune` run from an
empty cache each, and their processor seconds are counted for this process, with the plan. Then documents are
drawn with replacement and queries in another order, again and again: the first stage chooses by what all
settings score on its part of the text, and the last one by what they score in the full sweep. A choice is
good if the mean of its setting in the sweep is within the tolerance of the best. `among` and `dropped` say
how often each bound covered what the choice loses in the sweep, or on the text of the first stage.

--judge takes short documents of the quickstart without distractors, and a judge on a local server that grades
by rules and has a price: what a sweep and a search spend.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.compare_calibration import percent, table
from benchmarks.rule_endpoint import Rules, server
from benchmarks.scale_sample import ROOT, Study, parts_of
from harness.comparison import Options, ScoreMatrix, SeenStage, read_stored, staged_bounds
from harness.measures import Ints
from harness.running import load_config, open_course, run_course
from harness.running.bench.job import run_or_reuse
from harness.running.config.models import BenchConfig
from harness.running.tuning.course import survivors
from harness.running.tuning.screen import screen
from harness.store import CacheLayout, Ledger
from harness.values import Silent

MEASURE = "ndcg_evidence@5000"
TOLERANCE = 0.02
RESAMPLES = 300
# so many settings, as values of the keys that are varied
SWEEPS: dict[int, dict[str, Any]] = {
    6: {"sizes": [300, 700, 1500], "overlaps": [0], "k1": [0.8, 1.6], "b": [0.75]},
    18: {"sizes": [300, 700, 1500], "overlaps": [0, 50], "k1": [0.6, 1.2, 1.8], "b": [0.75]},
    60: {"sizes": [250, 400, 700, 1100, 1800], "overlaps": [0, 50], "k1": [0.6, 1.2, 1.8], "b": [0.4, 0.75]},
}
PRICES = {"fake-1": {"input": 10.0, "output": 100.0}}


def keys_of(count: int) -> dict[str, Any]:
    """The part of a configuration that is a sweep of so many settings."""
    sweep = SWEEPS[count]
    return {
        "chunk": {"kind": "recursive", "chunk_size": sweep["sizes"], "chunk_overlap": sweep["overlaps"]},
        "retrieve": {"kind": "bm25", "top_chars": 6000, "k1": sweep["k1"], "b": sweep["b"]},
        "measures": [MEASURE],
        "bootstrap": {"resamples": 1000},
    }


def configured(folder: Path, name: str, keys: dict[str, Any], budget: str) -> BenchConfig:
    """A configuration with a cache of its own, so that nothing is there before."""
    tune = {"budget": budget, "tolerance": TOLERANCE}
    outputs = {"cache": str(folder / f"cache-{name}"), "results": str(folder / "results")}
    return load_config({"name": name, **keys, **outputs, "tune": tune})


def make_corpus(folder: Path, distractors: float) -> dict[str, Any]:
    """Write documents, queries and labels; the keys that name them."""
    parts, queries = parts_of("meridian", ROOT / "configs" / "quickstart.yaml", folder / "cache-parts")
    drawn = replace(parts, pool=parts.sample(distractors, seed=len(parts.pool)))
    Study(drawn, queries, folder, {})
    return {
        "documents": [str(folder / "labelled" / "*.txt"), str(folder / "pool" / "*.txt")],
        "queries": str(folder / "queries.csv"),
        "labels": str(folder / "labels.csv"),
        "anchor": {"duplicates": False},
        "relevance": {"judge": "labels"},
    }


def timed(work: Any) -> tuple[Any, float]:
    """What ``work`` returns, and the processor seconds that it took."""
    begun = time.process_time()
    value = work()
    return value, time.process_time() - begun


def tune(config: BenchConfig) -> Any:
    """Plan and run to the end."""
    course, _ = open_course(config, Silent())
    return course, run_course(config, course, Silent())


@dataclass(frozen=True)
class Sweep:
    """All settings on the part of the first stage, with all train queries, and on everything."""

    first: ScoreMatrix
    whole: ScoreMatrix
    share: float
    leave: int


def drawn_again(matrix: ScoreMatrix, clusters: Sequence[str], rng: np.random.Generator, share: float) -> Ints:
    """The places of a share of the queries of each cluster, which may be drawn several times."""
    places = [np.flatnonzero(np.array(matrix.clusters) == cluster) for cluster in clusters]
    kept = [rng.permutation(of)[: max(1, round(share * len(of)))] for of in places if len(of)]
    return np.concatenate(kept)


def part_of(matrix: ScoreMatrix, columns: Ints, copies: Ints, rows: Sequence[int]) -> ScoreMatrix:
    """Some settings on drawn queries; the copies of a document are documents of their own."""
    return ScoreMatrix(
        matrix.measure,
        tuple(matrix.settings[row] for row in rows),
        tuple(f"{matrix.query_ids[at]}.{copy}" for at, copy in zip(columns, copies, strict=True)),
        matrix.values[np.ix_(list(rows), columns)],
        ("train",) * len(columns),
        tuple(f"{matrix.clusters[at]}.{copy}" for at, copy in zip(columns, copies, strict=True)),
    )


def order(sweep: Sweep, rng: np.random.Generator) -> tuple[float, bool, bool]:
    """What a search in another order loses on the whole, and whether either bound covers it."""
    names = list(dict.fromkeys(sweep.whole.clusters))
    clusters = rng.choice(names, len(names))
    every = range(len(sweep.whole.settings))
    firsts, lasts = [], []
    for copy, cluster in enumerate(clusters):
        for matrix, share, kept in ((sweep.first, sweep.share, firsts), (sweep.whole, 1.0, lasts)):
            if cluster in matrix.clusters:
                columns = drawn_again(matrix, [cluster], rng, share)
                kept.append((columns, np.full(len(columns), copy)))
    seen = part_of(sweep.first, *_joined(firsts), every)
    left = survivors(SeenStage(seen, "part"), sweep.leave)
    rows = [sweep.whole.settings.index(name) for name in left]
    last = part_of(sweep.whole, *_joined(lasts), rows)
    options = Options(resamples=RESAMPLES, seed=int(rng.integers(1 << 30)), tolerance=TOLERANCE)
    bounds = staged_bounds([SeenStage(seen, "part"), SeenStage(last, "whole")], options)
    chosen = rows[int(last.means.argmax())]
    name = sweep.whole.settings[chosen]
    truth, on_part = sweep.whole.means, sweep.first.means
    gone = [row for row in every if row not in rows]
    among = truth[rows].max() - truth[chosen] <= bounds.survivors[name] + 1e-9
    dropped = on_part[gone].max() - on_part[chosen] <= bounds.against_dropped(name) + 1e-9
    return float(truth.max() - truth[chosen]), bool(among), bool(dropped)


def _joined(kept: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    return np.concatenate([columns for columns, _ in kept]), np.concatenate([copies for _, copies in kept])


def saving(folder: Path, count: int, distractors: float, budget: str, orders: int) -> Iterator[object]:
    """The cells of a row of the table."""
    keys = {**make_corpus(folder, distractors), **keys_of(count)}
    config = configured(folder, f"tune{count}", keys, budget)
    (course, tuned), searched = timed(lambda: tune(config))
    whole = configured(folder, f"sweep{count}", keys, budget)
    run, swept = timed(lambda: run_or_reuse(whole, Silent()))
    stages = course.ladder.stages
    matrix = read_stored(run.folder).matrix(MEASURE).defined()
    options = Options(resamples=whole.bootstrap.resamples, seed=whole.bootstrap.seed, tolerance=TOLERANCE)
    # what the sweep bounds of the same setting against the same others
    setting, left = tuned.standing.setting, list(tuned.standing.bounds.survivors)
    full = staged_bounds([SeenStage(matrix, "whole")], options).survivors[setting]
    cells = sum(stage.enter * stage.queries for stage in stages)
    yield count
    yield f"{distractors:g} ×"
    yield ", ".join(
        f"{stage.enter} on {100 * stage.part.text:g} % and {stage.queries} queries" for stage in stages
    )
    yield f"{swept:.0f}"
    yield f"{searched:.0f}"
    yield f"{swept / searched:.1f} ×"
    yield f"{count * stages[-1].queries / cells:.1f} ×"
    yield f"{matrix.means.max() - matrix.means[matrix.settings.index(setting)]:.3f}"
    yield f"{tuned.standing.bounds.survivors[setting]:.3f} of {len(left)}"
    yield f"{full:.3f}"
    yield f"{tuned.standing.bounds.against_dropped(setting):.3f}"
    # not counted above: the first part with all train queries, so that they can be drawn
    part = stages[0].part.model_copy(update={"queries": 1.0})
    first = screen(config.model_copy(update={"part": part}), MEASURE, Silent()).seen.matrix.defined()
    sweep = Sweep(first, matrix, stages[0].part.queries, stages[-1].enter)
    rng = np.random.default_rng(5)
    tried = [order(sweep, rng) for _ in range(orders)]
    yield percent(float(np.mean([lost <= TOLERANCE for lost, _, _ in tried])))
    yield f"{float(np.mean([lost for lost, _, _ in tried])):.3f}"
    yield percent(float(np.mean([among for _, among, _ in tried])))
    yield percent(float(np.mean([dropped for _, _, dropped in tried])))


HEADER = (
    *("settings", "distractors", "stages", "CPU s, sweep", "CPU s, tune", "saved", "settings × queries"),
    *("lost", "bound among", "sweep's bound", "bound dropped"),
    *("orders within .02", "mean loss", "among held", "dropped held"),
)


def judged(folder: Path, count: int, budget: str) -> Iterator[object]:
    """What a sweep and a search spend on a priced judge, and what the plan expected."""
    collection = ROOT / "corpora" / "meridian"
    queries = collection / "quickstart_queries.csv"
    serving = server(0, Rules.of(queries))
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    try:
        endpoint = {
            "model": "fake-1",
            "base_url": f"http://127.0.0.1:{serving.server_port}/v1",
            "api_key_env": None,
        }
        keys = {
            "documents": [str(collection / "more" / "*")],
            "queries": str(queries),
            **keys_of(count),
            "relevance": {
                "judge": "llm",
                "endpoint": endpoint,
                "pool": {"unit": "passage", "depth": 3, "passage_chars": 500},
                "prices": PRICES,
            },
        }
        config = configured(folder, f"judged{count}", keys, budget)
        (course, tuned), _ = timed(lambda: tune(config))
        whole = configured(folder, f"alljudged{count}", keys, budget)
        run = run_or_reuse(whole, Silent())
        matrix = read_stored(run.folder).matrix(MEASURE).defined()
        setting = tuned.standing.setting
        spent, swept = paid(config), paid(whole)
        yield count
        yield ", ".join(f"{stage.enter} on {stage.queries} queries" for stage in course.ladder.stages)
        yield f"{swept[1]:.2f} ({swept[0]:,} calls)"
        yield f"{spent[1]:.2f} ({spent[0]:,} calls)"
        yield f"{swept[1] / spent[1]:.1f} ×"
        yield f"{course.ladder.outlay.money:.2f} of {course.ladder.whole.money:.2f}"
        yield f"{matrix.means.max() - matrix.means[matrix.settings.index(setting)]:.3f}"
        yield f"{tuned.standing.bounds.survivors[setting]:.3f}"
    finally:
        serving.shutdown()
        thread.join()


def paid(config: BenchConfig) -> tuple[int, float]:
    """The calls in the ledger of a configuration's cache, and their price."""
    with Ledger(CacheLayout(config.cache).ledger) as ledger:
        prices = [entry.price or 0.0 for entry in ledger.entries()]
    return len(prices), sum(prices)


JUDGED = (
    *("settings", "stages", "sweep, price", "tune, price", "saved", "planned"),
    *("lost", "bound among"),
)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--settings", type=int, nargs="+", choices=SWEEPS, default=[18])
    parser.add_argument("--distractors", type=float, default=10)
    parser.add_argument("--budget", default="50 %")
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("--judge", action="store_true", help="a priced judge on a local server instead")
    args = parser.parse_args()
    rows = []
    for count in args.settings:
        with tempfile.TemporaryDirectory() as folder:
            if args.judge:
                row = judged(Path(folder), count, args.budget)
            else:
                row = saving(Path(folder), count, args.distractors, args.budget, args.orders)
            rows.append(tuple(row))
    print("\n".join(table(JUDGED if args.judge else HEADER, rows)))


if __name__ == "__main__":
    main()
