"""The tables of docs/scale.md about samples, from what `python -m benchmarks.scale_sample` has measured."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

SAMPLES = Path(__file__).parent / "scale_sample.json"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown; the first column is text."""
    lines = [f"| {' | '.join(head)} |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


@dataclass(frozen=True)
class Samples:
    """The samples of one collection; ``full`` is the whole pool."""

    rows: Sequence[Mapping[str, Any]]

    @property
    def full(self) -> Mapping[str, Any]:
        """The whole pool."""
        return next(row for row in self.rows if row["size"] is None)

    def by_size(self) -> dict[float | None, list[Mapping[str, Any]]]:
        """The samples of each size, the whole pool last."""
        found: dict[float | None, list[Mapping[str, Any]]] = {}
        for row in sorted(self.rows, key=lambda row: math.inf if row["size"] is None else row["size"]):
            found.setdefault(row["size"], []).append(row)
        return found

    def lost(self, row: Mapping[str, Any], measure: str) -> float:
        """What the choice by a sample has lost of the whole pool's value."""
        full = self.full["means"][measure]
        return float(max(full.values()) - full[best(row["means"][measure])])

    def turned(self, rows: Sequence[Mapping[str, Any]], measure: str) -> tuple[int, int]:
        """How many pairs that samples told apart are the other way round in the pool, and of how many."""
        full = self.full["means"][measure]
        pairs = [pair for row in rows for pair in row["differ"]]
        return sum(full[better] < full[worse] for better, worse in pairs), len(pairs)


def tau(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Kendall's tau-b of two orders of the same settings, ties considered (Kendall 1945)."""
    signs = [
        tuple((values[a] > values[b]) - (values[a] < values[b]) for values in (one, other))
        for a, b in combinations(one, 2)
    ]
    untied = math.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))
    return sum(a * b for a, b in signs) / untied if untied else math.nan


def best(means: Mapping[str, float]) -> str:
    """The setting with the highest mean, the first of equals."""
    return max(means, key=means.__getitem__)


def interval(values: Sequence[float]) -> str:
    """The mean with its 95% t interval over samples; the value alone where there is one."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    return f"{mean(values):.3f} ± {half:.3f}"


def spread(values: Sequence[float]) -> str:
    """The mean with the lowest and highest; one value where all are equal."""
    low, high = min(values), max(values)
    return f"{mean(values):.2f}" if low == high else f"{mean(values):.2f} ({low:.2f} to {high:.2f})"


def levels(s: Samples, measure: str) -> str:
    """The mean of each setting by size, over samples."""
    sizes = s.by_size()
    names = sorted(s.full["means"][measure], key=lambda name: -s.full["means"][measure][name])
    rows = [
        [name, *(interval([row["means"][measure][name] for row in rows]) for rows in sizes.values())]
        for name in names
    ]
    return table([f"`{measure}`", *map(size_name, sizes)], rows)


def size_name(size: float | None) -> str:
    """A size as a head of a column."""
    return "all" if size is None else f"{size:g} ×"


def orders(s: Samples, measures: Sequence[str], compared: str) -> str:
    """How the order of the settings agrees with that of the whole pool."""
    full, rows = s.full["means"], []
    sizes = s.by_size()
    for measure in measures:
        taus = [[tau(row["means"][measure], full[measure]) for row in own] for own in sizes.values()]
        rows.append([f"`{measure}`: tau", *map(spread, taus)])
        kept = [
            (sum(best(row["means"][measure]) == best(full[measure]) for row in own), len(own))
            for own in sizes.values()
        ]
        rows.append([f"`{measure}`: best stays best", *(f"{a} of {b}" for a, b in kept)])
        lost = [max(s.lost(row, measure) for row in own) for own in sizes.values()]
        rows.append([f"`{measure}`: most lost by its choice", *(f"{one:.3f}" for one in lost)])
    told, wrong, found = [], [], []
    for own in sizes.values():
        turned, pairs = s.turned(own, compared)
        told.append(f"{pairs / len(own):.1f}")
        wrong.append(f"{turned} of {pairs}")
        same = sum(pair in row["differ"] for row in own for pair in s.full["differ"])
        found.append(f"{same / len(own):.1f} of {len(s.full['differ'])}")
    rows += [["pairs told apart, a sample", *told], ["of them the other way round in all", *wrong]]
    rows.append(["of those told apart in all, a sample", *found])
    return table(["", *map(size_name, sizes)], rows)


def answer(kept: Mapping[str, Mapping[str, Any]]) -> str:
    """What the samples of all collections say, in words."""
    samples, told, turned = 0, 0, 0
    falls: list[float] = []
    lost: dict[float, list[float]] = {}
    for one in kept.values():
        s = Samples(one["rows"])
        first = s.by_size()[0][0]["means"]
        measures = list(first)
        drawn = [row for row in s.rows if row["size"] is not None]
        wrong, pairs = s.turned(drawn, measures[-1])
        samples, told, turned = samples + len(drawn), told + pairs, turned + wrong
        for row in drawn:
            lost.setdefault(row["size"], []).extend(s.lost(row, measure) for measure in measures)
        falls += [value - s.full["means"][measures[0]][name] for name, value in first[measures[0]].items()]
    sizes = [
        f"  - with {size_name(size)} distractors {sum(one == 0 for one in own)} times of {len(own)}; the "
        f"choice lost up to {max(own):.3f}"
        for size, own in sorted(lost.items())
    ]
    return "\n".join(
        [
            f"- Two settings that a sample tells apart, it tells apart rightly: of {told} such pairs in",
            f"  {samples} samples, {turned} were the other way round in the whole pool, samples without any",
            "  distractor included.",
            "- Between settings that it leaves open, the higher mean is a guess. By either measure, the best",
            "  setting of a sample is the best of the whole pool",
            *sizes,
            f"- A sample does not give the level: NDCG@10 is {min(falls):.2f} to {max(falls):.2f} lower with",
            "  all distractors than with none, and falls by more for one setting than for another.",
        ]
    )


def sample_tables(path: Path = SAMPLES) -> dict[str, str]:
    """The tables of each collection, by the name of their part of the page."""
    collections = json.loads(path.read_text(encoding="utf-8"))
    made = {"sample answer": answer(collections)}
    for name, kept in collections.items():
        s = Samples(kept["rows"])
        measures = list(s.full["means"])
        chunks = " and ".join(f"{count:,}" for count in reversed(s.full["chunks"]))
        labelled = " and ".join(f"{count:,}" for count in reversed(s.by_size()[0][0]["chunks"]))
        most = max(map(len, s.by_size().values()))
        facts = (
            f"{kept['documents']} labelled documents of {kept['characters']:,} characters, cut into "
            f"{labelled} chunks;\na pool of {kept['pool']:,} documents, {s.full['ratio']:.1f} times as many "
            f"characters; {chunks} chunks in all. {most} samples of each size."
        )
        parts = [facts, orders(s, measures, measures[-1]), *(levels(s, measure) for measure in measures)]
        made[f"sample {name}"] = "\n\n".join(parts)
    return made
