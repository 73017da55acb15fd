"""Agreement of the labelling passes: weighted kappa over pairs of a query and a piece of text.

The first pass went from query to document and graded spans; the second went from document to query and
graded whole passages (a paragraph, a table, a bullet, a row of the CSV). ``source/passes/`` keeps both: one
grade for each passage and query; a span of the first pass counts for every passage that it touches, with its
grade (the highest where several do). A pair that only one pass names is *unlisted* in the other, which says
"no better than grade 0": the first figure counts it as 0, the second leaves it out.

The blind pass graded spans, by a reader who had seen no grade; it is compared with the labels as they stood
then, place by place (``blind.py``).

The quickstart's queries and shorter documents have passes of their own, ``quickstart-*.csv``.

    python corpora/meridian/agreement.py
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import blind

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
    return _kappa(table, lambda i, j: (i - j) ** 2)


def plain_kappa(table: list[list[int]]) -> float:
    """Cohen's kappa (Cohen, Educational and Psychological Measurement 20, 1960); NaN for no variation."""
    return _kappa(table, lambda i, j: int(i != j))


def _kappa(table: list[list[int]], weight: Callable[[int, int], int]) -> float:
    """One less observed over expected disagreement, where ``weight`` says how bad a pair of grades is."""
    total = sum(map(sum, table))
    rows = [sum(row) for row in table]
    columns = [sum(column) for column in zip(*table, strict=True)]
    observed = expected = 0.0
    for i in range(len(table)):
        for j in range(len(table)):
            observed += weight(i, j) * table[i][j]
            expected += weight(i, j) * rows[i] * columns[j] / total
    return 1 - observed / expected if expected else float("nan")


def same(table: list[list[int]]) -> float:
    """Share of equal grades."""
    return sum(table[i][i] for i in range(len(table))) / sum(map(sum, table))


def print_table(corner: str, table: list[list[int]]) -> None:
    print(corner + "".join(f"{grade:>5}" for grade in range(GRADES)))
    for grade, row in enumerate(table):
        print(f"{grade:>{len(corner)}}" + "".join(f"{count:>5}" for count in row))


def two_passes(prefix: str = "") -> None:
    """Print the agreement of the first two passes, whose files begin with ``prefix``."""
    first, second = read(f"{prefix}first.csv"), read(f"{prefix}second.csv")
    both = len(first.keys() & second.keys())
    print(f"pairs: first pass {len(first)}, second pass {len(second)}, in both {both}")
    for title, unlisted in (("unlisted counts as 0", 0), ("pairs listed by both", None)):
        table = confusion(first, second, unlisted)
        pairs = sum(map(sum, table))
        print(f"\n{title}: {pairs} pairs, same grade {same(table):.1%}, kappa {weighted_kappa(table):.3f}")
        print_table("first \\ second ", table)


def blind_pass(prefix: str = "") -> None:
    """Print the agreement of the blind pass with the labels as they stood when it was made."""
    labels, other = blind.read(f"{prefix}labels-before-blind.csv"), blind.read(f"{prefix}blind.csv")
    places = blind.places(labels, other)
    print(f"\nblind pass: {len(other)} spans against {len(labels)} labels, {len(places)} places")
    for title, unlisted in (("unlisted counts as 0", 0), ("places listed by both", None)):
        table = blind.table(places, unlisted)
        low, high = blind.interval(places, unlisted, weighted_kappa)
        print(
            f"\n{title}: {sum(map(sum, table))} places, same grade {same(table):.1%}, "
            f"weighted kappa {weighted_kappa(table):.3f} (95%: {low:.3f} to {high:.3f}), "
            f"plain kappa {plain_kappa(table):.3f}"
        )
        print_table("labels \\ blind ", table)
    listed = blind.table(places, 0)
    turned = [list(column) for column in zip(*listed, strict=True)]
    print(f"\ngrade 2 or more in the labels: {share_confirmed(listed):.1%} are so in the blind pass")
    print(f"grade 2 or more in the blind pass: {share_confirmed(turned):.1%} are so in the labels")
    by_type(places, blind.types(prefix))
    verdicts = blind.answerable(prefix)
    print(f"answerable or not: equal for {sum(a == b for a, b in verdicts)} of {len(verdicts)} queries")


def share_confirmed(table: list[list[int]]) -> float:
    """Of the places graded 2 or more by row, the share that is so by column as well."""
    return sum(sum(row[2:]) for row in table[2:]) / sum(map(sum, table[2:]))


def by_type(places: list[blind.Place], types: dict[str, str]) -> None:
    print("\n| type | places | same grade | weighted kappa |\n|---|---:|---:|---:|")
    for kind in dict.fromkeys(types.values()):
        own = [place for place in places if types[place.query_id] == kind]
        # of a type without answers nobody may have listed a span
        if not own:
            continue
        table = blind.table(own, 0)
        print(f"| {kind} | {sum(map(sum, table))} | {same(table):.0%} | {weighted_kappa(table):.2f} |")


def main() -> None:
    two_passes()
    blind_pass()
    print("\nquickstart")
    two_passes("quickstart-")
    if (PASSES / "quickstart-blind.csv").exists():
        blind_pass("quickstart-")


if __name__ == "__main__":
    main()
