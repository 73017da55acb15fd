"""The columns of the query file by which questions are grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.stored import Row

# A column with more values than this groups nothing that fits on a screen.
MOST_GROUPS = 16
# The splits have a section of their own, and what has no answer has no score.
_NEVER = frozenset({"query_id", "text", "answer", "split", "answerable"})


def groups(queries: Sequence[str], listed: Mapping[str, Row]) -> list[dict[str, Any]]:
    """The columns that part the questions into a few groups: ``name``, ``names`` and ``of`` each question.

    ``of`` has the place of each question's value in ``names``, or None where the column is empty. A column
    that is empty for most questions, or that has hardly fewer values than questions, tells nothing about a
    kind of question and is left out, as is one that parts the questions as an earlier one does.
    """
    columns = dict.fromkeys(key for row in listed.values() for key in row if key not in _NEVER)
    out: list[dict[str, Any]] = []
    for column in sorted(columns, key=lambda name: name != "type"):
        values = [listed.get(query, {}).get(column, "") for query in queries]
        names = sorted(set(filter(None, values)))
        few = sum(map(bool, values)) * 2 < len(queries)
        if few or not 2 <= len(names) <= MOST_GROUPS or len(names) * 2 > len(queries):
            continue
        place = {name: i for i, name in enumerate(names)}
        found = {"name": column, "names": names, "of": [place.get(value) for value in values]}
        if all(_parting(one["of"]) != _parting(found["of"]) for one in out):
            out.append(found)
    return out


def _parting(places: Sequence[int | None]) -> list[int]:
    """Groups numbered in the order of their first question, whatever they are called."""
    first: dict[int | None, int] = {}
    return [first.setdefault(place, len(first)) for place in places]
