"""Proves that the printed figures tie: within a table, between tables, and between tables and the model.

The tables are read back from the filled source, so what is checked is what is printed, rounding included.
``source/ties.yaml`` holds the sums and equalities as data.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import figures
import markup
import yaml

SOURCE = Path(__file__).parent / "source"
Table = dict[str, list[float]]


def tables(folder: str) -> dict[str, Table]:
    """Return every table of a document that has an id: row label → its numbers, in order of columns."""
    names = figures.environment()
    found: dict[str, Table] = {}
    for path in sorted((SOURCE / folder).glob("*.md")):
        for block in markup.blocks(figures.fill(path.read_text(encoding="utf-8"), names, path.name)):
            if block.kind == "table" and "text" not in block.options:
                found[block.options["id"]] = _numbers(markup.rows(block))
    return found


def problems() -> list[str]:
    """Name every tie that does not hold; an empty list means that every figure ties."""
    rules = yaml.safe_load((SOURCE / "ties.yaml").read_text(encoding="utf-8"))
    found = []
    for folder, kinds in rules.items():
        printed = tables(folder)
        for rule in kinds.get("sums", []):
            found += _sum(printed, *re.split(r" = ", rule))
        for rule in kinds.get("same", []):
            found += _same(printed, [term.strip() for term in rule.split(" == ")])
    return found


def count() -> int:
    """The number of ties in ``ties.yaml``."""
    rules = yaml.safe_load((SOURCE / "ties.yaml").read_text(encoding="utf-8"))
    return sum(len(ties) for kinds in rules.values() for ties in kinds.values())


def _numbers(rows: list[tuple[str, list[str]]]) -> Table:
    """Rows by label; a label under a subheading that repeats is read as 'subheading / label'."""
    found: Table = {}
    heading = ""
    for kind, (label, *cells) in rows:
        if kind == "*" and not any(cells):
            heading = label
        if kind != "#" and any(cells):
            name = re.sub(r"\^\d", "", label)
            found[f"{heading} / {name}" if name in found else name] = [_number(cell) for cell in cells]
    return found


def _number(cell: str) -> float:
    digits = re.sub(r"[^\d.]", "", cell)
    if not digits:
        return 0.0
    return -float(digits) if "(" in cell else float(digits)


def _row(printed: dict[str, Table], term: str) -> list[float]:
    """``table: row``, ``-table: row`` for its negative, ``table: row [0,1]`` for some of its columns."""
    match = re.fullmatch(r"(-?)(\w+): (.+?)(?: \[([\d,]+)\])?", term.strip())
    if not match:
        raise ValueError(f"ties.yaml: cannot read {term!r}")
    sign, table, row, columns = match.groups()
    if table not in printed or row not in printed[table]:
        raise ValueError(f"ties.yaml: there is no row {row!r} in a table {table!r}")
    values = printed[table][row]
    if columns:
        values = [values[int(c)] for c in columns.split(",")]
    return [-v for v in values] if sign else values


def _sum(printed: dict[str, Table], total: str, parts: str) -> list[str]:
    table = total.partition(":")[0]
    rows = []
    for part in parts.split(" + "):
        if " .. " in part:
            first, last = (label.strip() for label in part.split(" .. "))
            labels = list(printed[table])
            rows += [printed[table][label] for label in labels[labels.index(first) : labels.index(last) + 1]]
        else:
            named = part.partition(": ")[0].lstrip("-") in printed
            rows.append(_row(printed, part if named else f"{table}: {part}"))
    added = [round(sum(column), 2) for column in zip(*rows, strict=True)]
    expected = _row(printed, total)
    return [] if added == expected else [f"{total} is {expected}, its parts add up to {added}: {parts}"]


def _same(printed: dict[str, Table], terms: list[str]) -> list[str]:
    first = _row(printed, terms[0])
    others = {term: _row(printed, term) for term in terms[1:]}
    return [f"{terms[0]} {first} is not {term} {row}" for term, row in others.items() if row != first]


if __name__ == "__main__":
    broken = problems()
    print("\n".join(broken) or f"all {count()} ties hold")
    sys.exit(1 if broken else 0)
