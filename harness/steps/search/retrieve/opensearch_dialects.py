"""Where OpenSearch and Elasticsearch differ: mappings, searches by vectors, fusion, what a score means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

Body = dict[str, Any]
# Elasticsearch looks at no more candidates
_MOST = 10_000


class Dialect(ABC):
    """The bodies of one store; ``similarities`` are its names of our distances."""

    vector_type: ClassVar[str]
    similarities: ClassVar[dict[str, str]]

    def distance_of(self, name: str) -> str | None:
        """Our name of a distance."""
        return {theirs: ours for ours, theirs in self.similarities.items()}.get(name)

    @abstractmethod
    def mapping(self, dimension: int, c: Any) -> Body:
        """The field of the vectors."""

    @abstractmethod
    def settings(self) -> Body:
        """What an index of vectors needs besides."""

    @abstractmethod
    def index_facts(self, field: Body) -> tuple[int | None, str | None, str]:
        """Dimension, our distance, and the index in words, of a field."""

    @abstractmethod
    def similarity_name(self, field: Body, exact: bool) -> str:
        """By which rule of ``similarity_of`` a score is read."""

    @abstractmethod
    def near(self, name: str, vector: list[float], depth: int, c: Any, field: Body) -> Body:
        """The search by the index."""

    @abstractmethod
    def scan(self, name: str, vector: list[float], depth: int, c: Any, field: Body) -> Body:
        """The search by a script over all rows that have a vector."""

    @abstractmethod
    def hybrid(self, near: Body, words: Body, depth: int, constant: int) -> Body:
        """Both, fused by reciprocal ranks."""

    @abstractmethod
    def near_within(self, body: Body, filters: list[Body]) -> Body:
        """A search by the index among the rows that all filters leave."""

    def within(self, body: Body, filters: list[Body]) -> Body:
        """A search by the index, or by a script, among the rows that all filters leave."""
        script = body.get("query", {}).get("script_score")
        if script is None:
            return self.near_within(body, filters)
        rows = {"bool": {"filter": [script["query"], *filters]}}
        return {"query": {"script_score": {**script, "query": rows}}}

    def source(self, name: str, vectors: bool, version: tuple[int, ...]) -> Any:
        """What is given of a row."""
        return True if vectors else {"excludes": [name]}


class OpenSearch(Dialect):
    """OpenSearch 2.19 or later."""

    vector_type = "knn_vector"
    similarities: ClassVar = {"cosine": "cosinesimil", "l2": "l2", "ip": "innerproduct"}

    def mapping(self, dimension: int, c: Any) -> Body:
        """A graph of the engine that is named."""
        parameters = {"m": c.max_neighbors, "ef_construction": c.ef_construction}
        space = self.similarities[c.distance]
        method = {"name": "hnsw", "engine": c.engine, "space_type": space, "parameters": parameters}
        return {"type": "knn_vector", "dimension": dimension, "method": method}

    def settings(self) -> Body:
        """Without it vectors are stored and have no index."""
        return {"knn": True}

    def _space(self, field: Body) -> str:
        method = field.get("method") or {}
        return str(method.get("space_type") or field.get("space_type") or "l2")

    def index_facts(self, field: Body) -> tuple[int | None, str | None, str]:
        """The method, which may be left to the store."""
        method = field.get("method") or {}
        words = f"{method.get('engine', 'its engine')}, {method.get('name', 'hnsw')}"
        return field.get("dimension"), self.distance_of(self._space(field)), words

    def similarity_name(self, field: Body, exact: bool) -> str:
        """The script gives cosines another scale."""
        space = self._space(field)
        return "script_cosine" if exact and space == "cosinesimil" else space

    def near(self, name: str, vector: list[float], depth: int, c: Any, field: Body) -> Body:
        """A query of its own."""
        search = {"vector": vector, "k": depth, "method_parameters": {"ef_search": max(depth, c.ef_search)}}
        return {"query": {"knn": {name: search}}}

    def scan(self, name: str, vector: list[float], depth: int, c: Any, field: Body) -> Body:
        """The script of the plugin."""
        parameters = {"field": name, "query_value": vector, "space_type": self._space(field)}
        script = {"lang": "knn", "source": "knn_score", "params": parameters}
        return {"query": {"script_score": {"query": {"exists": {"field": name}}, "script": script}}}

    def near_within(self, body: Body, filters: list[Body]) -> Body:
        """Within the query, so that the filter comes first."""
        ((name, search),) = body["query"]["knn"].items()
        return {"query": {"knn": {name: {**search, "filter": {"bool": {"filter": filters}}}}}}

    def hybrid(self, near: Body, words: Body, depth: int, constant: int) -> Body:
        """By a search pipeline that lives as long as the request."""
        fusion = {"combination": {"technique": "rrf", "rank_constant": constant}}
        return {
            "query": {"hybrid": {"queries": [words, near["query"]]}},
            "search_pipeline": {"phase_results_processors": [{"score-ranker-processor": fusion}]},
        }


class Elasticsearch(Dialect):
    """Elasticsearch 8.12 or later."""

    vector_type = "dense_vector"
    similarities: ClassVar = {"cosine": "cosine", "l2": "l2_norm", "ip": "max_inner_product"}

    def mapping(self, dimension: int, c: Any) -> Body:
        """A graph over whole vectors, unless codes are asked for."""
        options = {"type": c.codes, "m": c.max_neighbors, "ef_construction": c.ef_construction}
        similarity = self.similarities[c.distance]
        place = {"index": True, "similarity": similarity, "index_options": options}
        return {"type": "dense_vector", "dims": dimension, **place}

    def settings(self) -> Body:
        """Nothing."""
        return {}

    def distance_of(self, name: str) -> str | None:
        """Of vectors of length 1 the inner product is the cosine, and is called by its own name."""
        return "ip" if name == "dot_product" else super().distance_of(name)

    def index_facts(self, field: Body) -> tuple[int | None, str | None, str]:
        """A field without an index is searched by scripts alone."""
        words = str((field.get("index_options") or {}).get("type", "its default"))
        name = str(field.get("similarity", "cosine"))
        return field.get("dims"), self.distance_of(name), words if field.get("index", True) else "none"

    def similarity_name(self, field: Body, exact: bool) -> str:
        """The script scores as the index does, but for inner products."""
        return str(field.get("similarity", "cosine"))

    def near(self, name: str, vector: list[float], depth: int, c: Any, field: Body) -> Body:
        """A section beside the query."""
        candidates = min(_MOST, max(depth, c.ef_search))
        return {"knn": {"field": name, "query_vector": vector, "k": depth, "num_candidates": candidates}}

    def scan(self, name: str, vector: list[float], depth: int, c: Any, field: Body) -> Body:
        """Scripts in Painless, on the scale of the index."""
        product = f"double d = dotProduct(params.v, '{name}'); "
        sources = {
            "cosine": f"(1 + cosineSimilarity(params.v, '{name}')) / 2",
            "l2_norm": f"double d = l2norm(params.v, '{name}'); return 1 / (1 + d * d)",
            "dot_product": f"(1 + dotProduct(params.v, '{name}')) / 2",
            "max_inner_product": product + "return d < 0 ? 1 / (1 - d) : d + 1",
        }
        script = {"source": sources[self.similarity_name(field, True)], "params": {"v": vector}}
        return {"query": {"script_score": {"query": {"exists": {"field": name}}, "script": script}}}

    def near_within(self, body: Body, filters: list[Body]) -> Body:
        """Within the section, so that the filter comes first."""
        return {"knn": {**body["knn"], "filter": filters}}

    def hybrid(self, near: Body, words: Body, depth: int, constant: int) -> Body:
        """By its retrievers, for which it wants a licence."""
        sides = [{"standard": {"query": words}}, {"knn": near["knn"]}]
        fusion = {"retrievers": sides, "rank_constant": constant, "rank_window_size": depth}
        return {"retriever": {"rrf": fusion}}

    def source(self, name: str, vectors: bool, version: tuple[int, ...]) -> Any:
        """From 9.2 on vectors are given on demand alone."""
        if vectors and version >= (9, 2):
            return {"exclude_vectors": False}
        return super().source(name, vectors, version)


DIALECTS: dict[str, Dialect] = {"opensearch": OpenSearch(), "elasticsearch": Elasticsearch()}


def similarity_of(score: float, name: str) -> float:
    """A score as our similarity: a cosine, −squared L2 distance, or inner product.

    Both stores document how they make scores positive: (1 + cos) / 2, 1 / (1 + d²), and for inner products
    p + 1, or 1 / (1 − p) below zero.
    """
    if name == "script_cosine":
        return score - 1
    if name in ("cosinesimil", "cosine", "dot_product"):
        return 2 * score - 1
    if name in ("l2", "l2_norm"):
        return 1 - 1 / score
    return score - 1 if score >= 1 else 1 - 1 / score
