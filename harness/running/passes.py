"""Vectors and scores of models, in one pass of each over the distinct items of all settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import models, steps
from harness.models import EncoderConfig, LocalEncoder
from harness.running import compute
from harness.running.context import Context
from harness.running.engine import ModelJob
from harness.steps import Effort, Pair, PendingCallsError, RerankerConfig

Items = Mapping[bytes, Any]
"""Distinct texts or pairs by their digests."""


@dataclass(frozen=True, slots=True)
class ModelPass:
    """A model that gives every item a value, and where its values are kept.

    ``name`` is what they are called; ``batches`` groups items, ``run`` computes one group, a value an item.
    ``job`` is ``run`` for a worker elsewhere; None if this process alone can run it, as for code of a user.
    ``hold`` says which values stay in memory. ``served``: the model is behind an endpoint, and computes
    nothing here. ``asked``: a language model is asked about each item, with answers in the ledger.
    """

    name: str
    fingerprint: str
    path: Path
    served: compute.Served | None = None
    batches: Callable[[Sequence[Any]], Iterable[list[int]]] | None = None
    run: Callable[[Sequence[Any]], Iterable[compute.Floats | bytes]] | None = None
    hold: compute.Holding = "all"
    job: ModelJob | None = None
    asked: Callable[[Sequence[Any]], Iterable[Sequence[float]]] | None = None

    def __call__(self, items: Items, context: Context) -> compute.Computed:
        """The value of every item: the stored one, else computed or bought, and stored."""
        if self.served is not None:
            return compute.compute_served(self.name, items, self.served, context)
        if self.asked is not None:
            before = context.bills.calls
            scores = self.asked(list(items.values()))
            values = [np.asarray(own, dtype=np.float32).tobytes() for own in scores]
            new = items if context.bills.calls > before else ()
            return compute.Computed(dict(zip(items, values, strict=True)), frozenset(new))
        if self.batches is None or self.run is None:
            raise TypeError(f"{self.fingerprint} computes {self.name} neither here nor at an endpoint")
        return compute.compute_new(
            self.name, items, self.path, self.batches, self.run, context, self.job, hold=self.hold
        )


def encoding(config: EncoderConfig, context: Context) -> ModelPass:
    """The pass of an encoder over texts."""
    encoder = context.models.encoder(config)
    if not config.runs_here and isinstance(encoder, models.ServedEncoder):
        path = context.cache.served("vectors", encoder.fingerprint)
        return ModelPass("vectors", encoder.fingerprint, path, encoder)
    path = context.cache.vectors(encoder.fingerprint)
    if not isinstance(encoder, LocalEncoder):
        return ModelPass("vectors", encoder.fingerprint, path)
    return ModelPass(
        "vectors",
        encoder.fingerprint,
        path,
        batches=encoder.batches,
        run=encoder.encode,
        hold="none" if encoder.bulky else "unkept",
        job=ModelJob(encoder.config, encoder.fingerprint),
    )


def scoring(config: RerankerConfig, context: Context) -> ModelPass:
    """The pass of a reranker: over pairs, each float32 [1], or lists of n passages, each float32 [n]."""
    scorer = context.models.reranker(config)
    if scorer.served is not None:
        path = context.cache.served("pairs", scorer.served.fingerprint)
        return ModelPass("pairs", scorer.fingerprint, path, scorer.served)
    if isinstance(scorer, steps.ListScorer):
        # which imports this module
        from harness.running.resources import Resources

        def asked(lists: Sequence[Sequence[str]]) -> list[Sequence[float]]:
            return [scores for scores, _ in scorer.ordered(lists, Resources(context))]

        return ModelPass("pairs", scorer.fingerprint, context.cache.ledger, asked=asked)
    path = context.cache.scores(scorer.fingerprint.replace(":", "-"))
    return ModelPass(
        "pairs",
        scorer.fingerprint,
        path,
        batches=scorer.batches,
        run=lambda pairs: scorer.score(pairs)[:, None],
        job=ModelJob(scorer.config, scorer.fingerprint)
        if isinstance(scorer, steps.LocalModelScorer)
        else None,
    )


def stored_values(texts: Sequence[str], config: EncoderConfig, context: Context) -> compute.StoredValues:
    """The encodings of ``texts``, read a part at a time; equal texts are encoded once."""
    keys = [compute.digest(text) for text in texts]
    encoder = encoding(config, context)
    done = encoder(dict(zip(keys, texts, strict=True)), context)
    return compute.StoredValues(encoder.name, keys, encoder.path, context, done.values)


def vectors(texts: Sequence[str], config: EncoderConfig, context: Context) -> NDArray[np.float32]:
    """The vectors of ``texts``, float32 [texts, dimension]; equal texts are embedded once."""
    return stored_values(texts, config, context)[:]


def pair_scores(pairs: Sequence[Pair], config: RerankerConfig, context: Context) -> list[float]:
    """The scores of ``pairs``, in their order; equal pairs are scored once."""
    keys = [compute.digest(*pair) for pair in pairs]
    done = scoring(config, context)(dict(zip(keys, pairs, strict=True)), context)
    return [float(done.floats(key)[0]) for key in keys]


Need = tuple[ModelPass, Items]


def embed_for_all(
    requests: Sequence[Sequence[tuple[EncoderConfig, Sequence[str]]]], context: Context
) -> list[Effort]:
    """Embed every distinct text of all requests, one pass per model; returns what each request took.

    A request is what one setting needs. A value that several need is computed for the first one.
    """
    needs = [
        [
            (encoding(config, context), {compute.digest(text): text for text in texts})
            for config, texts in request
        ]
        for request in requests
    ]
    return _for_all("vectors", needs, context, "embed")[1]


@dataclass(frozen=True, slots=True)
class PairScores:
    """The scores of the pairs of one request, in their order, and their effort."""

    scores: list[float]
    effort: Effort


def score_for_all(
    requests: Sequence[tuple[RerankerConfig, Sequence[Sequence[str]]]], context: Context
) -> list[PairScores]:
    """Score all requests, one pass a model: texts of queries, each with its passages; equal ones once."""
    passes = [scoring(config, context) for config, _ in requests]
    items = [
        steps.pairs_of(lists) if model.asked is None else lists
        for model, (_, lists) in zip(passes, requests, strict=True)
    ]
    keys = [[compute.digest(*item) for item in own] for own in items]
    needs = [
        [(model, dict(zip(own, its, strict=True)))]
        for model, own, its in zip(passes, keys, items, strict=True)
    ]
    done, efforts = _for_all("pairs", needs, context, "rerank")
    return [
        PairScores([float(score) for key in own for score in done[model.fingerprint].floats(key)], effort)
        for own, model, effort in zip(keys, passes, efforts, strict=True)
    ]


def _for_all(
    name: str, requests: Sequence[Sequence[Need]], context: Context, stage: str
) -> tuple[dict[str, compute.Computed], list[Effort]]:
    """What each model gives, by its fingerprint, and what each request took.

    The seconds of a pass are parted by the characters that were computed for each request. Raises
    PendingCallsError with all that endpoints would have to be asked for.
    """
    models: dict[str, ModelPass] = {}
    wanted: dict[str, dict[bytes, Any]] = {}
    needs: list[dict[str, dict[bytes, Any]]] = [{} for _ in requests]
    for need, request in zip(needs, requests, strict=True):
        for model, items in request:
            models[model.fingerprint] = model
            for own in (need, wanted):
                own.setdefault(model.fingerprint, {}).update(items)
    done: dict[str, compute.Computed] = {}
    seconds: dict[str, float] = {}
    missing: list[steps.PendingCalls] = []
    for fingerprint, model in models.items():
        begun = perf_counter()
        try:
            # what is asked is timed where it is
            with context.timed(stage) if model.asked is None else nullcontext():
                done[fingerprint] = model(wanted[fingerprint], context)
        except PendingCallsError as error:
            missing += error.missing
        seconds[fingerprint] = perf_counter() - begun
    if missing:
        raise PendingCallsError(*missing)
    left = {fingerprint: set(computed.new) for fingerprint, computed in done.items()}
    shares: list[dict[str, tuple[int, int]]] = []
    for need in needs:
        new = {fingerprint: items.keys() & left[fingerprint] for fingerprint, items in need.items()}
        for fingerprint, keys in new.items():
            left[fingerprint] -= keys
        shares.append(
            {f: (len(keys), sum(compute.length_of(need[f][key]) for key in keys)) for f, keys in new.items()}
        )
    values = [sum(map(len, need.values())) for need in needs]
    context.count(f"{name}_reused", sum(values) - sum(len(computed.new) for computed in done.values()))
    whole = {f: sum(share[f][1] for share in shares if f in share) for f in done}
    return done, [
        Effort(
            sum(seconds[f] * characters / max(1, whole[f]) for f, (_, characters) in share.items()),
            sum(new for new, _ in share.values()),
            count,
        )
        for share, count in zip(shares, values, strict=True)
    ]
