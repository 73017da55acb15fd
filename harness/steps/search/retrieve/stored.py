"""A collection of a vector store as it is read: rows, facts, and searches. Nothing here can write to it."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.values import HarnessError, first_line, redacted

Floats = NDArray[np.float32]

TEXT_KEYS = ("text", "page_content", "content", "chunk", "body", "document")
DOCUMENT_KEYS = ("document", "source", "file_name", "filename", "file_path", "file", "doc_id", "doc", "path")


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One row of a collection: its key there, what is kept beside its vector, and its vector or score.

    ``score`` is a similarity, higher is better, where the row was found by a search. ``words`` is its sparse
    vector, where one is searched.
    """

    key: str
    payload: Mapping[str, Any]
    vector: Floats | None = None
    score: float = 0.0
    words: SparseVector | None = None


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a store says of a collection; None where it does not say.

    ``distance`` is ``cosine``, ``l2`` or ``ip``; ``index`` says in words what is searched; ``notes`` are
    sentences about what bears on a search, such as rows that no index has yet.
    """

    rows: int
    dimension: int | None = None
    distance: str | None = None
    index: str = ""
    bytes: int | None = None
    notes: tuple[str, ...] = ()


class StoredCollection(ABC):
    """A collection that is open for reading; a filter of rows holds for its searches, not for ``rows``.

    ``words`` says whether it can be searched by words, ``sparse`` whether it is by sparse vectors, which its
    rows then have, ``scans`` whether without its index, ``lasting_keys``
    whether a row keeps its key when the store tidies up.
    """

    words: ClassVar[bool] = False
    sparse: bool = False
    scans: ClassVar[bool] = True
    lasting_keys: ClassVar[bool] = True

    @abstractmethod
    def facts(self) -> StoreFacts:
        """What the store says of it; raises HarnessError where it has no such collection."""

    def passing(self) -> int:
        """How many rows it searches: those that its filter leaves, or all."""
        return self.facts().rows

    @abstractmethod
    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """All rows, or the first ``limit``, read a page at a time; with their vectors if asked for."""

    @abstractmethod
    def near(self, vectors: Floats, depth: int, exact: bool = False) -> list[list[StoredRow]]:
        """The rows nearest to each vector [Q, d], best first; ``exact``: by a scan and not by the index."""

    def near_texts(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """The rows nearest to each text, as the model that the collection itself names embeds it."""
        raise HarnessError("This collection has no model of its own. Give embed, which embeds a query.")

    def by_words(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """The rows that share words with each text, best first."""
        raise HarnessError("retrieve: this store cannot be searched by words. Use search: vectors.")

    def hybrid(self, vectors: Floats, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """The rows found by vectors and by words, fused by the store."""
        raise HarnessError("retrieve: this store has no hybrid search. Use search: vectors.")

    def by_sparse(
        self, words: Sequence[SparseVector], vectors: Floats | None, depth: int
    ) -> list[list[StoredRow]]:
        """The rows nearest to sparse vectors, fused with those nearest to dense ones [Q, d] where given."""
        raise HarnessError("retrieve: this store has no sparse vectors. Use search: vectors.")


class Reads:
    """Some methods of a client and nothing else of it, so that what has this can write nothing.

    Methods are wrapped, so that the client cannot be reached through them.
    """

    def __init__(self, client: Any, names: Iterable[str]) -> None:
        for name in names:
            setattr(self, name, _only(getattr(client, name)))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name}: an existing collection is read only")


def _only(method: Callable[..., Any]) -> Callable[..., Any]:
    def read(*arguments: Any, **options: Any) -> Any:
        return method(*arguments, **options)

    return read


# NUL, byte order marks, and halves of characters
_NO_TEXT = re.compile("[\\x00\\ufeff\\ud800-\\udfff]")
_SLOW = re.compile("timed? ?out|timeout|deadline", re.IGNORECASE)


@contextmanager
def store_faults(
    where: str,
    timeout: float | None = None,
    question: str = "Is it running, and are address, name and rights right?",
) -> Iterator[None]:
    """What a store's client raises becomes one HarnessError that names the store and the remedy.

    ``question`` is about what is likely at fault, where that is not that an answer came late.
    """
    try:
        yield
    except HarnessError:
        raise
    except ModuleNotFoundError:
        # the line that installs it is known to the command
        raise
    except Exception as error:
        # libraries of stores raise anything: refused connections, codes of HTTP, faults of their own
        words = redacted(f"{type(error).__name__}: {first_line(error)}")[:300]
        late = _SLOW.search(f"{type(error).__name__} {error}") is not None
        remedy = (
            f"It did not answer within {timeout:g} s: raise retrieve.timeout, or ask less at once."
            if late and timeout is not None
            else question
        )
        raise HarnessError(
            f"{where} cannot be used ({words}). {remedy} Nothing was scored: a failed search is not an "
            "empty one."
        ) from error


@dataclass(frozen=True, slots=True)
class PassageKeys:
    """The keys of the text, the document and the page of a row, with dots for what is nested.

    The usual keys are tried for a text or document without one. ``first_page`` is the number that the store
    gives to the first page.
    """

    text: str = ""
    document: str = ""
    page: str = ""
    first_page: int = 1

    def text_of(self, payload: Mapping[str, Any]) -> str | None:
        """The text of a row, None where there is none; what no file of text may hold is left out of it."""
        text = at(payload, self.text) if self.text else first_of(payload, TEXT_KEYS)
        return _NO_TEXT.sub("", text) if isinstance(text, str) else None

    def document_of(self, payload: Mapping[str, Any], text: str = "") -> str:
        """The document of a row, '' where there is none."""
        name = at(payload, self.document) if self.document else first_of(payload, DOCUMENT_KEYS, text)
        return "" if name is None else str(name)

    def stated_page(self, payload: Mapping[str, Any]) -> Any:
        """What a row holds under the key of the page, None where that is nothing."""
        page = at(payload, self.page) if self.page else None
        if isinstance(page, str):
            page = page.strip()
            # as a store writes a number that it holds as a float
            page = page.removesuffix(".0") if page.removesuffix(".0").isdecimal() else page
        if isinstance(page, float) and page.is_integer():
            # some stores hold every number as a float
            page = int(page)
        # a data frame has nan where a cell is empty
        empty = page == "" or (isinstance(page, float) and math.isnan(page))
        return None if empty else page

    def page_of(self, payload: Mapping[str, Any]) -> int | None:
        """The page of a row, counted from 1; None where there is none."""
        page = self.stated_page(payload)
        number = int(page) if isinstance(page, int | str) and str(page).isdecimal() else -1
        return number - self.first_page + 1 if number >= self.first_page else None

    def passage_of(self, row: StoredRow) -> str:
        """The text of a row, else the name of the page that it stands for, else words that name the row.

        So a row is told from others by its passage, and a row with neither text nor page has one too.
        """
        if self.has_text(row):
            return self.text_of(row.payload) or ""
        document, page = self.document_of(row.payload), self.page_of(row.payload)
        if document and page is not None:
            return f"{document}, page {page}"
        return f"row {row.key}, without text"

    def has_text(self, row: StoredRow) -> bool:
        """Whether a row has a text that is more than white space."""
        return bool((self.text_of(row.payload) or "").strip())

    def is_blank(self, row: StoredRow) -> bool:
        """Whether a row has no text, and stands for no page."""
        if self.has_text(row):
            return False
        return not self.document_of(row.payload) or self.page_of(row.payload) is None


def at(payload: Any, path: str) -> Any:
    """What lies under a key with dots."""
    for key in path.split("."):
        payload = payload.get(key) if isinstance(payload, Mapping) else None
    return payload


def without(payload: Mapping[str, Any], path: str) -> dict[str, Any]:
    """A payload less what lies under a key with dots."""
    key, _, rest = path.partition(".")
    kept = {name: value for name, value in payload.items() if name != key or rest}
    if rest and isinstance(inner := payload.get(key), Mapping):
        kept[key] = without(inner, rest)
    return kept


def first_of(payload: Mapping[str, Any], keys: Iterable[str], text: str = "") -> Any:
    """The first of some keys that is filled, there or in its ``metadata``, with anything but ``text``."""
    metadata = payload.get("metadata")
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            metadata = None
    levels = [payload, metadata] if isinstance(metadata, Mapping) else [payload]
    values = (level.get(key) for level in levels for key in keys)
    return next((value for value in values if value not in (None, "", text)), None)


@dataclass(frozen=True, slots=True)
class Content:
    """What a collection is filled with, and its name: vectors [N, d], None for words alone; texts."""

    vectors: Floats | None
    texts: Sequence[str]
    name: str

    @property
    def count(self) -> int:
        """How many rows there will be."""
        return len(self.texts)
