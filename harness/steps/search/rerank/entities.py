"""A second match of what was found: the names in a query against those in each passage, as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SerializeAsAny

from harness.models import ComputingConfig, EmbedConfig, EncoderConfig
from harness.steps.search.depth import DECIMALS
from harness.steps.search.field import KINDS as FIELDS
from harness.steps.search.field import FieldConfig, Names
from harness.steps.search.field.entities import EntitiesConfig
from harness.steps.search.needs import AllAtOnce, Texts
from harness.steps.search.rerank import ListScorer, Scored, hashed
from harness.steps.search.step import RerankerConfig
from harness.values import Part, Run, Section, Together, under_way

# Raised when the same names are matched differently.
_VERSION = 1
Vectors = NDArray[np.float32]


class EntitiesMatchConfig(ComputingConfig, RerankerConfig):
    """The names of query and passage are matched again as vectors, and both orders are merged."""

    kind: Literal["entities"] = "entities"
    field: Annotated[SerializeAsAny[FieldConfig], Section("field")] = Field(
        EntitiesConfig(), description="What finds the names, a section like `field` of a retriever."
    )
    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="The bi-encoder that embeds every name: hub id, local folder, or "
        "`embedded:all-MiniLM-L6-v2` (needs no network).",
    )
    weight: float = Field(
        1.0, ge=0, description="How much the second match counts; the order before it counts 1."
    )
    k: float = Field(60.0, ge=0, description="The constant of reciprocal rank fusion, which merges both.")

    @property
    def embed(self) -> EmbedConfig:
        """The bi-encoder."""
        return self.made(EmbedConfig)

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """The bi-encoder, which no text without names needs."""
        return (self.embed,)

    @property
    def model_name(self) -> str:
        """The bi-encoder's name."""
        return self.model


class EntitiesMatch(ListScorer):
    """Ranks the candidates a second time by their names, and merges both orders by reciprocal ranks.

    The second match of a passage is the mean, over the names of the query, of the highest cosine with a name
    of the passage. A passage or a query that names nothing earns nothing by it.
    """

    config: EntitiesMatchConfig

    def __init__(self, config: EntitiesMatchConfig) -> None:
        super().__init__(config)
        self._field = FIELDS.make(config.field)

    @property
    def fingerprint(self) -> str:
        """The names, the encoder, and how both orders merge."""
        c = self.config
        names = self._field.identity(lambda encoder: encoder.make().fingerprint)
        return hashed(c.kind, [_VERSION, names, c.embed.make().fingerprint, c.weight, c.k])

    def run(self, lists: Sequence[Sequence[str]]) -> Run[list[Scored]]:
        """The merged scores of each list, and what naming its query has cost.

        Passages are named once, as they are indexed once: that is no cost of a query.
        """
        yield AllAtOnce("what it names is found for all queries at once", runs=False)
        queries = list(dict.fromkeys(query for query, *_ in lists))
        passages = list(dict.fromkeys(text for _, *texts in lists for text in texts))
        # one query at a time, so that each has its own cost
        parts = [Part(under_way(self._field.of_texts([query]))) for query in queries]
        of_passages, *of_queries = yield Together(
            [Part(under_way(self._field.of_passages(passages))), *parts]
        )
        names: dict[str, Names] = dict(zip(passages, of_passages, strict=True))
        distinct = dict.fromkeys(name for names_here in names.values() for name in names_here)
        names_of = {
            query: self._field.with_known([query], of_query, distinct)
            for query, of_query in zip(queries, of_queries, strict=True)
        }
        sought = {query: matched.names[0] for query, matched in names_of.items()}
        vector = yield from self._vectors(
            {*distinct, *(name for names_here in sought.values() for name in names_here)}
        )
        return [
            (self._merged(sought[query], [names[text] for text in texts], vector), names_of[query].cost)
            for query, *texts in lists
        ]

    def _vectors(self, names: set[str]) -> Run[dict[str, Vectors]]:
        """The unit vectors of the names."""
        ordered = sorted(names)
        if not ordered:
            return {}
        rows = yield Texts(self.config.embed, ordered, "queries")
        rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-12)
        return dict(zip(ordered, rows, strict=True))

    def _merged(self, sought: Names, passages: Sequence[Names], vector: dict[str, Vectors]) -> list[float]:
        """The sum of reciprocal ranks of every passage; equal matches keep the order before."""
        c = self.config
        scores = [1.0 / (c.k + rank) for rank in range(1, len(passages) + 1)]
        if not sought:
            return scores
        query = np.stack([vector[name] for name in sought])
        match = {
            place: round(
                float((query @ np.stack([vector[name] for name in passage]).T).max(axis=1).mean()), DECIMALS
            )
            for place, passage in enumerate(passages)
            if passage
        }
        for rank, place in enumerate(sorted(match, key=lambda place: -match[place]), start=1):
            scores[place] += c.weight / (c.k + rank)
        return scores
