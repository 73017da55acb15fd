"""Rerankers: ranking → ranking, by scores of (query, passage) pairs. One file per kind."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness import models
from harness.models import LocalConfig, LocalModel, RerankEndpoint
from harness.steps.search.step import RerankerConfig
from harness.values import NOT_SCORED, KindAt, Kinds, Ranking, Run, Step, text_sha256

Pair = tuple[str, str]


def hashed(kind: str, facts: Any) -> str:
    """The fingerprint of a scorer of that kind by JSON-able facts."""
    return f"{kind}:{text_sha256(json.dumps(facts, sort_keys=True, default=str))}"


def pairs_of(lists: Iterable[Sequence[str]]) -> list[Pair]:
    """Each query with each of the passages after it."""
    return [(query, passage) for query, *passages in lists for passage in passages]


class PairScorer(Step[Any]):
    """Scores pairs of texts; models load their weights with the first pair that has to be scored.

    ``own_code``: it runs the user's own code, which may cost something. ``served``: the endpoint that is
    asked for scores; None where they are computed here.
    """

    own_code: ClassVar[bool] = False
    served: models.ServedPairs | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Everything that decides a score besides the pair."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """The model behind it, for the run record: its name among the facts."""

    @abstractmethod
    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """Indices of ``pairs`` in groups that are scored together."""

    @abstractmethod
    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The score of every (query, passage) pair of one batch, float32 [pairs]; higher is better."""

    def forget(self) -> None:
        """Forget cached queries, so that a known query takes as long as a new one."""

    def try_out(self) -> None:
        """Make sure that it can be used; raises HarnessError."""


class PaidScorer(PairScorer):
    """Base of those that cost money: only a run asks them, which keeps what was paid for."""

    def describe(self) -> dict[str, str]:
        """The model by its name: what weights the endpoint has is not known here."""
        return {"name": self.config.model_name, "origin": "endpoint", "fingerprint": self.fingerprint}

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """All together."""
        return [list(range(len(pairs)))]

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Not offered."""
        raise TypeError(f"{type(self).__name__} is asked by a run, which keeps the scores")


class EndpointRerankerConfig(RerankerConfig):
    """A reranker behind an endpoint: Cohere, Jina, vLLM, TEI. Its scores are paid for once and kept."""

    kind: Literal["endpoint"] = "endpoint"
    endpoint: RerankEndpoint = Field(description="Where it is served, what it costs, and its rate limits.")

    @property
    def model_name(self) -> str:
        """The model's name."""
        return self.endpoint.model


class ServedScorer(PaidScorer):
    """Scores pairs by an endpoint. A score is kept by its pair, whatever others were in its request."""

    def __init__(self, config: EndpointRerankerConfig) -> None:
        super().__init__(config)
        self.served: models.ServedPairs = models.ServedPairs(config.endpoint)

    @property
    def fingerprint(self) -> str:
        """The name of the model and what is sent with the texts."""
        return f"endpoint:{self.served.fingerprint}"

    def describe(self) -> dict[str, str]:
        """The model, and what decides its scores wherever it is served."""
        return super().describe() | {"fingerprint": self.served.fingerprint}


Scored = tuple[Sequence[float], float | None]
"""The scores of the passages of a list, and what they cost, whichever run paid; None without a price."""


class ListScorer(PaidScorer):
    """Scores passages by asking a language model, about several at once if it likes; kept in the ledger."""

    @abstractmethod
    def run(self, lists: Sequence[Sequence[str]]) -> list[Scored] | Run[list[Scored]]:
        """The scores of each list of passages after their query, and their cost; a generator yields needs.

        Raises LlmError without an answer.
        """


class LocalModelConfig(LocalConfig, RerankerConfig):
    """Base of the configurations of rerankers whose model runs here."""


Configured = TypeVar("Configured", bound=LocalModelConfig)


class LocalModelScorer(LocalModel[Configured], PairScorer, Generic[Configured]):
    """Scores pairs with a model that runs here.

    ``reads_once``: it computes each passage once for all of its queries.
    """

    reads_once: ClassVar[bool] = False

    @property
    def fingerprint(self) -> str:
        """Everything that decides a score besides the pair."""
        return f"{self.config.kind}:{self.model.computing_in(self.config.dtype, self.config.backend)}"

    def numbers(self, texts: Sequence[str]) -> Iterable[NDArray[np.float32]]:
        """The scores of one batch of texts for a word."""
        return [self.score([("word", text) for text in texts])]


def rerank(ranking: Ranking, scores: Sequence[float]) -> Ranking:
    """The first ``len(scores)`` chunks of ``ranking`` in the order of ``scores``, highest first.

    The others follow in the retriever's order, as NOT_SCORED: a score of the retriever cannot be compared
    with one of the reranker. Equal scores keep the retriever's order.
    """
    head = Ranking.by_score(ranking.query_id, ranking.chunk_ids[: len(scores)], scores)
    tail = ranking.chunk_ids[len(scores) :]
    return Ranking(ranking.query_id, head.chunk_ids + tail, head.scores + (NOT_SCORED,) * len(tail))


KINDS: Kinds[PairScorer] = Kinds(
    "rerank",
    KindAt(
        "cross_encoder",
        "CrossEncoderConfig",
        "CrossEncoderScorer",
        tries=({"model": "cross-encoder/ms-marco-MiniLM-L-6-v2"}, {"model": "BAAI/bge-reranker-v2-m3"}),
    ),
    KindAt(
        "late_interaction",
        "LateInteractionConfig",
        "LateInteractionScorer",
        tries=({"model": "embedded:maxsim"},),
    ),
    KindAt(
        "endpoint",
        "EndpointRerankerConfig",
        "ServedScorer",
        module="harness.steps.search.rerank",
        words="served model",
    ),
    KindAt("llm", "LlmRerankerConfig", "LlmScorer", words="language model"),
    KindAt("entities", "EntitiesMatchConfig", "EntitiesMatch", words="second match by entities"),
    KindAt("python", "PythonRerankerConfig", "PythonScorer", words="own function"),
    home=__name__,
    retired={
        "http": "Use `endpoint`: {model: a name, base_url: your url, path: '', version, request, response, "
        "documents_per_request: your batch_size}; headers, method and limits go there too.",
        "llm_entities": "Use `entities` with field: {kind: llm_entities, …}.",
    },
)
