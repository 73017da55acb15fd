"""Rerankers: ranking → ranking, by scores of (query, passage) pairs. One file per kind."""

from harness.kinds import Kind, Kinds
from harness.search.rerank.cross_encoder import CrossEncoderConfig, CrossEncoderScorer
from harness.search.rerank.endpoint import EndpointRerankerConfig, ServedScorer
from harness.search.rerank.http import HttpRerankerConfig, HttpScorer
from harness.search.rerank.late_interaction import LateInteractionConfig, LateInteractionScorer
from harness.search.rerank.python import PythonRerankerConfig, PythonScorer
from harness.search.rerank.scorer import Pair, PairScorer, rerank

KINDS: Kinds[PairScorer] = Kinds(
    "rerank",
    Kind(CrossEncoderConfig, CrossEncoderScorer),
    Kind(LateInteractionConfig, LateInteractionScorer),
    Kind(EndpointRerankerConfig, ServedScorer),
    Kind(PythonRerankerConfig, PythonScorer),
    Kind(HttpRerankerConfig, HttpScorer),
)
