"""The losses of a result by setting, or those of one setting by kind of question, as the studies print them.

    python -m benchmarks.study_losses results/study_chunking_bm25
    python -m benchmarks.study_losses results/study_retrieval_bm25 --setting "rows fields+headings rules"

Reads waterfall.csv and queries.csv, whose column ``type`` tells the kinds. The last column is what is left,
under the name of the measure that the losses are of. ``--write PAGE`` puts the table between
``<!-- losses: RESULTS SETTING -->`` and ``<!-- end -->`` of that page.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from pathlib import Path


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [{key: cell.removeprefix("'") for key, cell in row.items()} for row in csv.DictReader(file)]


def table(folder: Path, setting: str | None = None) -> list[str]:
    """The lines of a Markdown table of means over queries."""
    kind = {row["query_id"]: row.get("type") or "(no type)" for row in rows_of(folder, "queries")}
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    left: dict[tuple[str, str], float] = {}
    measure = ""
    for row in rows_of(folder, "waterfall"):
        if "." in row["step"] or setting not in (None, row["setting"]):  # a route is beside the sum
            continue
        names = [row["setting"]] if setting is None else [kind[row["query_id"]], "all"]
        for name in names:
            sums[name][row["step"] if row["part"] == "change" else row["part"]] += float(row["loss"])
            # the last row of a query has what is left in the end
            left[name, row["query_id"]] = float(row["left"])
        measure = row["measure"]
    if not sums:
        raise SystemExit(f"{folder} has no losses of {setting or 'any setting'}.")
    count = Counter(name for name, _ in left)
    total: Counter[str] = Counter()
    for (name, _), value in left.items():
        total[name] += value
    parts = list(dict.fromkeys(part for of in sums.values() for part in of))
    lines = [
        f"| {'setting' if setting is None else 'type'} | queries | {' | '.join(parts)} | {measure} |",
        f"|---|{'---:|' * (len(parts) + 2)}",
    ]
    best_first = sorted(count, key=lambda one: -total[one] / count[one])
    for name in best_first if setting is None else sorted(count, key=lambda one: (one == "all", one)):
        values = [*(sums[name][part] for part in parts), total[name]]
        cells = " | ".join(f"{value / count[name]:.3f}" for value in values)
        lines.append(f"| {name} | {count[name]} | {cells} |")
    return lines


def main() -> None:
    """Print the table, or write it to its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--setting", help="by kind of question, of this setting alone")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put it between its marks in this page")
    args = parser.parse_args()
    lines = "\n".join(table(args.results, args.setting))
    if args.write is None:
        print(lines)
        return
    begin = f"<!-- losses: {' '.join(filter(None, (args.results.name, args.setting)))} -->"
    between = re.compile(rf"({re.escape(begin)}\n).*?(<!-- end -->)", re.DOTALL)
    page, found = between.subn(rf"\g<1>{lines}\n\g<2>", args.write.read_text(encoding="utf-8"))
    if not found:
        parser.error(f"{args.write} has no {begin}")
    args.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
