"""The passes of models over texts and pairs, each over the distinct items of all settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from harness.models import EncoderConfig, LocalEncoder
from harness.running.compute import Hold, LocalPass, ModelPass, ServedPass
from harness.running.config.answer_measures import reranker_of
from harness.running.session import Session
from harness.steps import Pair, PairScores, RerankerConfig
from harness.values import Run

if TYPE_CHECKING:
    from harness.measures import PairModel
    from harness.models import ServedEncoder


def encoding(config: EncoderConfig, session: Session) -> ModelPass:
    """The pass of an encoder over texts."""
    encoder = session.models.encoder(config)
    if isinstance(encoder, LocalEncoder):
        path = session.cache.vectors(encoder.fingerprint)
        hold: Hold = "none" if encoder.bulky else "unkept"
        return LocalPass("vectors", encoder.fingerprint, path, session, encoder, hold)
    path = session.cache.served("vectors", encoder.fingerprint)
    return ServedPass("vectors", encoder.fingerprint, path, session, cast("ServedEncoder", encoder))


def scoring(config: RerankerConfig, session: Session) -> ModelPass:
    """The pass of a model that scores pairs, each float32 [1]."""
    scorer = session.models.reranker(config)
    if scorer.served is not None:
        path = session.cache.served("pairs", scorer.served.fingerprint)
        return ServedPass("pairs", scorer.fingerprint, path, session, scorer.served)
    path = session.cache.scores(scorer.fingerprint.replace(":", "-"))
    return LocalPass("pairs", scorer.fingerprint, path, session, scorer)


def scores_of_pairs(pairs: Sequence[Pair], model: PairModel) -> Run[list[float]]:
    """The scores of pairs of texts by a cross-encoder, as a step."""
    scores = yield PairScores(reranker_of(model), pairs)
    return [score for (score,) in scores]
