"""Print the tables of docs/meridian.md from the results of the full study of the shipped collection.

harness bench configs/meridian.yaml
python benchmarks/meridian_types.py
"""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.all_pairs import compare_all
from harness.comparison import Comparison, ScoreMatrix, finding_words
from harness.comparison.scores import trust_of
from harness.comparison.stored import read_stored, scores_of
from harness.report import PriceRow, SummaryRow, read_any, read_summary

RESULTS = Path("results/meridian")
QUERIES = Path("corpora/meridian/queries.csv")
STAGES = {"retrieve": "dense", "rerank": "dense + late interaction"}
SHOWN = ("ndcg_evidence@5000", "ndcg_text@5000", "ndcg_exp@10", "recall@10", "judged@10")
BY_TYPE = ("ndcg_evidence@5000", "recall@10")
# The study's only series in which nothing but the size of the chunks differs.
SIZES = ("250/0", "500/0", "1000/0", "2000/0")
SIZE_PAIRS = list(combinations(SIZES, 2))
COMPARED = ("ndcg_evidence@5000", "ndcg_text@5000", "ndcg_exp@10")

Values = dict[tuple[str, str, str], dict[str, float]]


def read_values() -> Values:
    """(setting, stage, measure) → query id → value; NaN if a measure is undefined for the query."""
    values: Values = defaultdict(dict)
    with (RESULTS / "per_query.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["setting"].removeprefix("'"), row["stage"], row["measure"]
            values[key][row["query_id"]] = float(row["value"]) if row["value"] else math.nan
    return dict(values)


def read_types() -> dict[str, str]:
    """Query id → type."""
    with QUERIES.open(encoding="utf-8", newline="") as file:
        return {row["query_id"]: row["type"] for row in csv.DictReader(file)}


def print_table(head: list[str], rows: list[list[str]], text_columns: int) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" * text_columns + "|---:" * (len(head) - text_columns) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def lengths() -> dict[str, float]:
    """Setting → tokens of its median chunk."""
    with (RESULTS / "chunks.csv").open(encoding="utf-8", newline="") as file:
        return {row["setting"].removeprefix("'"): float(row["tokens_p50"]) for row in csv.DictReader(file)}


def settings_table(summary: list[SummaryRow], stage: str) -> None:
    """All settings of a stage, best first, over all queries."""
    tokens = lengths()
    read = {
        row.setting: row.tokens_read
        for row in read_any(RESULTS, PriceRow)
        if (row.stage, row.measure) == (stage, SHOWN[0])
    }
    found = {(row.setting, row.measure): row for row in summary if row.stage == stage and row.split == "all"}
    names = sorted({name for name, _ in found}, key=lambda name: -mean_of(found[name, SHOWN[0]]))
    rows = []
    for name in names:
        first = found[name, SHOWN[0]]
        interval = f"({mean_of(first, 'ci_low'):.3f} to {mean_of(first, 'ci_high'):.3f})"
        rest = [f"{mean_of(found[name, measure]):.3f}" for measure in SHOWN[1:]]
        rows.append(
            [name, f"{tokens[name]:.0f}", f"{mean_of(first):.3f} {interval}", f"{read[name]:,.0f}", *rest]
        )
    print(f"{STAGES[stage]}, {found[names[0], SHOWN[0]].n_queries} queries\n")
    print_table(["setting", "tokens, median", f"{SHOWN[0]} (95%)", "tokens read", *SHOWN[1:]], rows, 1)


def mean_of(row: SummaryRow, field: str = "mean") -> float:
    value = getattr(row, field)
    return math.nan if value is None else float(value)


def types_table(values: Values, types: dict[str, str]) -> None:
    """Best and worst (setting, stage) by ``BY_TYPE[0]``, for each query type with relevant text."""
    means = {
        (setting, stage): float(np.nanmean(list(scores.values())))
        for (setting, stage, measure), scores in values.items()
        if measure == BY_TYPE[0]
    }
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    for name, (setting, stage) in (("best", best), ("worst", worst)):
        print(f"{name}: {setting}, {STAGES[stage]}")
    print()
    scored = [q for q, value in values[*best, BY_TYPE[0]].items() if not math.isnan(value)]
    rows = []
    for kind, count in Counter(types[q] for q in scored).most_common():
        asked = [q for q in scored if types[q] == kind]
        cells = [
            f"{np.mean([values[*one, measure][q] for q in asked]):.2f}"
            for measure in BY_TYPE
            for one in (best, worst)
        ]
        rows.append([kind, str(count), *cells])
    head = [f"{measure}, {name}" for measure in BY_TYPE for name in ("best", "worst")]
    print_table(["type", "queries", *head], rows, 1)


def sizes_table(stage: str) -> None:
    """Paired differences between chunk sizes; the six intervals of a measure hold together with 95%."""
    stored = read_stored(RESULTS, stage)
    scores = scores_of({"": stored})
    grounds = replace(scores, trust=trust_of(scores))
    names = {size: setting_of(scores.matrices[COMPARED[0]].settings, size) for size in SIZES}
    found: dict[str, list[Comparison]] = {}
    for measure in COMPARED:
        matrix = only(scores.matrices[measure], list(names.values()))
        # about more questions on these documents: too few to say anything of new ones
        pairs = compare_all(replace(matrix, clusters=()), scores.options)
        found[measure] = [grounds.checked(one, one.pair, measure) for one in pairs]
    rows = []
    for one, other in SIZE_PAIRS:
        cells = [f"{one} − {other}"]
        for measure in COMPARED:
            pair = between(found[measure], names[one], names[other])
            if pair.low is None or pair.high is None:
                raise SystemExit(f"{measure} has too few values in {RESULTS}")
            cells += [
                f"{pair.difference:+.3f} ({pair.low:+.3f} to {pair.high:+.3f})",
                finding_words(pair, scores.options.tolerance),
            ]
        rows.append(cells)
    print(f"{STAGES[stage]}\n")
    print_table(["chunk sizes", *(c for m in COMPARED for c in (m, "found"))], rows, 1)


def between(found: list[Comparison], one: str, other: str) -> Comparison:
    """The first setting minus the second one."""
    pair = next(pair for pair in found if {pair.setting, pair.against} == {one, other})
    if pair.setting == one:
        return pair
    low = None if pair.high is None else -pair.high
    high = None if pair.low is None else -pair.low
    return replace(pair, setting=one, against=other, difference=-pair.difference, low=low, high=high)


def only(matrix: ScoreMatrix, settings: list[str]) -> ScoreMatrix:
    """Some of the settings."""
    rows = [matrix.settings.index(name) for name in settings]
    return replace(matrix, settings=tuple(settings), values=matrix.values[rows])


def setting_of(settings: tuple[str, ...], size: str) -> str:
    """The recursive setting of a size, by the end of its name."""
    found = {name for name in settings if name.startswith("recursive_token") and f"chunk={size}" in name}
    if len(found) != 1:
        raise SystemExit(f"{RESULTS} has {len(found)} settings with chunk={size}, not one: {sorted(found)}")
    return found.pop()


def main() -> None:
    summary, _ = read_summary(RESULTS)
    values, types = read_values(), read_types()
    for stage in STAGES:
        settings_table(summary, stage)
    types_table(values, types)
    for stage in STAGES:
        sizes_table(stage)


if __name__ == "__main__":
    main()
