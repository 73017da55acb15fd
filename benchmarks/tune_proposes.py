"""What a sampler finds in ranges, against as many settings that are drawn evenly from them.

    python -m benchmarks.tune_proposes [--trials 30] [--seeds 8]

BM25 over the documents of the quickstart; chunk size, overlap, k1 and b are ranges. For each seed the sampler
proposes settings by their means on the train queries, and as many others are drawn evenly and scored there.
The best of each by the train queries is then scored on the validation queries, which neither has seen.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks.compare_calibration import table
from harness.running import load_tuning
from harness.running.config.models import BenchConfig, Setting
from harness.running.config.space import Space
from harness.running.config.tune_keys import PartConfig
from harness.running.tuning.sampling import Sampled, sample
from harness.running.tuning.screen import screen
from harness.values import Silent

MEASURE = "ndcg_evidence@5000"
KEYS: dict[str, Any] = {
    "name": "proposes",
    "documents": ["corpora/meridian/documents/*", "corpora/meridian/more/*"],
    "queries": "corpora/meridian/quickstart_queries.csv",
    "labels": "corpora/meridian/quickstart_judged.csv",
    "chunk": {
        "kind": "recursive",
        "chunk_size": {"from": 200, "to": 2000, "log": True},
        "chunk_overlap": {"from": 0, "to": 150},
    },
    "retrieve": {
        "kind": "bm25",
        "top_chars": 6000,
        "k1": {"from": 0.3, "to": 2.5},
        "b": {"from": 0.1, "to": 0.95},
    },
    "measures": [MEASURE],
}
TRAIN = PartConfig(split="train")


def best_of(config: BenchConfig) -> tuple[Setting, float, float]:
    """The best setting by the train queries, with its mean there and on the validation queries."""
    train = screen(config.model_copy(update={"part": TRAIN}), MEASURE, Silent())
    means = train.seen.matrix.defined().means
    chosen = config.settings[int(means.argmax())]
    whole = screen(config.model_copy(update={"settings": (chosen,)}), MEASURE, Silent()).seen.matrix.defined()
    held_out = whole.only(np.array([split == "validation" for split in whole.splits]))
    return chosen, float(means.max()), float(held_out.means[0])


def proposed(config: BenchConfig, space: Space) -> BenchConfig:
    """The configuration with settings that the sampler proposes."""
    reporters = Silent(), Silent()
    return sample(config, space, Sampled(), TRAIN, MEASURE, reporters, lambda: None)


def main() -> None:
    """Print what either finds, seed by seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=30, help="settings of each (default: 30)")
    parser.add_argument("--seeds", type=int, default=8, help="so many searches (default: 8)")
    args = parser.parse_args()
    rows, gains = [], []
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        outputs = {"cache": f"{folder}/cache", "results": f"{folder}/results"}
        for seed in range(1, args.seeds + 1):
            tune = {"strategy": "tpe", "trials": args.trials, "seed": seed}
            config, space = load_tuning({**KEYS, **outputs, "tune": tune})
            assert space is not None
            sampler, even = best_of(proposed(config, space)), best_of(config)
            gains.append((sampler[1] - even[1], sampler[2] - even[2]))
            numbers = (sampler[1], even[1], sampler[2], even[2])
            rows.append([str(seed), *(f"{number:.3f}" for number in numbers), sampler[0].name])
    mean, deviation = np.mean(gains, axis=0), np.std(gains, axis=0, ddof=1)
    head = [
        "seed",
        "train, sampler",
        "train, even",
        "validation, sampler",
        "validation, even",
        "setting of the sampler",
    ]
    print("\n".join(table(head, rows)))
    for place, name in enumerate(("train", "validation")):
        ahead = sum(gain[place] > 0 for gain in gains)
        print(
            f"{name}: the sampler is ahead by {mean[place]:+.3f} on average (standard deviation "
            f"{deviation[place]:.3f}), with {ahead} of {len(gains)} seeds"
        )
    print(f"CPU seconds: {time.process_time() - begun:.0f}")


if __name__ == "__main__":
    main()
