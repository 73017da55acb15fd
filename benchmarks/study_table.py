"""The settings of a result in one table: quality by split, other documents, tokens, relative time.

    python -m benchmarks.study_table results/study_within --baseline "exact"

Reads summary.csv, rankings.csv, judgments.csv and, where it was measured, latency.csv of a result.
Time is the median of a whole query, divided by that of ``--baseline`` in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from benchmarks.other_documents import shares
from harness.report.read import read_table
from harness.values.errors import HarnessError

SHOWN = ("recall@10", "tokens@10")


def last_stages(folder: Path) -> dict[str, str]:
    """The last step of every setting, routes left out."""
    stages = read_table(folder, "summary")[["setting", "stage"]].itertuples(index=False)
    return {str(row.setting): str(row.stage) for row in stages if "." not in str(row.stage)}


def means(folder: Path) -> dict[tuple[str, str, str, str], float]:
    """The means of a result by setting, stage, measure and split."""
    rows = read_table(folder, "summary").itertuples(index=False)
    return {(row.setting, row.stage, row.measure, row.split): float(row.mean) for row in rows}


def medians(folder: Path) -> dict[str, float]:
    """By setting the median milliseconds of a whole query, reading included; none if not measured."""
    try:
        rows = read_table(folder, "latency").itertuples(index=False)
    except HarnessError:
        return {}
    last = {row.setting: float(row.total_p50) for row in rows if "." not in row.stage}
    return {setting: median for setting, median in last.items() if median == median}


def table(folder: Path, measure: str, baseline: str | None) -> list[str]:
    """The lines of a Markdown table, the best setting first."""
    last, mean, other, taken = last_stages(folder), means(folder), shares(folder), medians(folder)
    if baseline is not None and baseline not in last:
        raise SystemExit(f"{folder} has no setting {baseline!r}. It has {', '.join(last)}.")

    def value(setting: str, name: str, split: str = "all") -> float:
        return mean[setting, last[setting], name, split]

    head = f"| setting | {measure} | train | validation | {' | '.join(SHOWN)} | other documents | time |"
    lines = [head, f"|---|{'---:|' * (head.count('|') - 2)}"]
    for setting in sorted(last, key=lambda one: -value(one, measure)):
        quality = [f"{value(setting, measure, split):.3f}" for split in ("all", "train", "validation")]
        shown = [f"{value(setting, 'recall@10'):.3f}", f"{value(setting, 'tokens@10'):,.0f}"]
        others = f"{other[setting, last[setting]][0]:.0%}" if (setting, last[setting]) in other else ""
        lines.append(
            f"| {' | '.join([setting, *quality, *shown, others, _ratio(taken, setting, baseline)])} |"
        )
    return lines


def chosen(folder: Path, measure: str) -> str:
    """The setting that is highest on train, with what it reaches on both splits."""
    last, mean = last_stages(folder), means(folder)
    best = max(last, key=lambda one: mean[one, last[one], measure, "train"])
    train, held_out = (mean[best, last[best], measure, split] for split in ("train", "validation"))
    return f"Highest on train: {best} ({train:.3f}); on validation it has {held_out:.3f}."


def _ratio(taken: Mapping[str, float], setting: str, baseline: str | None) -> str:
    if baseline is None or setting not in taken or baseline not in taken:
        return ""
    return f"{taken[setting] / taken[baseline]:.1f}"


def main() -> None:
    """Print the table and the choice on train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--measure", default="ndcg_text@10000")
    parser.add_argument("--baseline", help="the setting whose time is 1")
    args = parser.parse_args()
    print("\n".join(table(args.results, args.measure, args.baseline)))
    print(f"\n{chosen(args.results, args.measure)}")


if __name__ == "__main__":
    main()
