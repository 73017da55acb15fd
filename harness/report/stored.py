"""What a folder of results was scored from: rankings, chunks, queries and graded spans."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.report.cells import original
from harness.report.offsets import read_chunk_offsets
from harness.report.write import damaged
from harness.types import SPLITS, Chunk, Judgment, Query, Ranking

SCORED_FROM = ("chunk_offsets.csv", "queries.csv", "rankings.csv")
_YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class ScoredFrom:
    """``rankings`` maps (setting, stage) to its rankings, ``chunks`` a setting to all of its chunks."""

    queries: tuple[Query, ...]
    rankings: Mapping[tuple[str, str], list[Ranking]]
    chunks: Mapping[str, list[Chunk]]


def read_scored_from(folder: Path) -> ScoredFrom:
    """Read it; raises HarnessError where a file is missing or damaged."""
    missing = [name for name in SCORED_FROM if not (folder / name).exists()]
    if missing:
        raise HarnessError(
            f"{folder} was scored on other judgments, and cannot be scored again without "
            f"{', '.join(missing)}. Copy the whole folder of results, or run the benchmark again."
        )
    queries = tuple(map(_query, _rows(folder / "queries.csv")))
    return ScoredFrom(queries, _rankings(folder / "rankings.csv"), read_chunk_offsets(folder))


def read_graded_spans(folder: Path) -> list[Judgment]:
    """The spans that the settings were scored on, in the order of judgments.csv."""
    path = folder / "judgments.csv"
    try:
        return [_judgment(row) for row in _rows(path) if row["scored_on"] == "yes"]
    except (KeyError, ValueError):
        raise damaged(path) from None


def _judgment(row: dict[str, str]) -> Judgment:
    return Judgment(
        query_id=row["query_id"],
        doc_id=row["document"],
        start=int(row["start"]),
        end=int(row["end"]),
        grade=int(row["grade"]) if row["grade"] else None,
        evidence=row.get("evidence", ""),
        judge=row.get("judge", ""),
    )


def _query(row: dict[str, str]) -> Query:
    split = next(known for known in SPLITS if known == row["split"])
    return Query(row["query_id"], row["text"], split, _YES_NO[row["answerable"]])


def _rankings(path: Path) -> dict[tuple[str, str], list[Ranking]]:
    ranked: dict[tuple[str, str, str], list[tuple[int, str, float]]] = {}
    try:
        for row in _rows(path):
            key = (row["setting"], row["stage"], row["query_id"])
            ranked.setdefault(key, []).append((int(row["rank"]), row["chunk_id"], float(row["score"])))
        rankings: dict[tuple[str, str], list[Ranking]] = {}
        for (setting, stage, query), items in ranked.items():
            _, chunk_ids, scores = zip(*sorted(items), strict=True)
            rankings.setdefault((setting, stage), []).append(Ranking(query, chunk_ids, scores))
    except (KeyError, ValueError):
        raise damaged(path) from None
    return rankings


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield {name: original(cell) for name, cell in row.items()}
    except (AttributeError, TypeError, csv.Error, UnicodeDecodeError):
        # a row with too few or too many cells
        raise damaged(path) from None
