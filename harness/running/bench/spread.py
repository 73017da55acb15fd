"""What is left to compute, and how it would be spread over the workers of a cluster, in what time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.models import EncoderConfig
from harness.running.compute import LocalPass, ModelPass, digest
from harness.running.config.models import BenchConfig
from harness.running.context import Context, NotStoredError
from harness.running.engine import EngineConfig, LocalEngine, speed_of
from harness.running.passes import encoding, scoring
from harness.running.search import Chunked, Searched
from harness.steps import RETRIEVERS, LocalModelScorer, PendingCallsError, RerankerConfig
from harness.values import Query, counted, duration

Looked = Searched | NotStoredError | PendingCallsError
"""The search of a setting by what is stored, or the first thing that it lacks."""


def texts_left(
    points: Sequence[Chunked], queries: Sequence[Query], context: Context
) -> Iterator[tuple[str, ModelPass, dict[bytes, str], int]]:
    """For each encoder its name, the texts that searching still has to embed, and how many are embedded.

    Queries are taken as they are.
    """
    found: dict[str, tuple[EncoderConfig, dict[bytes, str]]] = {}
    for point in points:
        for retriever in point.setting.retrieve.every():
            for config, texts in RETRIEVERS.make(retriever).wants(point.chunking.passages, queries):
                items = found.setdefault(context.models.encoder(config).fingerprint, (config, {}))[1]
                items.update((digest(text), text) for text in texts)
    for config, items in found.values():
        model = encoding(config, context)
        known = model.known(items)
        left = {key: text for key, text in items.items() if key not in known}
        yield config.model_name, model, left, len(known)


def pairs_to_score(point: Chunked, found: Looked, context: Context) -> set[tuple[str, bytes]]:
    """The pairs of the first reranker that lacks any, where they are known."""
    if isinstance(found, NotStoredError) and found.what == "pairs":
        model = context.models.reranker(point.setting.rerank[found.place]).fingerprint
        return {(model, key) for key in found.keys}
    return set()


def pairs_left(point: Chunked, found: Looked, queries: int) -> list[int]:
    """How many pairs each reranker still has to score: of what is not known yet, at most."""
    most = [0 if isinstance(found, Searched) else queries * depth for depth in depths(point)]
    if isinstance(found, NotStoredError) and found.what == "pairs":
        return [*[0] * found.place, len(found.keys), *most[found.place + 1 :]]
    return most


def depths(point: Chunked) -> list[int]:
    """How many chunks each reranker scores for a query; approximate if a length of text is retrieved."""
    retriever, chunks = point.setting.retrieve, point.chunking.chunks
    most = retriever.top_k
    if retriever.top_chars is not None:
        length = sum(len(chunk.text) for chunk in chunks) / max(1, len(chunks))
        most = math.ceil(retriever.top_chars / max(1.0, length))
    most = min(len(chunks), most)
    return [most if one.top_n is None else min(most, one.top_n) for one in point.setting.rerank]


# What the harness measures of the stages that a cluster takes over.
_APART = ("parse", "embed", "rerank")


def wall_seconds(seconds: float | None, workers: int, batches: int | None) -> float | None:
    """The seconds until the last worker is done, if none of them waits, of those of all workers together.

    ``batches`` None: they depend on what is retrieved.
    """
    busy = workers if batches is None else max(1, min(workers, batches))
    return None if seconds is None else seconds / busy


@dataclass(frozen=True, slots=True)
class Work:
    """What a run does with its settings; ``looked`` has the search of each by what is stored."""

    points: Sequence[Chunked]
    looked: Sequence[Looked]
    queries: Sequence[Query]
    config: BenchConfig
    context: Context

    def each(self) -> Iterator[tuple[Chunked, Looked]]:
        """Every setting with its search."""
        return zip(self.points, self.looked, strict=True)

    def spread(self) -> Iterator[str]:
        """How what is left would be spread; none without a cluster. Documents have been read already."""
        if not self.context.engine.apart:
            return
        workers, asked = self.context.engine.size(), self.config.engine
        where = f"ray at {asked.address}, {counted(workers, 'worker')} of {counted(asked.threads, 'CPU')}"
        gpus = f" and {asked.gpus:g} GPUs" if asked.gpus else ""
        stages = [*self._embedding(workers), *self._scoring(workers)]
        yield f"Engine: {where}{gpus}."
        yield from (line for _, line in stages)
        if not stages:
            yield "Nothing is left to compute on workers."
        if len(stages) > 1:
            known = [wall for wall, _ in stages if wall is not None]
            parts = [duration(sum(known))] if known else []
            parts += [] if len(known) == len(stages) else ["what is unknown"]
            yield f"On the workers, together: {' and '.join(parts)}."
        yield _here(self.config)

    def _stage(
        self, model: ModelPass, work: str, characters: int, workers: int, batches: int | None
    ) -> tuple[float | None, str]:
        """The seconds until the ``work`` of one model is done, None where nothing was measured, in a line."""
        seconds, measured = _seconds(model, characters, self.config.engine)
        wall = wall_seconds(seconds, workers, batches)
        took = "time unknown" if wall is None else f"about {duration(wall)}"
        return wall, f"{work} on {counted(workers, 'worker')}: {took} ({measured})."

    def _embedding(self, workers: int) -> Iterator[tuple[float | None, str]]:
        for name, model, left, _ in texts_left(self.points, self.queries, self.context):
            if left and isinstance(model, LocalPass):
                texts: list[Any] = list(left.values())
                batches = len(model.model.batches(texts))
                items = f"{counted(len(texts), 'text')} in {counted(batches, 'batch', 'batches')}"
                yield self._stage(model, f"embed by {name}: {items}", sum(map(len, texts)), workers, batches)

    def _scoring(self, workers: int) -> Iterator[tuple[float | None, str]]:
        """At most so many pairs, as settings share them; they are taken to have the average length."""
        left: dict[str, tuple[RerankerConfig, int, float]] = {}
        question = sum(len(query.text) for query in self.queries) / max(1, len(self.queries))
        for point, found in self.each():
            texts = point.chunking.passages.texts
            chunk = sum(map(len, texts)) / max(1, len(texts))
            counts = pairs_left(point, found, len(self.queries))
            for config, pairs in zip(point.setting.rerank, counts, strict=True):
                scorer = self.context.models.reranker(config)
                if isinstance(scorer, LocalModelScorer):
                    _, before, length = left.get(scorer.fingerprint, (config, 0, 0.0))
                    left[scorer.fingerprint] = config, before + pairs, length + pairs * (chunk + question)
        for config, pairs, length in left.values():
            if pairs:
                work = f"score by {config.model_name}: at most {counted(pairs, 'pair')}"
                yield self._stage(scoring(config, self.context), work, math.ceil(length), workers, None)


def _seconds(model: ModelPass, characters: int, asked: EngineConfig) -> tuple[float | None, str]:
    """The seconds of all workers together, and where their speed was measured."""
    context = model.context
    speed = speed_of(model.path, context.engine.worker, context)
    if speed is not None:
        return characters / speed, f"{speed:,.0f} characters a second each, by earlier runs on Ray"
    here = LocalEngine().worker
    speed = speed_of(model.path, here, context)
    if speed is None or asked.gpus or here[2]:
        return None, "nothing was measured with such workers"
    speed *= asked.threads / here[1]
    basis = f"by earlier runs in one process on {counted(int(here[1]), 'CPU')} of this machine"
    return characters / speed, f"{speed:,.0f} characters a second each, {basis}"


def _here(config: BenchConfig) -> str:
    """What is done on this machine, and how long it took in the last run."""
    what = "On this machine, but for search by exact and bm25: search, scores, tables, page"
    try:
        record = json.loads((config.results / config.name / "record.json").read_text(encoding="utf-8"))
        took, date = record["timings"], record["date"]
        seconds = took["total"] - sum(took.get(stage, 0.0) for stage in _APART)
    except (OSError, ValueError, KeyError):
        return f"{what}: time unknown (no earlier run in {config.results / config.name} can be read)."
    return f"{what}: {duration(seconds)} in the run of {date}."
