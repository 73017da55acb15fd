"""Agreement of the two labelling passes: weighted kappa over (query, passage) pairs.

The first pass went from query to document and graded spans; the second went from document to query and
graded whole passages (a paragraph, a table, a bullet, a row of the CSV). ``source/passes/`` keeps both: one
grade for each passage and query; a span of the first pass counts for every passage that it touches, with its
grade (the highest where several do). A pair that only one pass names is *unlisted* in the other, which says
"no better than grade 0": the first figure counts it as 0, the second leaves it out.

    python corpora/meridian/agreement.py
"""

from __future__ import annotations

import csv
from pathlib import Path

PASSES = Path(__file__).parent / "source" / "passes"
GRADES = 5
Pairs = dict[tuple[str, str], int]


def read(name: str) -> Pairs:
    """Read a pass: (query, passage) → grade."""
    with (PASSES / name).open(encoding="utf-8", newline="") as file:
        return {(row["query_id"], row["passage"]): int(row["grade"]) for row in csv.DictReader(file)}


def confusion(first: Pairs, second: Pairs, unlisted: int | None) -> list[list[int]]:
    """Count grades, first pass by row and second by column; None leaves out unlisted pairs."""
    table = [[0] * GRADES for _ in range(GRADES)]
    for pair in first.keys() | second.keys():
        a, b = first.get(pair, unlisted), second.get(pair, unlisted)
        if a is not None and b is not None:
            table[a][b] += 1
    return table


def weighted_kappa(table: list[list[int]]) -> float:
    """Cohen's kappa with quadratic weights (Cohen, Psychological Bulletin 70, 1968); NaN for no variation."""
    total = sum(map(sum, table))
    rows = [sum(row) for row in table]
    columns = [sum(column) for column in zip(*table, strict=True)]
    observed = expected = 0.0
    for i in range(len(table)):
        for j in range(len(table)):
            weight = (i - j) ** 2
            observed += weight * table[i][j]
            expected += weight * rows[i] * columns[j] / total
    return 1 - observed / expected if expected else float("nan")


def main() -> None:
    first, second = read("first.csv"), read("second.csv")
    both = len(first.keys() & second.keys())
    print(f"pairs: first pass {len(first)}, second pass {len(second)}, in both {both}")
    for title, unlisted in (("unlisted counts as 0", 0), ("pairs listed by both", None)):
        table = confusion(first, second, unlisted)
        pairs = sum(map(sum, table))
        same = sum(table[i][i] for i in range(GRADES))
        print(f"\n{title}: {pairs} pairs, same grade {same / pairs:.1%}, kappa {weighted_kappa(table):.3f}")
        print("first \\ second " + "".join(f"{grade:>5}" for grade in range(GRADES)))
        for grade, row in enumerate(table):
            print(f"{grade:>14} " + "".join(f"{count:>5}" for count in row))


if __name__ == "__main__":
    main()
