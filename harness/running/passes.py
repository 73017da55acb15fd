"""Vectors and scores of models, in one pass of each over the distinct items of all settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from harness.models import EncoderConfig, LocalEncoder, ServedEncoder
from harness.running.compute import Computed, compute_new, digest
from harness.running.context import Context
from harness.running.served import compute_served
from harness.steps import (
    Effort,
    Pair,
    PairScorer,
    PendingCalls,
    PendingCallsError,
    RerankerConfig,
    ServedScorer,
)


def vectors(texts: Sequence[str], config: EncoderConfig, context: Context) -> NDArray[np.float32]:
    """The vectors of ``texts``, float32 [texts, dimension]; equal texts are embedded once."""
    keys = [digest(text) for text in texts]
    found = embedded(keys, texts, config, context)
    return np.stack([found.floats(key) for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)


def embedded(
    keys: Sequence[bytes], texts: Sequence[str], config: EncoderConfig, context: Context
) -> Computed:
    """The vectors of ``texts`` by their ``keys``, which are their digests."""
    encoder = context.encoder(config)
    if isinstance(encoder, ServedEncoder):
        return compute_served("vectors", keys, texts, encoder, context)
    if not isinstance(encoder, LocalEncoder):
        raise TypeError(f"{type(encoder).__name__} encodes neither here nor at an endpoint")
    return compute_new(
        "vectors",
        keys,
        vectors_file(config, context),
        batches=lambda indices: encoder.batches([texts[i] for i in indices]),
        run=lambda batch: encoder.encode([texts[i] for i in batch]),
        context=context,
        hold=not encoder.bulky,
    )


def vectors_file(config: EncoderConfig, context: Context) -> Path:
    """The file with the values of an encoder."""
    encoder = context.encoder(config)
    if isinstance(encoder, ServedEncoder):
        return context.cache.served("vectors", encoder.fingerprint)
    return context.cache.vectors(encoder.fingerprint)


@dataclass(frozen=True, slots=True)
class PairScores:
    """The scores of the pairs of one request, in their order, and their effort."""

    scores: list[float]
    effort: Effort


def embed_for_all(
    requests: Sequence[Sequence[tuple[EncoderConfig, Sequence[str]]]], context: Context
) -> list[Effort]:
    """Embed every distinct text of all requests, one pass per model; returns what each request took.

    A request is what one setting needs. A value that several need is computed for the first one.
    """
    wanted: dict[str, tuple[EncoderConfig, dict[bytes, str]]] = {}
    needs: list[dict[str, dict[bytes, int]]] = []
    for request in requests:
        own: dict[str, dict[bytes, int]] = {}
        for config, texts in request:
            model = context.encoder(config).fingerprint
            items = {digest(text): text for text in texts}
            wanted.setdefault(model, (config, {}))[1].update(items)
            own.setdefault(model, {}).update({key: len(text) for key, text in items.items()})
        needs.append(own)
    done: dict[str, tuple[Computed, float]] = {}
    missing: list[PendingCalls] = []
    for model, (config, items) in wanted.items():
        work = partial(embedded, list(items), list(items.values()), config, context)
        try:
            done[model] = _timed(work, context, "embed")
        except PendingCallsError as error:
            missing += error.missing
    if missing:
        raise PendingCallsError(*missing)
    return _shares(needs, done, context, "vectors")


def score_for_all(
    requests: Sequence[tuple[RerankerConfig, Sequence[Pair]]], context: Context
) -> list[PairScores]:
    """Score every distinct pair of all requests, one pass per model."""
    wanted: dict[str, tuple[PairScorer, dict[bytes, Pair]]] = {}
    needs: list[dict[str, dict[bytes, int]]] = []
    asked: list[tuple[str, list[bytes]]] = []
    for config, pairs in requests:
        scorer = context.reranker(config)
        model = scorer.fingerprint
        keys = [digest(*pair) for pair in pairs]
        wanted.setdefault(model, (scorer, {}))[1].update(zip(keys, pairs, strict=True))
        needs.append({model: {key: sum(map(len, pair)) for key, pair in zip(keys, pairs, strict=True)}})
        asked.append((model, keys))
    done = {
        model: _timed(partial(scored, list(items), list(items.values()), scorer, context), context, "rerank")
        for model, (scorer, items) in wanted.items()
    }
    efforts = _shares(needs, done, context, "pairs")
    return [
        PairScores([float(done[model][0].floats(key)[0]) for key in keys], effort)
        for (model, keys), effort in zip(asked, efforts, strict=True)
    ]


def scored(keys: Sequence[bytes], pairs: Sequence[Pair], scorer: PairScorer, context: Context) -> Computed:
    """The scores of ``pairs`` by their ``keys``, which are their digests: float32 [1] each."""
    if isinstance(scorer, ServedScorer):
        return compute_served("pairs", keys, pairs, scorer.served, context)
    return compute_new(
        "pairs",
        keys,
        scores_file(scorer, context),
        batches=lambda indices: scorer.batches([pairs[i] for i in indices]),
        run=lambda batch: scorer.score([pairs[i] for i in batch])[:, None],
        context=context,
    )


def scores_file(scorer: PairScorer, context: Context) -> Path:
    """The file with the scores of a reranker."""
    if isinstance(scorer, ServedScorer):
        return context.cache.served("pairs", scorer.served.fingerprint)
    return context.cache.scores(scorer.fingerprint.replace(":", "-"))


def _timed(work: Callable[[], Computed], context: Context, stage: str) -> tuple[Computed, float]:
    begun = perf_counter()
    with context.timed(stage):
        return work(), perf_counter() - begun


def _shares(
    needs: Sequence[Mapping[str, Mapping[bytes, int]]],
    done: Mapping[str, tuple[Computed, float]],
    context: Context,
    name: str,
) -> list[Effort]:
    """Part the seconds of each pass among the requests by the characters that were computed for each."""
    left = {model: set(computed.new) for model, (computed, _) in done.items()}
    length = dict.fromkeys(done, 0)
    mine: list[dict[str, tuple[int, int, int]]] = []
    for need in needs:
        own = {}
        for model, items in need.items():
            new = items.keys() & left[model]
            left[model] -= new
            characters = sum(items[key] for key in new)
            length[model] += characters
            own[model] = (len(items), len(new), characters)
        mine.append(own)
    needed = sum(len(items) for need in needs for items in need.values())
    context.count(f"{name}_reused", needed - sum(len(computed.new) for computed, _ in done.values()))
    return [
        Effort(
            sum(done[m][1] * characters / max(1, length[m]) for m, (_, _, characters) in own.items()),
            sum(new for _, new, _ in own.values()),
            sum(values for values, _, _ in own.values()),
        )
        for own in mine
    ]
