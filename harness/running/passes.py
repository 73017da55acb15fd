"""Vectors and scores of models, in one pass of each over the distinct items of all settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from harness.models import EncoderConfig, LocalEncoder
from harness.running.compute import Hold, LocalPass, ModelPass, ServedPass, StoredValues, digest
from harness.running.config.answer_measures import reranker_of
from harness.running.context import Context
from harness.steps import Pair, PairScores, RerankerConfig
from harness.values import Run

if TYPE_CHECKING:
    from harness.measures import PairModel
    from harness.models import ServedEncoder


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
    """The pass of a model that scores pairs, each float32 [1]."""
    scorer = context.models.reranker(config)
    if scorer.served is not None:
        path = context.cache.served("pairs", scorer.served.fingerprint)
        return ServedPass("pairs", scorer.fingerprint, path, context, scorer.served)
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


def scores_of_pairs(pairs: Sequence[Pair], model: PairModel) -> Run[list[float]]:
    """The scores of pairs of texts by a cross-encoder, as a step."""
    scores = yield PairScores(reranker_of(model), pairs)
    return [score for (score,) in scores]
