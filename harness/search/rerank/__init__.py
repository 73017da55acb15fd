"""Ranking → Ranking: score (query, passage) pairs and put the head of the ranking in the new order."""

from harness.kinds import Kind
from harness.search.rerank.cross_encoder import CrossEncoderConfig, CrossEncoderScorer
from harness.search.rerank.late_interaction import LateInteractionConfig, LateInteractionScorer
from harness.search.rerank.order import rerank

KINDS: dict[str, Kind] = {
    "cross_encoder": Kind(CrossEncoderConfig, CrossEncoderScorer),
    "late_interaction": Kind(LateInteractionConfig, LateInteractionScorer),
}

__all__ = [
    "KINDS",
    "CrossEncoderConfig",
    "CrossEncoderScorer",
    "LateInteractionConfig",
    "LateInteractionScorer",
    "rerank",
]
