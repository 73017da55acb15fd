"""Search in PostgreSQL: vectors by pgvector, words by tsvector, both in one statement (extra `pgvector`)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from harness.steps.search.retrieve.pgvector_select import SelectOnly, column, quoted
from harness.steps.search.retrieve.row_filter import sql_conditions
from harness.steps.search.retrieve.store_config import StoreConfig, secret_of, variable_name
from harness.steps.search.retrieve.store_search import StoreRetriever
from harness.steps.search.retrieve.stored import (
    Content,
    Floats,
    StoredCollection,
    StoredRow,
    StoreFacts,
    store_faults,
)
from harness.steps.search.step import Identity
from harness.values import ConfigError, HarnessError

OPERATORS = {"cosine": "<=>", "l2": "<->", "ip": "<#>"}
_CLASSES = {"cosine": "vector_cosine_ops", "l2": "vector_l2_ops", "ip": "vector_ip_ops"}
_OURS = {operators: distance for distance, operators in _CLASSES.items()}
_PAGE = 1000
_KEYS = {
    "hnsw": ("max_neighbors", "ef_construction", "ef_search"),
    "ivfflat": ("lists", "probes"),
    "none": (),
}
# the constant of reciprocal rank fusion, and how many times the depth each side of a hybrid search goes
_RRF = 60
_SIMPLE = re.compile("[a-z_]+")


def _address(url: str) -> str:
    """Refuse an address with a password, which would be recorded."""
    if not re.match("(postgresql|postgres)://", url) and "=" not in url:
        raise ConfigError("retrieve.url of pgvector begins with postgresql://.")
    if re.search(r"://[^/@]*:[^/@]+@|password\s*=", url):
        raise ConfigError(
            "retrieve.url must not contain a password: give the variable with it in retrieve.password_env, "
            "or use PGPASSWORD or a password file. If this is a secret, change it."
        )
    return url


class PgvectorConfig(StoreConfig):
    """A table of PostgreSQL with pgvector (0.7 or later): HNSW, IVFFlat or a scan, words, or both by RRF."""

    packages: ClassVar = ("psycopg",)
    extra: ClassVar = "pgvector"
    searches: ClassVar = ("vectors", "words", "hybrid")
    existing_searches: ClassVar = ("vectors", "words", "hybrid")
    kind: Literal["pgvector"] = "pgvector"
    url: Annotated[str, AfterValidator(_address)] = Field(
        description="The address, `postgresql://user@host/database`, without a password."
    )
    password_env: Annotated[str | None, AfterValidator(variable_name)] = Field(
        None, description="The *name* of the environment variable with the password."
    )
    vector: str = Field("embedding", description="The column of the vectors.")
    language: str = Field(
        "english", pattern=_SIMPLE.pattern, description="PostgreSQL's text search configuration, for words."
    )
    index: Literal["hnsw", "ivfflat", "none"] = Field("hnsw", description="The index that is built.")
    max_neighbors: int = Field(16, ge=2, le=100, description="HNSW: edges per node.")
    ef_construction: int = Field(64, ge=4, le=1000, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(40, ge=1, le=1000, description="HNSW: candidates looked at when searching.")
    lists: int = Field(100, ge=1, le=32768, description="IVFFlat: number of cells.")
    probes: int = Field(10, ge=1, le=32768, description="IVFFlat: cells searched for a query.")

    @model_validator(mode="after")
    def _fits_the_index(self) -> PgvectorConfig:
        others = {key for keys in _KEYS.values() for key in keys} - {*_KEYS[self.index]}
        # an index of others may be of either sort
        if not self.existing and (others := self.model_fields_set & others):
            raise ValueError(f"index {self.index} has no {', '.join(sorted(others))}: list it by itself")
        if self.existing and not self.text and self.search != "vectors":
            raise ValueError("search: words: name the column of the text as text")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        """The variable with the password."""
        return () if self.password_env is None else (self.password_env,)

    @property
    def where(self) -> str:
        """The address without parameters."""
        return f"PostgreSQL at {self.url.partition('?')[0]}"

    @property
    def remote(self) -> bool:
        """There is always a server."""
        return True

    def build_facts(self) -> Identity:
        """The index, and the language of the words."""
        keys = _KEYS[self.index][:-1]
        return [self.index, [getattr(self, key) for key in keys], self.language]

    def effort(self) -> Identity:
        """The candidates or cells."""
        return [self.ef_search, self.probes]

    @contextmanager
    def connected(self, read_only: bool) -> Iterator[Any]:
        """A connection; one that is read only is so by the server."""
        with store_faults(self.where, self.timeout):
            import psycopg

            wait = f"-c statement_timeout={round(1000 * self.timeout)}" if read_only else ""
            options = f"-c default_transaction_read_only=on {wait}" if read_only else ""
            secret = {} if self.password_env is None else {"password": secret_of(self.password_env)}
            limit = max(2, round(self.timeout))
            # what the environment asks of every connection stays
            options = " ".join(filter(None, [os.environ.get("PGOPTIONS"), options]))
            opened = psycopg.connect(self.url, connect_timeout=limit, options=options, **secret)
        with opened as connection:
            yield connection

    @contextmanager
    def reading(self, name: str, folder: Path | None = None) -> Iterator[StoredCollection]:
        """The table, by a session that the server lets only read."""
        text = self.text if self.existing else "text"
        with self.connected(read_only=True) as connection:
            yield PgvectorTable(connection, name, self.vector, self.distance, text, self)

    def fill(self, content: Content, folder: Path | None) -> bool:
        """In one transaction, so that a table is there whole or not at all."""
        with self.connected(read_only=False) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            # of two runs that fill the same table the second waits, and finds it
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (content.name,))
            (there,) = connection.execute("SELECT to_regclass(%s)", (quoted(content.name),)).fetchone()
            if there is None:
                _fill(connection, content, self)
        return there is None


class PgvectorRetriever(StoreRetriever[PgvectorConfig]):
    """Searches a table of PostgreSQL."""

    libraries = ("psycopg",)


class PgvectorTable(StoredCollection):
    """A table with a vector column, of which only what selects is kept."""

    words, lasting_keys = True, False

    def __init__(
        self,
        connection: Any,
        name: str,
        vector: str,
        distance: str,
        text: str = "",
        config: PgvectorConfig | None = None,
    ) -> None:
        self.connection, self._name = SelectOnly(connection), name
        self._table, self._vector, self._text = quoted(name), vector, text
        if distance not in OPERATORS:
            raise ConfigError(f"distance is {distance!r}; it can be {', '.join(OPERATORS)}.")
        self._distance, self._config = distance, config

    def facts(self) -> StoreFacts:
        """Rows, dimension, and the index of the column; says how many rows have no vector."""
        (found,) = self.connection.select("SELECT to_regclass(%s)::oid", (self._table,))
        if found[0] is None:
            raise HarnessError(f"PostgreSQL has no table {self._name}. Correct retrieve.collection.")
        columns = self.connection.select(
            "SELECT attname, atttypmod, format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped",
            found,
        )
        types = {name: (size, kind) for name, size, kind in columns}
        rows, vectors = self.connection.select(
            f"SELECT count(*), count({self._of_vector(types)}) FROM {self._table}"
        )[0]
        size = self.connection.select("SELECT pg_total_relation_size(%s::oid)", found)[0][0]
        if self._vector not in types:
            return StoreFacts(rows, index="words alone", bytes=size)
        if not types[self._vector][1].endswith(("vector", "halfvec")):
            raise HarnessError(
                f"{self._name}: the column {self._vector} is of type {types[self._vector][1]}, not vector. "
                "Name that of the vectors as retrieve.vector."
            )
        dimension = types[self._vector][0]
        notes = (
            [] if vectors == rows else [f"{rows - vectors} of {rows} rows have no vector and are never found"]
        )
        index, distance = self._index(found[0])
        if not index:
            notes.append("there is no index on the column, so that it is scanned")
        return StoreFacts(
            rows, dimension if dimension > 0 else None, distance, index or "scan", size, tuple(notes)
        )

    def _of_vector(self, types: dict[str, Any]) -> str:
        if self._vector in types or not types or (self._config and self._config.search == "words"):
            return column(self._vector) if self._vector in types else "*"
        raise HarnessError(
            f"{self._name} has no column {self._vector}; it has {', '.join(types)}. Name that of the vectors "
            "as retrieve.vector."
        )

    def _index(self, table: int) -> tuple[str, str | None]:
        """The first index of the column in words, and the distance it serves."""
        rows = self.connection.select(
            "SELECT pg_get_indexdef(i.indexrelid), o.opcname FROM pg_index i "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
            "JOIN pg_opclass o ON o.oid = ANY(i.indclass) "
            "WHERE i.indrelid = %s AND a.attname = %s AND i.indisvalid",
            (table, self._vector),
        )
        for definition, operators in rows:
            if operators in _OURS:
                return str(definition).partition(" USING ")[2], _OURS[operators]
        return "", None

    @cached_property
    def _rows_of_filter(self) -> tuple[str, list[Any]]:
        """The conditions of the filter, and what is bound to them."""
        only = None if self._config is None else self._config.only
        if not only:
            return "", []
        columns = self.connection.select(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
            (self._table,),
        )
        return sql_conditions(only, dict(columns))

    def passing(self) -> int:
        """Counted by the server."""
        condition, bound = self._rows_of_filter
        return int(
            self.connection.select(f"SELECT count(*) FROM {self._table} WHERE true{condition}", bound)[0][0]
        )

    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """Page by page, in the order in which they lie on disk, by their place there."""
        begin = "(0,0)"
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            vector = f"{column(self._vector)}::text" if vectors else "NULL"
            found = self.connection.select(
                f"SELECT ctid::text, to_jsonb(row) - %s, {vector} FROM {self._table} AS row "
                "WHERE row.ctid > %s::tid ORDER BY row.ctid LIMIT %s",
                (self._vector, begin, size),
            )
            for key, payload, stored in found:
                read = None if stored is None else np.array(json.loads(stored), dtype=np.float32)
                yield StoredRow(key, _payload(payload), read)
            if len(found) < size:
                return
            begin = found[-1][0]
            left = None if left is None else left - len(found)

    def near(self, vectors: Floats, depth: int, exact: bool = False) -> list[list[StoredRow]]:
        """A statement for each query."""
        before = ["enable_indexscan = off", "enable_indexonlyscan = off"] if exact else self._effort(depth)
        distance = f"{column(self._vector)} {OPERATORS[self._distance]} %s::vector"
        condition, bound = self._rows_of_filter
        statement = (
            "SELECT key, to_jsonb(row) - %s, distance FROM ("
            f"SELECT ctid::text AS key, {distance} AS distance, row "
            f"FROM {self._table} AS row WHERE {column(self._vector)} IS NOT NULL{condition} "
            f"ORDER BY {distance} LIMIT %s) AS nearest ORDER BY distance"
        )
        found = []
        for vector in vectors:
            text = json.dumps(vector.tolist())
            values = (self._vector, text, *bound, text, depth)
            rows = self.connection.select(statement, values, before)
            found.append([self._row(*row) for row in rows])
        return found

    def _row(self, key: str, payload: Any, distance: float) -> StoredRow:
        similarity = {"cosine": 1 - distance, "l2": -(distance**2), "ip": -distance}[self._distance]
        payload = _payload(payload)
        return StoredRow(
            str(payload["ndcg_row"]) if "ndcg_row" in payload else key, payload, None, similarity
        )

    def _effort(self, depth: int) -> list[str]:
        """HNSW returns no more rows than it has looked at."""
        c = self._config
        if c is None:
            return []
        effort = min(1000, max(c.ef_search, depth))
        return [f"hnsw.ef_search = {effort}", f"ivfflat.probes = {c.probes}"]

    def _tsvector(self) -> tuple[str, str]:
        """The words of a text in SQL, and their language."""
        language = self._config.language if self._config else "english"
        return f"to_tsvector('{language}', {column(self._text)})", language

    def by_words(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """Any word of the query counts; ranked by ts_rank_cd over the length of the text."""
        vector, language = self._tsvector()
        condition, bound = self._rows_of_filter
        statement = (
            f"SELECT ctid::text, to_jsonb(row) - %s, ts_rank_cd({vector}, ndcg_query, 1) AS rank "
            f"FROM {self._table} AS row, {_any_word(language)} WHERE {vector} @@ ndcg_query{condition} "
            "ORDER BY rank DESC, row.ctid LIMIT %s"
        )
        found = []
        for text in texts:
            rows = self.connection.select(statement, (self._vector, text, *bound, depth))
            found.append([self._scored(*row) for row in rows])
        return found

    def _scored(self, key: str, payload: Any, score: float) -> StoredRow:
        payload = _payload(payload)
        return StoredRow(str(payload.get("ndcg_row", key)), payload, None, float(score))

    def hybrid(self, vectors: Floats, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """One statement: the first of both sides, fused by reciprocal ranks."""
        vector, language = self._tsvector()
        name, operator = column(self._vector), OPERATORS[self._distance]
        condition, bound = self._rows_of_filter
        statement = (
            "SELECT row.ctid::text, to_jsonb(row) - %s, fused.score FROM ("
            "SELECT place, sum(1.0 / (%s + rank)) AS score FROM ("
            f"(SELECT ctid AS place, row_number() OVER (ORDER BY {name} {operator} %s::vector) AS rank "
            f"FROM {self._table} WHERE true{condition} ORDER BY {name} {operator} %s::vector LIMIT %s) "
            "UNION ALL "
            f"(SELECT ctid, row_number() OVER (ORDER BY ts_rank_cd({vector}, ndcg_query, 1) DESC, ctid) "
            f"FROM {self._table}, {_any_word(language)} WHERE {vector} @@ ndcg_query{condition} "
            f"ORDER BY 2 LIMIT %s)) AS sides GROUP BY place) AS fused "
            f"JOIN {self._table} AS row ON row.ctid = fused.place "
            "ORDER BY fused.score DESC, row.ctid LIMIT %s"
        )
        found = []
        for numbers, text in zip(vectors, texts, strict=True):
            asked = json.dumps(numbers.tolist())
            values = (self._vector, _RRF, asked, *bound, asked, depth, text, *bound, depth, depth)
            rows = self.connection.select(statement, values, self._effort(depth))
            found.append([self._scored(*row) for row in rows])
        return found


def _any_word(language: str) -> str:
    """A text as a query that any of its words answers; `plainto_tsquery` joins them by and."""
    return (
        f"(SELECT replace(plainto_tsquery('{language}', %s)::text, '&', '|')::tsquery AS ndcg_query) AS asked"
    )


def _payload(payload: Any) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(payload) if isinstance(payload, str) else dict(payload)
    return row


def _fill(connection: Any, content: Content, c: PgvectorConfig) -> None:
    table, vectors = quoted(content.name), content.vectors
    of_vectors = f", {column(c.vector)} vector({vectors.shape[1]})" if vectors is not None else ""
    connection.execute(f"CREATE TABLE {table} (ndcg_row bigint PRIMARY KEY, text text{of_vectors})")
    names = f"ndcg_row, text{', ' + column(c.vector) if vectors is not None else ''}"
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row, text in enumerate(content.texts):
            # PostgreSQL's text cannot hold a null character
            values: list[Any] = [row, text.replace("\0", " ")]
            if vectors is not None:
                values.append(json.dumps(vectors[row].tolist()))
            copy.write_row(values)
    if vectors is not None and c.index != "none":
        kind = "hnsw" if c.index == "hnsw" else "ivfflat"
        with_ = (
            f"m = {c.max_neighbors}, ef_construction = {c.ef_construction}"
            if kind == "hnsw"
            else f"lists = {c.lists}"
        )
        connection.execute(
            f"CREATE INDEX ON {table} USING {kind} ({column(c.vector)} {_CLASSES[c.distance]}) WITH ({with_})"
        )
    if c.search != "vectors":
        connection.execute(f"CREATE INDEX ON {table} USING gin (to_tsvector('{c.language}', text))")
    connection.execute(f"ANALYZE {table}")
