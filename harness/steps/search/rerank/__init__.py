"""Rerankers: ranking → ranking, by scores of (query, passage) pairs. One file per kind."""

from harness.steps.search.rerank.scorer import PairScorer
from harness.values import KindAt, Kinds

KINDS: Kinds[PairScorer] = Kinds(
    "rerank",
    KindAt("cross_encoder", "CrossEncoderConfig", "CrossEncoderScorer"),
    KindAt("late_interaction", "LateInteractionConfig", "LateInteractionScorer"),
    KindAt("endpoint", "EndpointRerankerConfig", "ServedScorer"),
    KindAt("python", "PythonRerankerConfig", "PythonScorer"),
    KindAt("http", "HttpRerankerConfig", "HttpScorer"),
    home=__name__,
)
