"""An index of OpenSearch or Elasticsearch as it is read: by requests that search, and no other."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from harness.steps.search.retrieve.opensearch_dialects import DIALECTS, similarity_of
from harness.steps.search.retrieve.row_filter import terms_filters
from harness.steps.search.retrieve.store_server import ReadRequests, StoreServer, StoreStatusError
from harness.steps.search.retrieve.stored import Floats, StoredCollection, StoredRow, StoreFacts, at, without
from harness.values import HarnessError

_PAGE = 1000
# searches in one request, and how long the server keeps the place of a reader
_TOGETHER, _KEEP = 50, "2m"
_SEARCHES = (
    rf"POST /(?!_)[^/?]+/_search(\?scroll={_KEEP})?|POST /(?!_)[^/?]+/_msearch"
    "|(POST|DELETE) /_search/scroll"
)
_RRF = 60


class SearchIndex(StoredCollection):
    """An index, or what an alias names; only requests that read can be sent to it."""

    words = True

    def __init__(self, server: StoreServer, name: str, config: Any) -> None:
        self.requests, self._name, self._config = ReadRequests(server, _SEARCHES), name, config
        self._dialect = DIALECTS[config.kind]
        self._place = f"/{quote(name, safe='')}"
        self._vector, self._text = config.vector, config.text if config.existing else "text"
        self._mapping = self._read_mapping()
        self.version = self._read_version()
        self._filters = terms_filters(config.only, self._mapping)

    def _read_version(self) -> tuple[int, ...]:
        version = (self.requests.read("GET", "/") or {}).get("version") or {}
        kind = "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
        if kind != self._config.kind:
            raise HarnessError(f"{self._config.where}: there is {kind}. Set retrieve.kind: {kind}.")
        digits = str(version.get("number", "")).split(".")[:2]
        return tuple(int(part) for part in digits if part.isdecimal())

    def _read_mapping(self) -> dict[str, Any]:
        """The fields by their names, with dots for what is nested."""
        try:
            answer = self.requests.read("GET", f"{self._place}/_mapping")
        except StoreStatusError as error:
            if error.status != 404:
                raise
            raise HarnessError(
                f"{self._config.where} has no index {self._name!r}. Correct retrieve.collection."
            ) from None
        fields: dict[str, Any] = {}
        for index in answer.values():
            fields |= dict(_fields(index.get("mappings", {}).get("properties", {})))
        return fields

    def facts(self) -> StoreFacts:
        """Rows, dimension, distance and bytes; says how many rows have no vector."""
        rows = self._count({"match_all": {}})
        stats = self.requests.read("GET", f"{self._place}/_stats/store")
        size = stats.get("_all", {}).get("primaries", {}).get("store", {}).get("size_in_bytes")
        field = self._mapping.get(self._vector)
        if field is None and self._config.search == "words":
            return StoreFacts(rows, index="words alone", bytes=size)
        if field is None or field.get("type") != self._dialect.vector_type:
            raise HarnessError(
                f"{self._name} has no field {self._vector} of vectors; it has "
                f"{', '.join(self._mapping) or 'none'}. Name that of the vectors as retrieve.vector."
            )
        filled = self._count({"exists": {"field": self._vector}})
        left = rows - filled
        notes = (f"{left} of {rows} rows have no vector and are never found",) if left else ()
        dimension, distance, index = self._dialect.index_facts(field)
        return StoreFacts(rows, dimension, distance, index, size, notes)

    def passing(self) -> int:
        """Counted by a search."""
        return self._count({"bool": {"filter": self._filters}} if self._filters else {"match_all": {}})

    def _count(self, query: dict[str, Any]) -> int:
        # a search, as a count of its own would be one more sort of request
        body = {"size": 0, "query": query, "track_total_hits": True}
        return int(self._search(body)["hits"]["total"]["value"])

    def _search(self, body: dict[str, Any], more: str = "") -> dict[str, Any]:
        return _whole(self.requests.read("POST", f"{self._place}/_search{more}", body))

    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """Page by page, in the order of the index."""
        source: Any = self._dialect.source(self._vector, vectors, self.version)
        size = _PAGE if limit is None else min(_PAGE, limit)
        body = {"size": size, "sort": ["_doc"], "_source": source}
        page, left = self._search(body, f"?scroll={_KEEP}"), limit
        try:
            while hits := page["hits"]["hits"]:
                for hit in hits[:left]:
                    yield self._row(hit, 0.0, vectors)
                left = None if left is None else left - len(hits)
                if left is not None and left <= 0:
                    break
                again = {"scroll": _KEEP, "scroll_id": page["_scroll_id"]}
                page = _whole(self.requests.read("POST", "/_search/scroll", again))
        finally:
            if "_scroll_id" in page:
                self.requests.read("DELETE", "/_search/scroll", {"scroll_id": [page["_scroll_id"]]})

    def _row(self, hit: dict[str, Any], score: float, vectors: bool = False) -> StoredRow:
        payload = hit.get("_source") or {}
        vector = at(payload, self._vector) if vectors else None
        read = None if not isinstance(vector, list) else np.array(vector, dtype=np.float32)
        payload = without(payload, self._vector) if vectors else payload
        return StoredRow(str(hit["_id"]), {**payload, "_source": payload}, read, score)

    def near(self, vectors: Floats, depth: int, exact: bool = False) -> list[list[StoredRow]]:
        """Some searches in a request; ``exact``: by a script that scores every row."""
        field = self._mapping.get(self._vector, {})
        make = self._dialect.scan if exact else self._dialect.near
        bodies = [self._within(make(self._vector, v.tolist(), depth, self._config, field)) for v in vectors]
        name = self._dialect.similarity_name(field, exact)
        return self._together(bodies, depth, lambda score: similarity_of(score, name))

    def by_words(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By BM25 of the field of the text, as its analyser cuts it; any word counts."""
        return self._together([{"query": self._words(text)} for text in texts], depth, float)

    def _words(self, text: str) -> dict[str, Any]:
        match = {"match": {self._text: {"query": text}}}
        return {"bool": {"must": [match], "filter": self._filters}} if self._filters else match

    def _within(self, body: dict[str, Any]) -> dict[str, Any]:
        """A search by vectors among the rows that the filter leaves."""
        return self._dialect.within(body, self._filters) if self._filters else body

    def hybrid(self, vectors: Floats, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """Both, fused by reciprocal ranks: by the store, or here."""
        if self._config.fusion == "harness":
            sides = zip(self.near(vectors, depth), self.by_words(texts, depth), strict=True)
            return [_fused(each, depth) for each in sides]
        field, found = self._mapping.get(self._vector, {}), []
        for vector, text in zip(vectors, texts, strict=True):
            near = self._within(self._dialect.near(self._vector, vector.tolist(), depth, self._config, field))
            body = self._dialect.hybrid(near, self._words(text), depth, _RRF)
            answer = self._search({**body, **self._shown(depth)})
            found.append([self._row(hit, float(hit["_score"])) for hit in answer["hits"]["hits"]])
        return found

    def _shown(self, depth: int) -> dict[str, Any]:
        return {"size": depth, "_source": {"excludes": [self._vector]}}

    def _together(self, bodies: Sequence[dict[str, Any]], depth: int, scale: Any) -> list[list[StoredRow]]:
        found = []
        for begin in range(0, len(bodies), _TOGETHER):
            part = bodies[begin : begin + _TOGETHER]
            lines = [line for body in part for line in ({}, {**body, **self._shown(depth)})]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            answers = self.requests.read("POST", f"{self._place}/_msearch", text)["responses"]
            if len(answers) != len(part):
                raise RuntimeError(f"{len(answers)} answers to {len(part)} searches")
            for answer in answers:
                hits = _whole(answer)["hits"]["hits"]
                found.append([self._row(hit, scale(hit["_score"])) for hit in hits])
        return found


def _whole(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of all shards; raises RuntimeError where it is an error, or only part of one."""
    if "error" in answer:
        raise RuntimeError(json.dumps(answer["error"])[:300])
    if answer.get("timed_out"):
        raise TimeoutError("timeout: the store gave what it had found until then")
    failed = answer.get("_shards", {}).get("failed", 0)
    if failed:
        raise RuntimeError(f"{failed} shards of the index did not answer")
    return answer


def _fields(properties: dict[str, Any], before: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in properties.items():
        yield f"{before}{name}", field
        yield from _fields(field.get("properties", {}), f"{before}{name}.")


def _fused(sides: Sequence[Sequence[StoredRow]], depth: int) -> list[StoredRow]:
    scores: defaultdict[str, float] = defaultdict(float)
    rows: dict[str, StoredRow] = {}
    for side in sides:
        for rank, row in enumerate(side, start=1):
            scores[row.key] += 1 / (_RRF + rank)
            rows.setdefault(row.key, row)
    best = sorted(scores, key=lambda key: -scores[key])[:depth]
    return [StoredRow(key, rows[key].payload, None, scores[key]) for key in best]
