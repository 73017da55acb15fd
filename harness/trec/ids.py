"""Columns of ids. Query ids are numbered; document ids stay as they are and are compared by fingerprint.

Numbering ten million document ids costs more than the whole evaluation, and only the few that are looked at
matter. A fingerprint may be shared by different ids, so whatever is found by it is checked on the ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from harness.errors import HarnessError

Ints = npt.NDArray[np.int64]
Prints = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
Rows = Ints | None
"""Rows of a column; None for all of them in order."""

_BLOCK_ROWS = 1 << 16
_ODD_1, _ODD_2, _ODD_3 = (
    np.uint64(odd) for odd in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15)
)
_LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


class TrecError(HarnessError):
    """A run or a judgment file cannot be used."""


@dataclass(frozen=True, slots=True)
class DocIds:
    """A column of document ids: row i is ``values[code[i]]``, or ``values[i]`` where there is no ``code``.

    ``values`` is one arrow array of large strings, distinct or not.
    """

    values: Any
    code: Ints | None = None

    @classmethod
    def of(cls, column: Any, source: str) -> DocIds:
        """Read a column of strings or numbers; a dictionary-encoded one keeps its codes."""
        chunked = _without_nulls(column, source)
        if not pa.types.is_dictionary(chunked.type):
            return cls(_one_array(chunked.cast(pa.large_string())))
        whole = _one_array(chunked.unify_dictionaries())
        codes = whole.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(whole.dictionary.cast(pa.large_string()), codes)

    def __len__(self) -> int:
        return len(self.values) if self.code is None else len(self.code)

    def name(self, row: int) -> str:
        """The id in a row."""
        return str(self.values[row if self.code is None else int(self.code[row])].as_py())

    def take(self, rows: Ints) -> Any:
        """The ids of some rows."""
        return self.values.take(pa.array(rows if self.code is None else self.code[rows]))

    def prints(self, rows: Rows = None) -> Prints:
        """The fingerprints of some rows."""
        if self.code is None:
            return fingerprints(self.values if rows is None else self.take(rows))
        return fingerprints(self.values)[self.code if rows is None else self.code[rows]]


@dataclass(frozen=True, slots=True)
class Ids:
    """A column of numbered ids: ``names`` are distinct large strings, ``code`` [N] indexes them."""

    names: Any
    code: npt.NDArray[np.int32]

    @classmethod
    def of(cls, column: Any, source: str) -> Ids:
        """Number a column of strings or numbers; dictionary-encoded columns keep their codes."""
        chunked = _without_nulls(column, source)
        if not pa.types.is_dictionary(chunked.type):
            return cls(*_numbered(_one_array(chunked.cast(pa.large_string()))))
        whole = _one_array(chunked.unify_dictionaries())
        codes = whole.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        return cls(whole.dictionary.cast(pa.large_string()), codes)

    def __len__(self) -> int:
        return len(self.code)

    def codes_in(self, others: Any) -> Ints:
        """For every distinct name its place in another array of names, -1 where it is not there: [names]."""
        found = pc.fill_null(pc.index_in(self.names, value_set=others), -1)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)

    def name(self, row: int) -> str:
        """The id in a row."""
        return str(self.names[int(self.code[row])].as_py())


def pair_prints(query: npt.NDArray[Any], docs: Prints) -> Prints:
    """Fingerprints of (query, document), given numbers of queries and fingerprints of documents."""
    return _mixed(docs ^ ((query.astype(np.uint64) + np.uint64(1)) * _ODD_3))


def fingerprints(values: Any) -> Prints:
    """64 bits for every string of an arrow array of large strings, from its length and its bytes."""
    found = np.zeros(len(values), dtype=np.uint64)
    if not len(values):
        return found
    _, ends, data = values.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[values.offset : values.offset + len(values) + 1]
    size = int(offsets[-1] - offsets[0])
    padded = np.zeros(size + 8, dtype=np.uint8)
    if size:
        padded[:size] = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    # eight bytes from any place on as one number
    words = np.ndarray(size + 1, dtype="<u8", buffer=padded.data, strides=(1,))
    for first in range(0, len(values), _BLOCK_ROWS):
        edges = offsets[first : first + _BLOCK_ROWS + 1] - offsets[0]
        found[first : first + _BLOCK_ROWS] = _block_prints(words, edges[:-1], np.diff(edges))
    return found


def _block_prints(words: Prints, start: Ints, length: Ints) -> Prints:
    found = length.astype(np.uint64) * _ODD_3
    for done in range(0, int(length.max()), 8):
        longer = np.flatnonzero(length > done)
        word = words[start[longer] + done] & _LOW_BYTES[np.minimum(length[longer] - done, 8)]
        found[longer] = _mixed(found[longer] ^ word)
    return found


def _mixed(numbers: Prints) -> Prints:
    """Spread every bit over all others (the finalizer of SplitMix64; Steele et al., OOPSLA 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _ODD_1
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _ODD_2
    return numbers ^ (numbers >> np.uint64(31))


def _numbered(values: Any) -> tuple[Any, npt.NDArray[np.int32]]:
    """Distinct strings and the number of each row's: by fingerprint, and by the strings if that fails."""
    prints = pa.array(fingerprints(values)).dictionary_encode()
    code = prints.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    first = np.empty(len(prints.dictionary), dtype=np.int64)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    names = values.take(pa.array(first))
    if not len(values) or pc.all(pc.equal(values, names.take(pa.array(code)))).as_py():
        return names, code
    whole = values.dictionary_encode()
    return whole.dictionary, whole.indices.to_numpy(zero_copy_only=False).astype(np.int32)


def _without_nulls(column: Any, source: str) -> Any:
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if chunked.null_count:
        raise TrecError(f"{source}: {chunked.null_count} rows have no id; every row needs one")
    return chunked


def _one_array(chunked: Any) -> Any:
    whole = chunked.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        return whole.chunk(0) if whole.num_chunks else pa.array([], chunked.type)
    return whole
