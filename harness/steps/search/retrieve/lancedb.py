"""Search in LanceDB, which lies in a folder: IVF-PQ, HNSW or a scan, full text, or both (extra `lancedb`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from harness.steps.search.retrieve.row_filter import lance_where
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.store_search import StoreRetriever
from harness.steps.search.retrieve.stored import (
    Content,
    Floats,
    Reads,
    StoredCollection,
    StoredRow,
    StoreFacts,
    store_faults,
)
from harness.steps.search.step import Identity
from harness.values import HarnessError

_PAGE = 1000
_METRICS = {"cosine": "cosine", "l2": "l2", "ip": "dot"}
_OURS = {theirs: ours for ours, theirs in _METRICS.items()}
_READING = ("search", "count_rows", "list_indices")
_KEYS = {
    "none": (),
    "ivf_pq": ("partitions", "sub_vectors", "probes", "refine"),
    "hnsw": ("partitions", "max_neighbors", "ef_construction", "probes", "ef_search", "refine"),
}


class LancedbConfig(StoreConfig):
    """A table of LanceDB: IVF-PQ, HNSW over scalar-quantised vectors, a scan, full text, or both by RRF."""

    packages: ClassVar = ("lancedb",)
    extra: ClassVar = "lancedb"
    searches: ClassVar = ("vectors", "words", "hybrid")
    existing_searches: ClassVar = ("vectors", "words", "hybrid")
    kind: Literal["lancedb"] = "lancedb"
    path: Path | None = Field(None, description="With `existing`: the folder of the database.")
    vector: str = Field("vector", description="The column of the vectors.")
    index: Literal["none", "ivf_pq", "hnsw"] = Field("none", description="The index; `none` scans.")
    partitions: int = Field(1, ge=1, description="Number of cells.")
    sub_vectors: int = Field(48, ge=1, description="IVF-PQ: parts of a vector; divides its dimension.")
    max_neighbors: int = Field(20, ge=2, description="HNSW: edges per node.")
    ef_construction: int = Field(300, ge=4, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(100, ge=1, description="HNSW: candidates looked at when searching.")
    probes: int = Field(20, ge=1, description="Cells searched for a query.")
    refine: int = Field(
        1, ge=1, description="So many times the depth is compared again by whole vectors, not by their codes."
    )

    @model_validator(mode="after")
    def _fits_the_index(self) -> LancedbConfig:
        others = {key for keys in _KEYS.values() for key in keys} - {*_KEYS[self.index]}
        if not self.existing and (others := self.model_fields_set & others):
            raise ValueError(f"index {self.index} has no {', '.join(sorted(others))}: list it by itself")
        if self.existing != (self.path is not None):
            raise ValueError(
                "path is the folder of a database that is there: give it with existing: true alone"
            )
        if self.existing and not self.text and self.search != "vectors":
            raise ValueError("search: words: name the column of the text as text")
        return self

    @property
    def where(self) -> str:
        """The folder."""
        return f"LanceDB in {self.path or 'the cache folder'}"

    def build_facts(self) -> Identity:
        """The index."""
        searching = {"probes", "ef_search", "refine"}
        return [self.index, [getattr(self, key) for key in _KEYS[self.index] if key not in searching]]

    def effort(self) -> Identity:
        """The candidates, the cells, and how many are compared again."""
        return [self.ef_search, self.probes, self.refine]

    @contextmanager
    def reading(self, name: str, folder: Path | None = None) -> Iterator[StoredCollection]:
        """The table."""
        place = self.path if self.existing else folder
        with store_faults(self.where):
            import lancedb

            if place is None or not place.is_dir():
                raise HarnessError(f"retrieve.path: there is no folder {place}. Name that of the database.")
            database = lancedb.connect(str(place))
            if name not in database.list_tables().tables:
                raise HarnessError(f"{self.where} has no table {name}. Correct retrieve.collection.")
            table = database.open_table(name)
        yield LanceTable(table, self.vector, self.distance, self.text if self.existing else "text", self)

    def fill(self, content: Content, folder: Path | None) -> bool:
        """In a folder of the cache, which is kept only when it is whole."""
        import lancedb

        assert folder is not None
        folder.mkdir(parents=True, exist_ok=True)
        _fill(lancedb.connect(str(folder)), content, self)
        return True


class LancedbRetriever(StoreRetriever[LancedbConfig]):
    """Searches a table of LanceDB."""

    libraries = ("lancedb",)


class LanceTable(StoredCollection):
    """A table, of which only what reads is kept.

    ``vector`` and ``distance`` '': the column and the distance that LanceDB takes by itself. ``config`` says
    how hard to search; None: by default.
    """

    words, lasting_keys = True, False

    def __init__(
        self,
        table: Any,
        vector: str = "",
        distance: str = "",
        text: str = "",
        config: LancedbConfig | None = None,
    ) -> None:
        self.client = Reads(table, _READING)

        def schema() -> Any:
            return table.schema

        self._read_schema = schema
        self._vector, self._distance, self._text, self._config = vector, distance, text, config

    @cached_property
    def _schema(self) -> Any:
        return self._read_schema()

    def facts(self) -> StoreFacts:
        """Rows, dimension, and the index of the column; says how many rows it lacks."""
        rows, names = self.client.count_rows(), self._schema.names
        if self._vector not in names:
            if self._config is not None and self._config.search == "words":
                return StoreFacts(rows, index="words alone")
            raise HarnessError(
                f"LanceDB: the table has no column {self._vector}; it has {', '.join(names)}. Name that "
                "of the vectors as retrieve.vector."
            )
        dimension = getattr(self._schema.field(self._vector).type, "list_size", None)
        for index in self.client.list_indices():
            if list(index.columns) != [self._vector]:
                continue
            details = index.index_details if isinstance(index.index_details, dict) else {}
            metric = str(details.get("metric_type", "")).lower()
            left = index.num_unindexed_rows or 0
            notes = (f"{left} of {rows} rows are in no index yet and are scanned",) if left else ()
            return StoreFacts(
                rows, dimension, _OURS.get(metric), str(index.index_type), index.size_bytes, notes
            )
        return StoreFacts(rows, dimension, None, "scan")

    def passing(self) -> int:
        """Counted by LanceDB."""
        return int(self.client.count_rows(self._where))

    @cached_property
    def _where(self) -> str | None:
        only = None if self._config is None else self._config.only
        return lance_where(only, dict(_types(self._schema))) if only else None

    def _filtered(self, query: Any) -> Any:
        """Before the search, so that it is as deep as without."""
        return query if self._where is None else query.where(self._where, prefilter=True)

    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """Batch by batch."""
        names = [name for name in self._schema.names if vectors or name != self._vector]
        query = self.client.search().select(names).with_row_id(True)
        for batch in (query if limit is None else query.limit(limit)).to_batches(_PAGE):
            for row in batch.to_pylist():
                yield self._row(row, 0.0, vectors)

    def _row(self, row: dict[str, Any], score: float, vectors: bool = False) -> StoredRow:
        key, vector = row.get("_rowid"), row.get(self._vector)
        payload = {
            name: value for name, value in row.items() if name != self._vector and not name.startswith("_")
        }
        read = np.array(vector, dtype=np.float32) if vectors and vector is not None else None
        return StoredRow(str(payload.get("ndcg_row", key)), payload, read, score)

    def near(self, vectors: Floats, depth: int, exact: bool = False) -> list[list[StoredRow]]:
        """A query at a time."""
        found = []
        for vector in vectors:
            query = self.client.search(vector, vector_column_name=self._vector or None)
            query = query.distance_type(_METRICS[self._distance]) if self._distance else query
            query = query.bypass_vector_index() if exact else self._searched_hard(query, depth)
            query = self._filtered(query.select(self._columns()) if self._vector else query)
            rows = query.with_row_id(True).limit(depth).to_list()
            found.append([self._row(row, self._similarity(row["_distance"])) for row in rows])
        return found

    def near_texts(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By the embedding function of the table, or by its words where it has none."""
        return [
            [self._row(row, 0.0) for row in self.client.search(text).limit(depth).to_list()] for text in texts
        ]

    def _columns(self) -> list[str]:
        return [*(name for name in self._schema.names if name != self._vector), "_distance"]

    def _searched_hard(self, query: Any, depth: int) -> Any:
        c = self._config
        if c is None or not self.client.list_indices():
            return query
        # HNSW looks at no fewer candidates than are asked for
        query = query.nprobes(c.probes).ef(max(c.ef_search, depth * c.refine))
        return query.refine_factor(c.refine) if c.refine > 1 else query

    def _similarity(self, distance: float) -> float:
        return -distance if self._distance == "l2" else 1.0 - distance

    def by_words(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By LanceDB's full text index of the column."""
        found = []
        for text in texts:
            query = self.client.search(text, query_type="fts", fts_columns=self._text)
            rows = self._filtered(query).with_row_id(True).limit(depth).to_list()
            found.append([self._row(row, float(row["_score"])) for row in rows])
        return found

    def hybrid(self, vectors: Floats, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """Both, fused by LanceDB's RRF."""
        metric, found = _METRICS[self._distance], []
        for vector, text in zip(vectors, texts, strict=True):
            query = self.client.search(
                query_type="hybrid", vector_column_name=self._vector, fts_columns=self._text
            )
            query = query.vector(vector).text(text).distance_type(metric)
            query = self._filtered(self._searched_hard(query, depth))
            rows = query.with_row_id(True).limit(depth).to_list()
            found.append([self._row(row, float(row["_relevance_score"])) for row in rows])
        return found


def _types(fields: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """The columns, and those within them after a dot, each with its type."""
    for field in fields:
        yield f"{before}{field.name}", str(field.type)
        kind = field.type
        # the entries of a list are no column
        if not hasattr(kind, "value_type"):
            inner = [kind.field(place) for place in range(kind.num_fields)]
            yield from _types(inner, f"{before}{field.name}.")


def _fill(database: Any, content: Content, c: LancedbConfig) -> None:
    import pyarrow as pa
    from lancedb.index import FTS, HnswSq, IvfPq

    vectors = content.vectors
    columns: Mapping[str, Any] = {
        "ndcg_row": pa.array(np.arange(content.count, dtype=np.int64)),
        # a lone surrogate has no UTF-8
        "text": pa.array([text.encode("utf-8", "replace").decode() for text in content.texts]),
    }
    if vectors is not None:
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
        columns = {**columns, c.vector: pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])}
    table = database.create_table(content.name, pa.table(columns))
    if vectors is not None and c.index != "none":
        metric: Any = _METRICS[c.distance]
        if c.index == "ivf_pq":
            if vectors.shape[1] % c.sub_vectors:
                raise HarnessError(
                    f"lancedb: sub_vectors is {c.sub_vectors}, which does not divide the {vectors.shape[1]} "
                    f"dimensions of {c.model}."
                )
            config: Any = IvfPq(
                distance_type=metric, num_partitions=c.partitions, num_sub_vectors=c.sub_vectors
            )
        else:
            config = HnswSq(
                distance_type=metric,
                num_partitions=c.partitions,
                m=c.max_neighbors,
                ef_construction=c.ef_construction,
            )
        table.create_index(c.vector, config=config)
    if c.search != "vectors":
        table.create_index("text", config=FTS())
