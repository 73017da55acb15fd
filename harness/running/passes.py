"""Vectors and scores of models, in one pass of each over the distinct items of all settings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from harness import steps
from harness.models import EncoderConfig, LocalEncoder
from harness.running.compute import (
    Computed,
    Hold,
    Items,
    LocalPass,
    ModelPass,
    ServedPass,
    StoredValues,
    digest,
    length_of,
)
from harness.running.context import Context
from harness.running.engine import value_bytes
from harness.steps import Effort, Pair, PendingCallsError, RerankerConfig

if TYPE_CHECKING:
    from harness.models import ServedEncoder


@dataclass(frozen=True, slots=True)
class AskedPass(ModelPass):
    """By a language model that is asked about lists of a query and n passages, float32 [n] each."""

    scorer: steps.ListScorer

    def __call__(self, items: Items) -> Computed:
        """The scores of every list; the answers are in the ledger."""
        # which imports this module
        from harness.running.resources import Resources

        before = self.context.bills.calls
        found = self.scorer.ordered(list(items.values()), Resources(self.context))
        values = {key: value_bytes(scores) for key, (scores, _) in zip(items, found, strict=True)}
        return Computed(values, frozenset(items if self.context.bills.calls > before else ()))


def encoding(config: EncoderConfig, context: Context) -> ModelPass:
    """The pass of an encoder over texts."""
    encoder = context.models.encoder(config)
    if isinstance(encoder, LocalEncoder):
        path = context.cache.vectors(encoder.fingerprint)
        hold: Hold = "none" if encoder.bulky else "unkept"
        return LocalPass("vectors", encoder.fingerprint, path, context, encoder, hold)
    path = context.cache.served("vectors", encoder.fingerprint)
    return ServedPass("vectors", encoder.fingerprint, path, context, cast("ServedEncoder", encoder))


def scoring(config: RerankerConfig, context: Context) -> ModelPass:
    """The pass of a reranker: over pairs, each float32 [1], or lists of n passages, each float32 [n]."""
    scorer = context.models.reranker(config)
    if scorer.served is not None:
        path = context.cache.served("pairs", scorer.served.fingerprint)
        return ServedPass("pairs", scorer.fingerprint, path, context, scorer.served)
    if isinstance(scorer, steps.ListScorer):
        return AskedPass("pairs", scorer.fingerprint, context.cache.ledger, context, scorer)
    path = context.cache.scores(scorer.fingerprint.replace(":", "-"))
    return LocalPass("pairs", scorer.fingerprint, path, context, scorer)


def stored_values(texts: Sequence[str], config: EncoderConfig, context: Context) -> StoredValues:
    """The encodings of ``texts``, read a part at a time; equal texts are encoded once."""
    keys = [digest(text) for text in texts]
    model = encoding(config, context)
    return StoredValues(model, keys, model(dict(zip(keys, texts, strict=True))).values)


def vectors(texts: Sequence[str], config: EncoderConfig, context: Context) -> NDArray[np.float32]:
    """The vectors of ``texts``, float32 [texts, dimension]; equal texts are embedded once."""
    return stored_values(texts, config, context)[:]


def pair_scores(pairs: Sequence[Pair], config: RerankerConfig, context: Context) -> list[float]:
    """The scores of ``pairs``, in their order; equal pairs are scored once."""
    keys = [digest(*pair) for pair in pairs]
    done = scoring(config, context)(dict(zip(keys, pairs, strict=True)))
    return [float(done.floats(key)[0]) for key in keys]


Need = tuple[ModelPass, Items]


def embed_for_all(
    requests: Sequence[Sequence[tuple[EncoderConfig, Sequence[str]]]], context: Context
) -> list[Effort]:
    """Embed every distinct text of all requests, one pass per model; returns what each request took.

    A request is what one setting needs. A value that several need is computed for the first one.
    """
    needs = [
        [(encoding(config, context), {digest(text): text for text in texts}) for config, texts in request]
        for request in requests
    ]
    return _for_all("vectors", needs, context, "embed")[1]


def score_for_all(
    requests: Sequence[tuple[RerankerConfig, Sequence[Sequence[str]]]], context: Context
) -> list[tuple[list[float], Effort]]:
    """Score all requests, one pass a model: texts of queries, each with its passages; equal ones once.

    Returns the scores of each request, in the order of its passages, and its effort.
    """
    passes = [scoring(config, context) for config, _ in requests]
    items = [
        lists if isinstance(model, AskedPass) else steps.pairs_of(lists)
        for model, (_, lists) in zip(passes, requests, strict=True)
    ]
    keys = [[digest(*item) for item in own] for own in items]
    needs = [
        [(model, dict(zip(own, its, strict=True)))]
        for model, own, its in zip(passes, keys, items, strict=True)
    ]
    done, efforts = _for_all("pairs", needs, context, "rerank")
    scores = [
        [float(score) for key in own for score in done[model.fingerprint].floats(key)]
        for own, model in zip(keys, passes, strict=True)
    ]
    return list(zip(scores, efforts, strict=True))


def _for_all(
    name: str, requests: Sequence[Sequence[Need]], context: Context, stage: str
) -> tuple[dict[str, Computed], list[Effort]]:
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
    done: dict[str, Computed] = {}
    a_character: dict[str, float] = {}
    missing: list[steps.PendingCalls] = []
    for fingerprint, model in models.items():
        items, begun = wanted[fingerprint], perf_counter()
        try:
            # what is asked is timed where it is
            with nullcontext() if isinstance(model, AskedPass) else context.timed(stage):
                done[fingerprint] = model(items)
        except PendingCallsError as error:
            missing += error.missing
            continue
        characters = sum(length_of(items[key]) for key in done[fingerprint].new)
        a_character[fingerprint] = (perf_counter() - begun) / max(1, characters)
    if missing:
        raise PendingCallsError(*missing)
    left = {fingerprint: set(found.new) for fingerprint, found in done.items()}
    efforts = []
    for need in needs:
        seconds, computed = 0.0, 0
        for fingerprint, its in need.items():
            new = its.keys() & left[fingerprint]
            left[fingerprint] -= new
            seconds += a_character[fingerprint] * sum(length_of(its[key]) for key in new)
            computed += len(new)
        efforts.append(Effort(seconds, computed, sum(map(len, need.values()))))
    context.counts[f"{name}_reused"] += sum(one.values - one.computed for one in efforts)
    return done, efforts
