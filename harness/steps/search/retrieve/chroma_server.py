"""A Chroma server by its HTTP interface, version 2: collections that are read, and ours that are filled."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

from harness.steps.search.retrieve.store_server import ReadRequests, StoreServer, StoreStatusError
from harness.steps.search.retrieve.stored import Content
from harness.values import HarnessError

_ADD_AT_ONCE = 500
_SEARCHES = r"POST /api/v2/tenants/[^/]+/databases/[^/]+/collections/[^/]+/(get|query)"


def collections_at(tenant: str, database: str) -> str:
    """The path of the collections of a database."""
    return f"/api/v2/tenants/{quote(tenant, safe='')}/databases/{quote(database, safe='')}/collections"


class ServedCollection:
    """A collection on a server, with those methods of Chroma's client that read, and no other."""

    def __init__(self, server: StoreServer, collections: str, name: str) -> None:
        self.requests = ReadRequests(server, _SEARCHES)
        try:
            facts = self.requests.read("GET", f"{collections}/{quote(name, safe='')}")
        except StoreStatusError as error:
            if error.status != 404:
                raise
            there = self.requests.read("GET", f"{collections}?limit=20")
            names = ", ".join(sorted(each["name"] for each in there)) or "none"
            raise HarnessError(
                f"Chroma has no collection {name!r} (it has {names}). Correct retrieve.collection."
            ) from None
        self.configuration, self.metadata = facts.get("configuration_json") or {}, facts.get("metadata")
        self.dimension = facts.get("dimension")
        self._place = f"{collections}/{facts['id']}"

    def get(
        self,
        include: list[str],
        limit: int | None = None,
        offset: int | None = None,
        where: dict[str, Any] | None = None,
    ) -> Any:
        """Some rows, in the order in which they came in."""
        body = {"include": include, "limit": limit, "offset": offset, **_filtered(where)}
        return self.requests.read("POST", f"{self._place}/get", body)

    def query(
        self, query_embeddings: Any, n_results: int, include: list[str], where: dict[str, Any] | None = None
    ) -> Any:
        """The rows nearest to each vector [Q, d]."""
        body = {"query_embeddings": query_embeddings.tolist(), "n_results": n_results, "include": include}
        return self.requests.read("POST", f"{self._place}/query", body | _filtered(where))

    def count(self) -> int:
        """How many rows there are."""
        return int(self.requests.read("GET", f"{self._place}/count"))


def _filtered(where: dict[str, Any] | None) -> dict[str, Any]:
    return {} if where is None else {"where": where}


def fill_server(server: StoreServer, collections: str, content: Content, hnsw: dict[str, Any]) -> bool:
    """Fill a collection under another name, which gets its own when it is whole; False if it was there."""
    try:
        server.send("GET", f"{collections}/{content.name}")
    except StoreStatusError as error:
        if error.status != 404:
            raise
    else:
        return False
    vectors = content.vectors
    assert vectors is not None
    body = {"name": f"{content.name}_{uuid.uuid4().hex[:8]}", "configuration": {"hnsw": hnsw}}
    made = server.send("POST", collections, body)
    place = f"{collections}/{made['id']}"
    for begin in range(0, len(vectors), _ADD_AT_ONCE):
        part = vectors[begin : begin + _ADD_AT_ONCE]
        ids = [str(begin + row) for row in range(len(part))]
        server.send("POST", f"{place}/add", {"ids": ids, "embeddings": part.tolist()})
    try:
        server.send("PUT", place, {"new_name": content.name})
    except StoreStatusError:
        # another run was faster, with the same content
        server.send("DELETE", f"{collections}/{body['name']}")
        server.send("GET", f"{collections}/{content.name}")
    return True
