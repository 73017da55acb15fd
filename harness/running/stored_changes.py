"""Whether an existing collection changed while it was read and searched: its rows are read once more."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.comparison import sentence_of
from harness.running.note_wordings import STORED
from harness.running.notes import RunNotes
from harness.running.stored_state import row_digest
from harness.steps import StoredCollection, StoredRow
from harness.values import first_line, redacted, worded

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowChanges:
    """How many rows of a collection were deleted, added and changed.

    ``changed`` is None where the store's keys do not last: a changed row then is one deleted and one added.
    """

    deleted: int
    added: int
    changed: int | None

    def __bool__(self) -> bool:
        return bool(self.deleted or self.added or self.changed)


@dataclass(frozen=True, slots=True)
class RowDigests:
    """64-bit digests of the rows of a collection, in the order in which the store gave them.

    ``contents`` are of a row with its key, ``keys`` of the key alone; where keys do not last, both leave it
    out. 16 bytes a row, as collections may have millions.
    """

    lasting_keys: bool
    contents: array[int] = field(default_factory=lambda: array("Q"))
    keys: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, row: StoredRow) -> None:
        """Take in one more row."""
        self.contents.append(_number(row_digest(row, self.lasting_keys)))
        self.keys.append(_number(row_digest(replace(row, payload={}), self.lasting_keys)))

    def changes_to(self, after: RowDigests) -> RowChanges:
        """What differs in ``after``, in any order; of rows that are alike, their number counts."""
        gone, new = self._keys_beyond(after), after._keys_beyond(self)
        both = (gone & new).total() if self.lasting_keys else 0
        changed = both if self.lasting_keys else None
        return RowChanges(gone.total() - both, new.total() - both, changed)

    def _keys_beyond(self, other: RowDigests) -> Counter[int]:
        """The keys of the rows that the other digests lack; of copies, of as many as they lack."""
        here, there = (np.frombuffer(each.contents, dtype=np.uint64) for each in (self, other))
        contents, kinds = np.unique(np.concatenate([here, there]), return_inverse=True)
        kinds_here, kinds_there = kinds[: len(here)], kinds[len(here) :]
        counts = [np.bincount(each, minlength=len(contents)) for each in (kinds_here, kinds_there)]
        lacking: Places = np.maximum(counts[0] - counts[1], 0)
        keys: Counter[int] = Counter()
        for place in np.flatnonzero(lacking[kinds_here]).tolist():
            if lacking[kinds_here[place]]:
                lacking[kinds_here[place]] -= 1
                keys[self.keys[place]] += 1
        return keys


@dataclass(slots=True)
class RowsRead:
    """What was read of a collection before its search, and the settings that search it.

    ``place`` is the section of one of them, which says where the collection is, and opens it.
    """

    place: Any
    digests: RowDigests
    settings: list[str] = field(default_factory=list)


def digests_of(store: StoredCollection) -> RowDigests:
    """The digests of all rows of an open collection, read without vectors."""
    digests = RowDigests(store.lasting_keys)
    for row in store.rows():
        digests.add(row)
    return digests


def warn_of_changes(collections: Iterable[RowsRead], notes: RunNotes) -> None:
    """Read collections again after their search, and warn of those whose rows are others by now.

    What was deleted before the search is not found, as what an index misses, and would pass for its fault.
    A store that no longer answers loses nothing that was found, so that is a warning too.
    """
    for read in collections:
        store, collection = read.place.where, read.place.collection
        notes.reporter.note(worded(STORED, "stored.reading again", collection=collection, store=store))
        named = {"collection": collection, "store": store}
        try:
            with read.place.reading(collection) as opened:
                changes = read.digests.changes_to(digests_of(opened))
        except Exception as error:
            # libraries of stores raise anything
            fault = redacted(f"{type(error).__name__}: {first_line(error)}")[:300]
            notes.warn(sentence_of("hits.rows unknown", **named, fault=fault), settings=read.settings)
            continue
        if changes:
            code = "hits.rows differ" if changes.changed is None else "hits.rows changed"
            counts = {"deleted": changes.deleted, "added": changes.added}
            if changes.changed is not None:
                counts["changed"] = changes.changed
            notes.warn(sentence_of(code, **named, **counts), settings=read.settings)


def _number(digest: str) -> int:
    """The first 64 bits of a digest in hexadecimal."""
    return int(digest[:16], 16)
