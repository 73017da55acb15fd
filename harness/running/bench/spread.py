"""What is left to compute, and how it would be spread over the workers of a cluster, in what time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.models import EncoderConfig, ServedEncoder
from harness.running.compute import digest, is_computed
from harness.running.config.models import BenchConfig
from harness.running.context import Context, NotStoredError
from harness.running.engine import EngineConfig, LocalEngine, rate_of
from harness.running.passes import ModelPass, encoding, scoring
from harness.running.search import Chunked, Searched
from harness.steps import RETRIEVERS, LocalModelScorer, PendingCallsError, RerankerConfig
from harness.values import Query, counted, duration

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


# What the harness measures of the stages that a cluster takes over.
_APART = ("parse", "embed", "rerank")


@dataclass(frozen=True, slots=True)
class StageSpread:
    """The work of one model: ``items`` in ``batches``, None where these depend on what is retrieved.

    ``seconds`` are those of all workers together, None where nothing was measured; ``measured`` says where.
    """

    stage: str
    items: str
    batches: int | None
    workers: int
    seconds: float | None
    measured: str

    @property
    def wall(self) -> float | None:
        """The seconds until the last worker is done, if none of them waits."""
        busy = self.workers if self.batches is None else max(1, min(self.workers, self.batches))
        return None if self.seconds is None else self.seconds / busy

    def __str__(self) -> str:
        batches = "" if self.batches is None else f" in {counted(self.batches, 'batch', 'batches')}"
        took = "time unknown" if self.wall is None else f"about {duration(self.wall)}"
        workers = counted(self.workers, "worker")
        return f"{self.stage}: {self.items}{batches} on {workers}: {took} ({self.measured})."


@dataclass(frozen=True, slots=True)
class Spread:
    """The stages on the workers of a cluster, and a sentence on what stays on this machine."""

    engine: str
    stages: tuple[StageSpread, ...]
    here: str

    def lines(self) -> list[str]:
        """What a plan prints."""
        known = [stage.wall for stage in self.stages if stage.wall is not None]
        more = [] if len(known) == len(self.stages) else ["what is unknown"]
        together = " and ".join([*([duration(sum(known))] if known else []), *more])
        total = [f"On the workers, together: {together}."] if len(self.stages) > 1 else []
        none = [] if self.stages else ["Nothing is left to compute on workers."]
        return [self.engine, *map(str, self.stages), *none, *total, self.here]


def spread_of(
    points: Sequence[Chunked],
    looked: Sequence[Looked],
    queries: Sequence[Query],
    config: BenchConfig,
    context: Context,
) -> Spread | None:
    """How the work that is left would be spread; None without a cluster. Documents have been read already."""
    if not context.engine.apart:
        return None
    workers, asked = context.engine.size(), config.engine
    where = f"ray at {asked.address}, {counted(workers, 'worker')} of {counted(asked.threads, 'CPU')}"
    gpus = f" and {asked.gpus:g} GPUs" if asked.gpus else ""
    stages = [
        *_embedding(points, queries, workers, asked, context),
        *_scoring(points, looked, queries, workers, asked, context),
    ]
    return Spread(f"Engine: {where}{gpus}.", tuple(stages), _here(config))


def _embedding(
    points: Sequence[Chunked], queries: Sequence[Query], workers: int, asked: EngineConfig, context: Context
) -> Iterator[StageSpread]:
    for config, items in texts_of(points, queries, context).values():
        model = encoding(config, context)
        if isinstance(context.models.encoder(config), ServedEncoder) or model.batches is None:
            continue
        known = is_computed("vectors", items, model.path, context)
        left = [text for key, text in items.items() if key not in known]
        if left:
            batches = sum(1 for _ in model.batches(left))
            seconds, measured = _seconds(model, sum(map(len, left)), asked, context)
            texts = counted(len(left), "text")
            yield StageSpread(f"embed by {config.model_name}", texts, batches, workers, seconds, measured)


def _scoring(
    points: Sequence[Chunked],
    looked: Sequence[Looked],
    queries: Sequence[Query],
    workers: int,
    asked: EngineConfig,
    context: Context,
) -> Iterator[StageSpread]:
    """Settings share pairs, so that these are at most so many; they are taken to have the average length."""
    left: dict[str, tuple[RerankerConfig, int, float]] = {}
    question = sum(len(query.text) for query in queries) / max(1, len(queries))
    for point, found in zip(points, looked, strict=True):
        chunk = sum(map(len, point.chunking.passages.texts)) / max(1, len(point.chunking.passages.texts))
        for place, (config, depth) in enumerate(zip(point.setting.rerank, depths(point), strict=True)):
            if not isinstance(context.models.reranker(config), LocalModelScorer):
                continue
            pairs = _pairs_left(found, place, depth * len(queries))
            fingerprint = context.models.reranker(config).fingerprint
            _, before, length = left.get(fingerprint, (config, 0, 0.0))
            left[fingerprint] = config, before + pairs, length + pairs * (chunk + question)
    for config, pairs, length in left.values():
        if pairs:
            seconds, measured = _seconds(scoring(config, context), math.ceil(length), asked, context)
            most = f"at most {counted(pairs, 'pair')}"
            yield StageSpread(f"score by {config.model_name}", most, None, workers, seconds, measured)


def _pairs_left(found: Looked, place: int, most: int) -> int:
    """The pairs that the reranker at a place still has to score: known, or at most."""
    if isinstance(found, Searched):
        return 0
    if isinstance(found, NotStoredError) and found.what == "pairs" and place <= found.place:
        return len(found.keys) if place == found.place else 0
    return most


def _seconds(
    model: ModelPass, characters: int, asked: EngineConfig, context: Context
) -> tuple[float | None, str]:
    """The seconds of all workers together, and where their speed was measured."""
    rate = rate_of(model.path, context.engine.worker, context)
    if rate is not None:
        return characters / rate.speed, f"{rate.speed:,.0f} characters a second each, by earlier runs on Ray"
    here = LocalEngine().worker
    rate = rate_of(model.path, here, context)
    if rate is None or asked.gpus or here[2]:
        return None, "nothing was measured with such workers"
    speed = rate.speed * asked.threads / here[1]
    basis = f"by earlier runs in one process on {counted(int(here[1]), 'CPU')} of this machine"
    return characters / speed, f"{speed:,.0f} characters a second each, {basis}"


def _here(config: BenchConfig) -> str:
    """What is done on this machine, and how long it took in the last run."""
    what = "On this machine, but for search by exact and bm25: cutting, search, scores, tables, page"
    try:
        record = json.loads((config.results / config.name / "record.json").read_text(encoding="utf-8"))
        took, date = record["timings"], record["date"]
        seconds = took["total"] - sum(took.get(stage, 0.0) for stage in _APART)
    except (OSError, ValueError, KeyError):
        return f"{what}: time unknown (no earlier run in {config.results / config.name} can be read)."
    return f"{what}: {duration(seconds)} in the run of {date}."
