"""Rerankers: ranking → ranking, by scores of (query, passage) pairs. One file per kind."""

from harness.steps.search.rerank.scorer import PairScorer
from harness.values import KindAt, Kinds

KINDS: Kinds[PairScorer] = Kinds(
    "rerank",
    KindAt("cross_encoder", "CrossEncoderConfig", "CrossEncoderScorer"),
    KindAt("late_interaction", "LateInteractionConfig", "LateInteractionScorer"),
    KindAt("endpoint", "EndpointRerankerConfig", "ServedScorer", module="scorer"),
    KindAt("llm", "LlmRerankerConfig", "LlmScorer"),
    KindAt("entities", "EntitiesMatchConfig", "EntitiesMatch"),
    KindAt("llm_entities", "LlmMatchConfig", "LlmMatch", module="harness.steps.search.rerank.entities"),
    KindAt("python", "PythonRerankerConfig", "PythonScorer"),
    home=__name__,
    retired={
        "http": "Use `endpoint`: {model: a name, base_url: your url, path: '', version, request, response, "
        "documents_per_request: your batch_size}; headers, method and limits go there too."
    },
)
