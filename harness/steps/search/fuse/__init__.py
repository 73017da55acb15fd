"""Fusions: several rankings → one, those of retrievers (routes) or of several phrasings of one query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Generic, TypeVar

from pydantic import Field, SerializeAsAny, model_validator

from harness.steps.search.depth import cut
from harness.steps.search.identity import identity_of
from harness.steps.search.needs import Route
from harness.steps.search.passages import Passages
from harness.steps.search.step import Fingerprint, Identity, RetrievalResult, Retriever, RetrieverConfig
from harness.values import Query, Ranking, Run, Section, Together, counted


class FusionConfig(RetrieverConfig):
    """Base of the configurations of fusions: the routes, and how much each counts."""

    routes: Annotated[tuple[SerializeAsAny[RetrieverConfig], ...], Section("retrieve")] = Field(
        min_length=1, description="The retrievers to fuse: a list of sections like `retrieve`."
    )
    weights: tuple[Annotated[float, Field(ge=0)], ...] | None = Field(
        None,
        description="The weight of each route, in order; a list of lists is a sweep. Empty: equal weights.",
    )

    @model_validator(mode="after")
    def _no_field(self) -> FusionConfig:
        if self.field is not None:
            raise ValueError("field is for the routes of a fusion; give each route its own")
        return self

    @model_validator(mode="after")
    def _one_weight_a_route(self) -> FusionConfig:
        if self.weights is None:
            return self
        if len(self.weights) != len(self.routes):
            routes = counted(len(self.routes), "route")
            weights = counted(len(self.weights), "number")
            raise ValueError(f"weights has {weights} for {routes}; give one for each")
        if not any(self.weights):
            raise ValueError("weights are all 0; give one above 0")
        return self

    @property
    def parts(self) -> tuple[RetrieverConfig, ...]:
        """The routes."""
        return self.routes


Fusing = TypeVar("Fusing", bound=FusionConfig)


class Fusion(Retriever[Fusing], Generic[Fusing]):
    """Runs its routes and combines, for every query, what they found."""

    @abstractmethod
    def combine(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
        """The fused score of every chunk that any route ranked for one query; higher is better.

        One ranking and one weight per route. A chunk that a route did not find gets the value of the rule for
        absent chunks.
        """

    def identity(self, fingerprint: Fingerprint) -> Identity:
        """The rule with its own keys, and the identities of the routes."""
        facts = self.config.model_dump(
            mode="json", exclude={"routes", "rewrite", "filter", "field", "context"}
        )
        return [facts, [identity_of(route, fingerprint) for route in self.config.routes]]

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
        """Search by every route, then fuse; equal scores keep the order of the first route that has them."""
        routes = [Route(name, route, passages, queries) for name, route in self.config.named_parts]
        outputs: Sequence[RetrievalResult] = yield Together(routes)
        weights = self.config.weights or (1.0,) * len(outputs)
        length = passages.length_of
        rankings = []
        for at, query in enumerate(queries):
            scores = self.combine([output.rankings[at] for output in outputs], weights)
            rankings.append(ranked_by(scores, query.query_id, self.config, length))
        return RetrievalResult(rankings, routes=tuple(outputs))


def ranked_by(
    scores: Mapping[str, float], query_id: str, config: RetrieverConfig, length: Mapping[str, int]
) -> Ranking:
    """The ranking by fused scores, as deep as ``config`` asks for; ``length`` is in characters, by chunk."""
    return cut(Ranking.by_score(query_id, list(scores), list(scores.values())), config, length)


def fuse_phrasings(
    output: RetrievalResult,
    retriever: RetrieverConfig,
    passages: Passages,
    queries: Sequence[Query],
    sizes: Sequence[int],
    fuse: Callable[[Sequence[Ranking]], Mapping[str, float]],
) -> RetrievalResult:
    """The output of a retriever that was asked ``sizes[i]`` texts for query i, as one ranking per query.

    The routes of a fusion are treated alike, so that each can be scored. A query that asks nothing has an
    empty ranking. Where no query asks more than one text, nothing is fused and the scores stay. Rankings are
    as deep as the retriever, or the route, asks for.
    """
    length = passages.length_of
    several = max(sizes, default=0) > 1

    def fused(query: Query, rankings: Sequence[Ranking], config: RetrieverConfig) -> Ranking:
        if not rankings:
            return Ranking(query.query_id, (), ())
        return ranked_by(fuse(rankings), query.query_id, config, length) if several else rankings[0]

    def of(whole: RetrievalResult, config: RetrieverConfig) -> RetrievalResult:
        rankings = iter(whole.rankings)
        # filters read the question, so all phrasings of one are filtered alike
        filtered = {result.query_id: result for result in whole.filtered}
        return replace(
            whole,
            rankings=[
                fused(query, list(islice(rankings, size)), config)
                for query, size in zip(queries, sizes, strict=True)
            ],
            routes=tuple(of(route, part) for route, part in zip(whole.routes, config.parts, strict=False)),
            filtered=tuple(filtered[query.query_id] for query in queries if query.query_id in filtered),
        )

    return of(output, retriever)
