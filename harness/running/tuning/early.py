"""Settings whose rankings cannot hold what the measure reads, known before anything is searched."""

from __future__ import annotations

from collections.abc import Sequence

from harness.running.evaluate.warnings import shares_read
from harness.running.pipeline import RETRIEVE, chunks_retrieved, file_searched, retriever_config
from harness.running.search import Chunked, Searched, as_read
from harness.values import Ranking, StageConfig


def shares_at_most(points: Sequence[Chunked], measure: str) -> dict[str, float]:
    """By setting whose rankings are cut short, the share of what is read that its longest chunks hold.

    Settings that may hold all of it are left out, and those that search to a length of text.
    """
    longest = [search for point in points if (search := _longest_hits(point)) is not None]
    return shares_read(longest, [measure]).get(measure, {})


def _longest_hits(point: Chunked) -> Searched | None:
    """A search that finds as many chunks as the setting retrieves, the longest ones; None: no such number."""
    count = chunks_retrieved(point.setting)
    if count is None or file_searched(point.setting) is not None:
        return None
    pairs = zip(point.chunking.chunks, point.chunking.texts_read, strict=True)
    chunks = [chunk for chunk, _ in sorted(pairs, key=lambda pair: -len(pair[1].text))][:count]
    ranking = Ranking("", tuple(chunk.chunk_id for chunk in chunks), (0.0,) * len(chunks))
    configs: dict[str, StageConfig] = {RETRIEVE: retriever_config(point.setting)}
    return as_read(Searched(point.setting, point.chunking, {RETRIEVE: [ranking]}, {}, configs=configs))
