"""All that one benchmark leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.report.columns import R
from harness.report.rows import JudgmentRow, RankedRow, SummaryRow
from harness.types import Chunk, Query, QueryScore, Ranking, RunRecord


@dataclass(frozen=True, slots=True)
class ChunkQrels:
    """The grades of one chunking's chunks, as (query, chunk, grade) rows.

    Of ``queries`` with a relevant chunk, ``repeating`` have several that stand for one evidence. TREC qrels
    cannot say so: other tools count each of them, we count the evidence once.
    """

    rows: list[tuple[str, str, int]]
    queries: int
    repeating: int


@dataclass(frozen=True, slots=True)
class Results:
    """What is written to ``results/<name>/``.

    ``runs`` maps (setting, stage) to its rankings, ``qrels`` a setting to its chunks' grades. ``rows`` are
    those of all other tables, each written to the file that its class declares. ``extras`` maps query ids to
    what the query file says besides, ``clusters`` to what a query is tested with. ``verdict`` is the verdict
    as plain values, with its ``sentences``. ``cut`` maps a setting to a name of its chunking, which settings
    with the same chunks share, and to these.
    """

    name: str
    queries: tuple[Query, ...]
    summary: list[SummaryRow]
    per_query: list[QueryScore]
    ranked: list[RankedRow]
    runs: dict[tuple[str, str], list[Ranking]]
    qrels: dict[str, ChunkQrels]
    record: RunRecord
    judgments: Sequence[JudgmentRow] = ()
    rows: Sequence[Any] = ()
    extras: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, Any] = field(default_factory=dict)
    cut: Mapping[str, tuple[str, Sequence[Chunk]]] = field(default_factory=dict)

    def of(self, row: type[R]) -> list[R]:
        """The rows of one of the other tables."""
        return [one for one in self.rows if isinstance(one, row)]
