"""What is left to compute for each setting: texts to embed, pairs to score."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.models import EncoderConfig
from harness.running.compute import digest
from harness.running.context import Context, NotStoredError
from harness.running.search import Chunked, Searched
from harness.steps import RETRIEVERS, PendingCallsError
from harness.values import Query

Looked = Searched | NotStoredError | PendingCallsError
"""The search of a setting by what is stored, or the first thing that it lacks."""

Texts = dict[str, tuple[EncoderConfig, dict[bytes, str]]]


def texts_of(points: Sequence[Chunked], queries: Sequence[Query], context: Context) -> Texts:
    """The texts that searching embeds, by the fingerprint of their encoder; queries are taken as they are."""
    found: Texts = {}
    for point in points:
        for retriever in point.setting.retrieve.every():
            for config, texts in RETRIEVERS.make(retriever).wants(point.chunking.passages, queries):
                items = found.setdefault(context.models.encoder(config).fingerprint, (config, {}))[1]
                items.update((digest(text), text) for text in texts)
    return found


def pairs_to_score(point: Chunked, found: Looked, context: Context) -> set[tuple[str, bytes]]:
    """The pairs of the first reranker that lacks any, where they are known."""
    if isinstance(found, NotStoredError) and found.what == "pairs":
        model = context.models.reranker(point.setting.rerank[found.place]).fingerprint
        return {(model, key) for key in found.keys}
    return set()


def most_pairs(point: Chunked, found: Looked, queries: int) -> int:
    """At most how many pairs rerankers score that depend on what is not known yet."""
    if isinstance(found, Searched):
        return 0
    first = found.place + 1 if isinstance(found, NotStoredError) and found.what == "pairs" else 0
    return queries * sum(depths(point)[first:])


def depths(point: Chunked) -> list[int]:
    """How many chunks each reranker scores for a query; approximate if a length of text is retrieved."""
    retriever, chunks = point.setting.retrieve, point.chunking.chunks
    most = retriever.top_k
    if retriever.top_chars is not None:
        length = sum(len(chunk.text) for chunk in chunks) / max(1, len(chunks))
        most = math.ceil(retriever.top_chars / max(1.0, length))
    most = min(len(chunks), most)
    return [most if one.top_n is None else min(most, one.top_n) for one in point.setting.rerank]
