"""What Python functions are handed in memory, as files: queries, labels, documents and hits."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import data
from harness.store import replace_folder
from harness.values import (
    ConfigError,
    HarnessError,
    LabelError,
    Query,
    folder_name,
    suggestion,
    unlike_a_name,
)

Table = Any
"""A file, a DataFrame, or a list of dicts."""

_LONE = re.compile("[\ud800-\udfff]")


class GivenInputs:
    """The files that are scored: those that were named, and those written of what was given in memory.

    ``hits`` are the paths of the hits by name of the retriever, ``queries``, ``labels`` and ``patterns`` what
    else is read; ``write`` makes those that are no file yet.
    """

    def __init__(
        self, name: str | None, results: Path, queries: Table, labels: Table, documents: Any, names: list[str]
    ) -> None:
        joined = "-and-".join(filter(None, map(folder_name, names)))
        self.name = folder_name(name or joined) or "hits"
        self.results = results
        self._folder = results / f"{self.name}.inputs"
        if isinstance(queries, Mapping):
            queries = [{"query_id": query, "text": text} for query, text in queries.items()]
        self._tables = {
            "queries": _path_or_records("queries", queries),
            "labels": _path_or_records("labels", labels),
        }
        self._documents = _texts_by_name(documents) if isinstance(documents, Mapping) else None
        self.patterns = _patterns(documents, self._folder)
        self.hits: dict[str, Path] = {}
        for place, retriever in enumerate(names, start=1):
            stem = file = folder_name(retriever) or f"retriever-{place}"
            # file systems of some machines take upper and lower case for the same
            while file.lower() in {path.stem.lower() for path in self.hits.values()}:
                file = f"{stem}-{place}" if file == stem else f"{file}-"
            self.hits[retriever] = self._folder / "hits" / f"{file}.jsonl"

    @property
    def queries(self) -> Path:
        """The file of the queries."""
        return self._path("queries")

    @property
    def labels(self) -> Path:
        """The file of the labels."""
        return self._path("labels")

    def _path(self, kind: str) -> Path:
        table = self._tables[kind]
        return table if isinstance(table, Path) else self._folder / f"{kind}.jsonl"

    def checked_queries(self) -> Sequence[Query]:
        """The queries; raises CorpusError for what is wrong in them, the labels or the patterns of documents.

        So nothing is asked of a retriever before what it is scored by is there.
        """
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for kind, table in self._tables.items():
                paths[kind] = table if isinstance(table, Path) else Path(folder) / f"{kind}.jsonl"
                if not isinstance(table, Path):
                    _write(paths[kind], table)
            try:
                labels = data.read_labels(paths["labels"])
                if self._documents is None:
                    data.find_documents(self.patterns, Path(), unknown=True)
                queries = data.read_queries(paths["queries"], data.SplitConfig()).queries
                _refuse_strangers(labels, {query.query_id for query in queries})
            except HarnessError as error:
                # rows that were given in memory have no file whose name would say anything
                for kind, path in paths.items():
                    if path.parent == Path(folder):
                        error.args = (str(error).replace(str(path), kind),)
                raise
        return queries

    def write(self, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Write what is no file yet: the hits by name of the retriever, queries, labels and documents."""
        with replace_folder(self._folder) as folder:
            for kind, table in self._tables.items():
                if not isinstance(table, Path):
                    _write(folder / f"{kind}.jsonl", table)
            for name, hits in rows.items():
                _write(folder / "hits" / self.hits[name].name, hits)
            for name, text in (self._documents or {}).items():
                (folder / "documents").mkdir(exist_ok=True)
                (folder / "documents" / f"{name}.txt").write_text(text, encoding="utf-8")


def _refuse_strangers(labels: Iterable[Any], queries: Collection[str]) -> None:
    """Raise LabelError for a label of a query that is not there."""
    for label in labels:
        if label.query_id not in queries:
            near = suggestion(label.query_id, queries)
            remedy = "Correct the id, or add the query."
            raise LabelError(f"{label.where}: there is no query {label.query_id!r}{near}. {remedy}")


def _patterns(documents: Any, folder: Path) -> tuple[str, ...]:
    """The paths and patterns of documents; those given as texts will lie in ``folder``."""
    if isinstance(documents, Mapping):
        return (str(folder / "documents" / "*.txt"),)
    if isinstance(documents, str | Path):
        return (str(documents),)
    paths = tuple(documents) if isinstance(documents, Iterable) and not hasattr(documents, "columns") else ()
    if not paths or not all(isinstance(path, str | Path) for path in paths):
        raise ConfigError(
            "documents are paths or patterns, one at least, or a dict of texts by name, not "
            f"{type(documents).__name__}."
        )
    return tuple(map(str, paths))


def _texts_by_name(documents: Mapping[Any, Any]) -> dict[str, str]:
    """Documents that were given as texts; raises ConfigError for one that cannot be written to a file."""
    texts: dict[str, str] = {}
    for name, text in documents.items():
        if unlike_a_name(str(name).replace("_", "x").replace(" ", "_")) or not isinstance(text, str):
            raise ConfigError(
                f"documents: {name!r} is no name of a document with a text. Use up to 100 letters, digits, "
                "'.', '_' and '-', in at most 200 bytes, and give texts."
            )
        if str(name).casefold() in map(str.casefold, texts):
            raise ConfigError(f"documents: {name!r} is there twice but for upper and lower case. Rename one.")
        if _LONE.search(text):
            raise ConfigError(f"documents: {name!r} holds half a character (a surrogate). Write it whole.")
        texts[str(name)] = text
    return texts


def _path_or_records(what: str, table: Table) -> Path | list[dict[str, Any]]:
    return Path(table) if isinstance(table, str | Path) else records_of(what, table)


def records_of(what: str, table: Table) -> list[dict[str, Any]]:
    """The rows of a DataFrame, a list of dicts or a file; cells that hold nothing are left out."""
    import pandas as pd

    if isinstance(table, str | Path):
        read = data.read_table(Path(table), ("query_id",), HarnessError)
        return [dict(row.cells) for row in read.rows]
    if isinstance(table, pd.DataFrame):
        table = table.to_dict("records")
    if isinstance(table, str | bytes) or not isinstance(table, Iterable):
        raise ConfigError(f"{what} is a file, a DataFrame or a list of dicts, not {type(table).__name__}.")
    rows = list(table)
    if wrong := [row for row in rows if not isinstance(row, Mapping)]:
        raise ConfigError(f"{what}: every row is a dict, not {type(wrong[0]).__name__}.")
    return [{str(key): _plain(cell) for key, cell in row.items() if not _is_empty(cell)} for row in rows]


def _is_empty(cell: Any) -> bool:
    import pandas as pd

    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))


def _plain(cell: Any) -> Any:
    """A number of numpy as one of Python; a whole float, which pandas makes of integers, as an integer."""
    cell = cell.item() if hasattr(cell, "item") and not getattr(cell, "shape", ()) else cell
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False, default=str) for row in rows]
    # half a character, as readers of PDFs return it, stands in no file but escaped
    lines = [_LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", line) for line in lines]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
