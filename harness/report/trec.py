"""Rankings and grades as TREC files that other tools read back to the same figures: the one writer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from harness.values import NOT_SCORED, Ranking


def trec_run(rankings: Iterable[Ranking], tag: str) -> str:
    """A TREC run whose scores fall strictly, also in single precision.

    trec_eval ignores the rank column and orders by a 32-bit score; equal scores would be reordered by id.
    """
    lines = []
    for ranking in rankings:
        for rank, (chunk_id, score) in enumerate(
            zip(ranking.chunk_ids, strictly_falling(ranking.scores), strict=True), start=1
        ):
            lines.append(f"{_query(ranking.query_id)} Q0 {chunk_id} {rank} {score!r} {tag}\n")
    return "".join(lines)


def trec_qrels(rows: Iterable[tuple[str, str, int]]) -> str:
    """(query, chunk, grade) rows as TREC qrels."""
    return "".join(f"{_query(query_id)} 0 {chunk_id} {grade}\n" for query_id, chunk_id, grade in rows)


def _query(query_id: str) -> str:
    """The id with a leading ``#`` percent-encoded, as a line that begins so may be taken for a comment."""
    return re.sub("^[#%]", lambda match: f"%{ord(match[0]):X}", query_id)


def strictly_falling(scores: Sequence[float]) -> list[float]:
    """Scores lowered by as little as single precision allows, where one is not below its predecessor.

    What was not scored is as little below what was. n, n - 1, …, 1 if that leads to minus infinity,
    below which there is nothing.
    """
    out: list[float] = []
    last = np.float32(np.inf)
    with np.errstate(over="ignore"):
        for score in scores:
            value = np.float32(score)
            if not value < last or (score == NOT_SCORED and out):
                value = np.nextafter(last, np.float32(-np.inf))
            out.append(float(value))
            last = value
    return out if np.isfinite(last) or not out else [float(n) for n in range(len(out), 0, -1)]
