"""Embeddings by OpenAI's protocol: texts → requests, replies → vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from harness.models.encoder import Encoder, EncoderConfig
from harness.models.llm.money import estimate_tokens
from harness.models.served.served_endpoint import EmbeddingEndpoint

if TYPE_CHECKING:
    from harness.models.served.fetching import ServedRequest


class ServedEmbedConfig(EncoderConfig):
    """A bi-encoder behind an endpoint."""

    runs_here: ClassVar[bool] = False

    endpoint: EmbeddingEndpoint = Field(description="Where it is served.")

    @property
    def model_name(self) -> str:
        """The model's name."""
        return self.endpoint.model

    def make(self) -> ServedEncoder:
        """The encoder; sends nothing."""
        return ServedEncoder(self.endpoint)


class ServedEncoder(Encoder):
    """A bi-encoder behind an endpoint: its identity, and the requests that embed texts."""

    noun = "texts"

    def __init__(self, endpoint: EmbeddingEndpoint) -> None:
        self.endpoint = endpoint

    @property
    def fingerprint(self) -> str:
        """The name of the model and what is sent with the texts, wherever it is served."""
        return self.endpoint.fingerprint

    def describe(self) -> dict[str, str]:
        """The model by its name: what weights the endpoint has is not known here."""
        return {"name": self.endpoint.model, "origin": "endpoint", "fingerprint": self.fingerprint}

    def tokens(self, text: str) -> int:
        """About how many tokens a text has."""
        return estimate_tokens(text)

    def requests(self, texts: Sequence[str], width: int | None = None) -> Iterator[ServedRequest]:
        """Requests for all texts in their order; ``width`` is how long vectors of this model are known to be.

        Vectors of other requests must be as long as those of the first one that is answered.
        """
        # what sends is loaded where something is sent
        from harness.models.served.fetching import ServedRequest

        width = self.endpoint.dimensions or width
        lengths = {width} if width else set[int]()
        size = self.endpoint.texts_per_request
        for start in range(0, len(texts), size):
            batch = list(texts[start : start + size])
            yield ServedRequest(
                body=self._arguments(batch),
                tokens=sum(map(estimate_tokens, batch)),
                read=partial(_vectors, count=len(batch), dimensions=lengths),
                items=tuple(range(start, start + len(batch))),
            )

    def _arguments(self, texts: list[str]) -> dict[str, Any]:
        """The arguments of ``embeddings.create``."""
        e = self.endpoint
        length = {} if e.dimensions is None else {"dimensions": e.dimensions}
        return {
            "model": e.sent_model,
            "input": texts,
            "encoding_format": "float",
            **length,
            "extra_body": e.extra_body,
        }


def _vectors(data: Any, count: int, dimensions: set[int]) -> tuple[list[Any], int | None]:
    """The vectors in a reply, and the tokens it used.

    ``dimensions`` are the lengths of the vectors of earlier replies; those of this one are added to it.
    """
    from openai.types import CreateEmbeddingResponse

    from harness.models.llm.openai_client import typed
    from harness.models.served.fetching import in_order, numbers, tokens_used, unusable

    items: Any = typed(CreateEmbeddingResponse, data if isinstance(data, dict) else {}).data
    rows = [numbers(row, "vector") for row in in_order(items, count, _embedding, "vectors")]
    lengths = {len(row) for row in rows}
    if len(lengths | dimensions) != 1:
        expected = f" where {min(dimensions)} are expected" if dimensions else ""
        raise unusable(f"vectors of {', '.join(map(str, sorted(lengths)))} numbers{expected}")
    if any(not np.any(row) for row in rows):
        raise unusable("a vector of zeros, which has no direction")
    dimensions |= lengths
    return rows, tokens_used(data)


def _embedding(item: dict[str, Any]) -> tuple[Any, Any]:
    from openai.types import Embedding

    from harness.models.llm.openai_client import typed

    embedding = typed(Embedding, item)
    return embedding.index, embedding.embedding
