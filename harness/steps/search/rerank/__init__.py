"""Rerankers: ranking → ranking, by scores of (query, passage) pairs. One file per kind."""

from harness.steps.search.rerank.cross_encoder import CrossEncoderConfig, CrossEncoderScorer
from harness.steps.search.rerank.endpoint import EndpointRerankerConfig, ServedScorer
from harness.steps.search.rerank.http import HttpRerankerConfig, HttpScorer
from harness.steps.search.rerank.late_interaction import LateInteractionConfig, LateInteractionScorer
from harness.steps.search.rerank.python import PythonRerankerConfig, PythonScorer
from harness.steps.search.rerank.scorer import Pair, PairScorer, rerank
from harness.values import Kind, Kinds

KINDS: Kinds[PairScorer] = Kinds(
    "rerank",
    Kind(CrossEncoderConfig, CrossEncoderScorer),
    Kind(LateInteractionConfig, LateInteractionScorer),
    Kind(EndpointRerankerConfig, ServedScorer),
    Kind(PythonRerankerConfig, PythonScorer),
    Kind(HttpRerankerConfig, HttpScorer),
)
