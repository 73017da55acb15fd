"""Write rankings and judgments as TREC files that other tools read back to the same figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from harness.types import Ranking


def trec_id(name: str) -> str:
    """An id without white space, which would end the field, and no ``#`` in front, which begins a comment.

    Such characters, and %, are percent-encoded.
    """
    return re.sub(r"[%\s]|^#", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)


def write_trec_run(path: Path, rankings: Iterable[Ranking], tag: str) -> None:
    """Write ``query Q0 document rank score tag`` lines, best first.

    trec_eval ignores the rank and orders by the score in single precision, ties by id. So that it finds our
    order, the scores of a ranking that do not fall strictly are replaced by n, n - 1, …, 1.
    """
    _write(path, (line for ranking in rankings for line in _run_lines(ranking, trec_id(tag))))


def write_trec_qrels(path: Path, judgments: Iterable[tuple[str, str, int]]) -> None:
    """Write ``query 0 document grade`` lines from (query, document, grade)."""
    _write(path, (f"{trec_id(query)} 0 {trec_id(doc)} {grade}\n" for query, doc, grade in judgments))


def _run_lines(ranking: Ranking, tag: str) -> Iterator[str]:
    scores = falling_scores(ranking.scores)
    for rank, (chunk_id, score) in enumerate(zip(ranking.chunk_ids, scores, strict=True), start=1):
        yield f"{trec_id(ranking.query_id)} Q0 {trec_id(chunk_id)} {rank} {score!r} {tag}\n"


def falling_scores(scores: Sequence[float]) -> list[float]:
    """The scores where they fall strictly and are finite in single precision, else n, n - 1, …, 1."""
    single = np.asarray(scores, dtype=np.float32)
    if np.isfinite(single).all() and (single[1:] < single[:-1]).all():
        return [float(score) for score in scores]
    return [float(len(scores) - i) for i in range(len(scores))]


def _write(path: Path, lines: Iterable[str]) -> None:
    """All lines or no file."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    part.replace(path)
