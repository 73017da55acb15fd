"""The evidence that each query should have found, and its rank in the last ranking of a setting."""

from __future__ import annotations

from pathlib import Path

from harness.report.read import cells_of, no_result
from harness.report.scoring_inputs import read_chunk_offsets
from harness.values import Chunk


def read_expected(folder: Path, setting: str) -> dict[str, str]:
    """For every query its best evidence in a line: passage, place, and the first rank that shows it."""
    best: dict[str, list[dict[str, str]]] = {}
    for row in cells_of(folder, "judgments"):
        if row["grade"] and int(row["grade"]) > 0 and row["scored_on"] == "yes":
            spans = best.setdefault(row["query_id"], [])
            if spans and int(row["grade"]) > int(spans[0]["grade"]):
                spans.clear()
            if not spans or row["grade"] == spans[0]["grade"]:
                spans.append(dict(row))
    ranked = _last_ranking(folder, setting)
    try:
        chunks = {chunk.chunk_id: chunk for chunk in read_chunk_offsets(folder).get(setting, [])}
    except FileNotFoundError as error:
        raise no_result(folder, error) from None
    lines = {}
    searched = {one.doc_id for one in chunks.values()}
    for query_id, spans in best.items():
        # what another pipeline returned twice has no offsets of its own, but takes a rank
        ranking = [chunks.get(chunk_id) for chunk_id in ranked.get(query_id, [])]
        # of the texts of several parsers, the one that the setting searches
        spans = [span for span in spans if span["document"] in searched] or spans
        found = [(rank, span) for span in spans if (rank := _rank_of(span, ranking)) is not None]
        rank, span = min(found, key=lambda one: one[0]) if found else (None, spans[0])
        place = f"{span['document']}" + (f", page {span['page']}" if span["page"] else "")
        where = f"not in the {len(ranking)} retrieved" if rank is None else f"at rank {rank}"
        lines[query_id] = f"[{where}; {place}; grade {span['grade']}] {span['snippet']}"
    return lines


def _last_ranking(folder: Path, setting: str) -> dict[str, list[str]]:
    """Chunk ids by query, in rank order, of the last stage of a setting."""
    stage, ranked = "", dict[str, list[str]]()
    for row in cells_of(folder, "rankings"):
        if row["setting"] != setting:
            continue
        if row["stage"] != stage:
            # rows are in the order of the stages
            stage, ranked = row["stage"], {}
        ranked.setdefault(row["query_id"], []).append(row["chunk_id"])
    return ranked


def _rank_of(span: dict[str, str], ranking: list[Chunk | None]) -> int | None:
    """The first rank, from 1, whose chunk shares text with a span."""
    start, end = int(span["start"]), int(span["end"])
    for rank, chunk in enumerate(ranking, 1):
        if chunk is None or chunk.doc_id != span["document"]:
            continue
        if any(a < end and start < b for a, b in chunk.spans):
            return rank
    return None
