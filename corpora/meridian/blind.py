"""Compares spans with spans: the blind labelling pass with the labels as they stood when it was made.

Both files of ``source/passes/`` list spans by their quotes. Two readers rarely cut a span alike, so spans of
a query that overlap by half of the shorter one, and what is linked through them, are one *place*: it has the
highest grade that each reader gave there, or is unlisted with one of them. A place never crosses a page.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import judgments

HERE = Path(__file__).parent
PASSES = HERE / "source" / "passes"
Table = list[list[int]]


@dataclass(frozen=True, slots=True)
class GradedSpan:
    """A span of one page; ``start`` and ``end`` count characters without spaces and hyphens."""

    query_id: str
    document: str
    page: int
    start: int
    end: int
    grade: int
    quote: str

    def meets(self, other: GradedSpan) -> bool:
        """Whether half of the shorter span lies in the other."""
        if (self.document, self.page) != (other.document, other.page):
            return False
        shared = min(self.end, other.end) - max(self.start, other.start)
        return 2 * shared >= min(self.end - self.start, other.end - other.start)


@dataclass(frozen=True, slots=True)
class Place:
    """What both readers said about one stretch of text for one query; None means that one did not list it."""

    query_id: str
    labels: int | None
    blind: int | None
    spans: tuple[GradedSpan, ...]


def read(name: str) -> list[GradedSpan]:
    """Read the spans of a pass; a quote must stand once on its page."""
    folders = (HERE / "documents", HERE / "more")
    documents = {path.name: judgments.Text(path) for folder in folders for path in folder.iterdir()}
    spans = []
    with (PASSES / name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            page = int(row["page"] or 1)
            text = judgments.squeeze(documents[row["document"]].pages[page - 1])
            quote = judgments.squeeze(row["quote"])
            if text.count(quote) != 1:
                raise ValueError(f"{name}: {row['query_id']}: not once on page {page}: {row['quote']!r}")
            start = text.index(quote)
            end = start + len(quote)
            spans.append(
                GradedSpan(
                    row["query_id"], row["document"], page, start, end, int(row["grade"]), row["quote"]
                )
            )
    return spans


def places(labels: Sequence[GradedSpan], blind: Sequence[GradedSpan]) -> list[Place]:
    """Join the spans of both readers to places, query by query."""
    by_query: dict[str, list[GradedSpan]] = defaultdict(list)
    for span in (*labels, *blind):
        by_query[span.query_id].append(span)
    of_labels, of_blind = set(map(id, labels)), set(map(id, blind))
    found = []
    for query_id, spans in sorted(by_query.items()):
        for group in _linked(spans):
            found.append(
                Place(
                    query_id,
                    max((span.grade for span in group if id(span) in of_labels), default=None),
                    max((span.grade for span in group if id(span) in of_blind), default=None),
                    tuple(group),
                )
            )
    return found


def _linked(spans: Sequence[GradedSpan]) -> list[list[GradedSpan]]:
    """Connected components of ``meets``."""
    groups: list[list[GradedSpan]] = []
    for span in spans:
        met = [group for group in groups if any(span.meets(other) for other in group)]
        groups = [group for group in groups if group not in met]
        groups.append([*(other for group in met for other in group), span])
    return groups


def table(found: Sequence[Place], unlisted: int | None) -> Table:
    """Count grades, labels by row and blind pass by column; None leaves out places that one did not list."""
    counts = [[0] * 5 for _ in range(5)]
    for place in found:
        row = unlisted if place.labels is None else place.labels
        column = unlisted if place.blind is None else place.blind
        if row is not None and column is not None:
            counts[row][column] += 1
    return counts


def interval(
    found: Sequence[Place],
    unlisted: int | None,
    statistic: Callable[[Table], float],
    resamples: int = 2000,
) -> tuple[float, float]:
    """95% percentile bootstrap interval of a statistic of the table, resampling whole queries (seed 0)."""
    by_query: dict[str, list[Place]] = defaultdict(list)
    for place in found:
        by_query[place.query_id].append(place)
    tables = [[count for row in table(group, unlisted) for count in row] for group in by_query.values()]
    draw = random.Random(0)
    values = []
    for _ in range(resamples):
        summed = [sum(column) for column in zip(*draw.choices(tables, k=len(tables)), strict=True)]
        values.append(statistic([summed[i : i + 5] for i in range(0, 25, 5)]))
    values.sort()
    return values[int(0.025 * resamples)], values[int(0.975 * resamples) - 1]


def answerable(prefix: str = "") -> list[tuple[bool, bool]]:
    """For each query, whether the labels and the blind pass call it answerable."""
    with (PASSES / f"{prefix}blind-answerable.csv").open(encoding="utf-8", newline="") as file:
        blind = {row["query_id"]: row["answerable"] == "yes" for row in csv.DictReader(file)}
    return [(row["answerable"] == "yes", blind[row["query_id"]]) for row in _queries(prefix)]


def types(prefix: str = "") -> dict[str, str]:
    """Query id → type."""
    return {row["query_id"]: row["type"] for row in _queries(prefix)}


def _queries(prefix: str) -> list[dict[str, str]]:
    with (HERE / f"{prefix.replace('-', '_')}queries.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
