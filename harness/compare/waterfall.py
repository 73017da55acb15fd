"""Where quality is lost, stage by stage, from a perfect score down to the score achieved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.errors import HarnessError
from harness.stats.arrays import Bools, Floats

STAGES = ("parser", "chunking", "retriever", "ranking", "reranker")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Levels:
    """The best score each query could still reach after each stage, [Q] each, NaN where it has none.

    All five are of one measure with one ideal: ``parsed`` with the evidence that is in the extracted text,
    ``chunked`` with the best order of all chunks, ``retrieved`` with the best order of the retrieved ones;
    ``ranked`` is what the retriever's order achieved and ``reranked`` what the reranker's did (None where
    there is no reranker).
    """

    query_ids: tuple[str, ...]
    parsed: Floats
    chunked: Floats
    retrieved: Floats
    ranked: Floats
    reranked: Floats | None = None


@dataclass(frozen=True, slots=True)
class Waterfall:
    """What each stage cost each query: ``losses`` [Q, 5] in the order of ``STAGES``; ``final`` [Q] is left.

    ``1 - losses.sum(axis=1) == final`` for every query, and so for the means. The reranker's loss is negative
    where it gained; no other is. Queries for which the measure is undefined are left out.
    """

    query_ids: tuple[str, ...]
    losses: Floats
    final: Floats


@dataclass(frozen=True, slots=True)
class Blame:
    """One query, its score, and the stage that cost it most (None where nothing was lost)."""

    query_id: str
    final: float
    stage: str | None
    losses: dict[str, float]


def waterfall(levels: Levels) -> Waterfall:
    """Take the levels apart.

    Raises ValueError for shapes that do not fit and for a level above the one before it. Only the
    reranker may rise. Differences within rounding are set right.
    """
    reranked = levels.ranked if levels.reranked is None else levels.reranked
    n = len(levels.query_ids)
    steps = [np.ones(n), levels.parsed, levels.chunked, levels.retrieved, levels.ranked, reranked]
    if any(step.shape != (n,) for step in steps):
        raise ValueError(f"every level needs one score per query, {n}")
    table = np.stack(steps, axis=1)
    known: Bools = np.logical_not(np.isnan(table).any(axis=1))
    if not known.any():
        raise HarnessError("No query has a score, so there is nothing to say about where quality is lost.")
    table = table[known]
    query_ids = tuple(query for query, k in zip(levels.query_ids, known, strict=True) if k)
    rising = np.argwhere(np.diff(table[:, :5], axis=1) > _ROUNDING)
    if len(rising):
        row, stage = rising[0]
        raise ValueError(
            f"query {query_ids[row]}: the level after the {STAGES[stage]} is {table[row, stage + 1]:.6f}, "
            f"above the {table[row, stage]:.6f} before it"
        )
    table[:, :5] = np.minimum.accumulate(table[:, :5], axis=1)
    return Waterfall(query_ids, table[:, :-1] - table[:, 1:], table[:, -1])


def worst_queries(fall: Waterfall, count: int = 20) -> list[Blame]:
    """The queries with the lowest scores, lowest first, each with the stage that lost most."""
    order = np.argsort(fall.final, kind="stable")[:count].tolist()
    return [_blame(fall, row) for row in order]


def _blame(fall: Waterfall, row: int) -> Blame:
    losses = fall.losses[row]
    largest = int(np.argmax(losses))
    stage = STAGES[largest] if losses[largest] > _ROUNDING else None
    return Blame(
        fall.query_ids[row],
        float(fall.final[row]),
        stage,
        dict(zip(STAGES, losses.tolist(), strict=True)),
    )
