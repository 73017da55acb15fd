"""Searches of an existing collection among some of its rows: those that a filter or a part leaves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.row_documents import document_at, documents_of_row
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.store_queries import StoreQueries
from harness.steps.search.retrieve.stored import PassageKeys, StoredRow

# a search goes this many times as deep where too few of its rows are of the documents
_DEEPER = 4

RowSearch = Callable[[StoreQueries, int], list[list[StoredRow]]]
"""Queries and a depth → the rows of each, best first."""


@dataclass(frozen=True, slots=True)
class PartOfRows:
    """The rows to search: their ``texts`` with the number of rows of each; None: all rows.

    ``documents`` are those of each text in the part, and ``elsewhere`` those of each in the whole collection.
    """

    keys: PassageKeys
    texts: Counter[str] | None
    documents: Mapping[str, set[str]] = field(default_factory=dict)
    elsewhere: Mapping[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, passages: Passages, c: StoreConfig) -> PartOfRows:
        """The rows of some passages."""
        if passages.whole is None:
            return cls(c.keys, None)
        return cls(c.keys, Counter(passages.texts), _documents(passages), _documents(passages.whole))

    def search(
        self, search: RowSearch, queries: StoreQueries, wanted: int, count: int
    ) -> tuple[list[list[StoredRow]], int]:
        """For each query its ``wanted`` rows, and for how many queries the store stopped before it had them.

        The search is as deep as the share of the part among all ``count`` rows suggests, and deeper where
        that is not enough, up to all: the rows are those that a search of the part alone would find.
        """
        if self.texts is None:
            return search(queries, wanted), 0
        size = self.texts.total()
        depth = min(count, max(wanted, -(-wanted * count // max(1, size))))
        kept: list[list[StoredRow]] = [[] for _ in queries.texts]
        pending, short = list(range(len(queries))), 0
        while pending:
            lists = search(queries.at(pending), depth)
            further = []
            for at, rows in zip(pending, lists, strict=True):
                kept[at] = self._inside(rows)[:wanted]
                if len(kept[at]) >= min(wanted, size) or depth >= count:
                    continue
                if len(rows) < depth:
                    short += 1
                else:
                    further.append(at)
            pending, depth = further, min(count, depth * _DEEPER)
        return kept, short

    def _is_of_others(self, row: StoredRow, text: str) -> bool:
        """Whether a row is of a document that is left out, though the part has its text too."""
        of_text = self.elsewhere.get(text, set())
        named = documents_of_row(row, self.keys, text) & of_text if len(of_text) > 1 else set()
        return bool(named) and not named & self.documents.get(text, set())

    def _inside(self, rows: Sequence[StoredRow]) -> list[StoredRow]:
        """The rows of the part, and rows of unknown text, which the caller refuses."""
        left: Any = Counter(self.texts)
        inside = []
        for row in rows:
            text = self.keys.passage_of(row)
            if self._is_of_others(row, text):
                continue
            if left[text] > 0:
                left[text] -= 1
                inside.append(row)
            elif text not in self.elsewhere:
                inside.append(row)
        return inside


def _documents(passages: Passages) -> dict[str, set[str]]:
    """The documents of each text."""
    documents = defaultdict(set)
    for place, text in enumerate(passages.texts):
        documents[text].add(document_at(passages, place))
    return dict(documents)
