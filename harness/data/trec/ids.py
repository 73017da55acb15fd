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

from harness.data.trec.table_faults import TrecError

Ints = npt.NDArray[np.int64]
Prints = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
Rows = Ints | None
"""Rows of a column; None for all of them in order."""

_BLOCK_ROWS = 1 << 16
_ODD_1, _ODD_2, _ODD_3 = map(np.uint64, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15))
_SHORT = 7
_TOP = np.uint64(56)
_NO_TEXT = pa.Array.from_buffers(pa.large_string(), 0, [None, pa.py_buffer(bytes(8)), pa.py_buffer(b"")])
_LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class DocIds:
    """A column of document ids: row i is ``values[code[i]]``, or ``values[i]`` where there is no ``code``.

    ``values`` are large strings, distinct or not, in the chunks they were read in: joining these would copy
    all the text.
    """

    values: Any
    code: Ints | None = None

    @classmethod
    def of(cls, column: Any, source: str) -> DocIds:
        """Read a column of strings or numbers; a dictionary-encoded one keeps its codes."""
        chunked = _checked(column, source)
        if not pa.types.is_dictionary(chunked.type):
            return cls(chunked)
        names, code = _unified(chunked, source)
        return cls(names, code.astype(np.int64))

    def name(self, row: int) -> str:
        """The id in a row; invalid UTF-8 is replaced."""
        value = self.values[row if self.code is None else int(self.code[row])]
        return str(value.cast(pa.large_binary()).as_py().decode("utf-8", "replace"))

    def take(self, rows: Ints) -> Any:
        """The ids of some rows, one array of large strings."""
        if not len(rows):
            # a column without rows may have no chunk, of which arrow takes nothing, not even no rows
            return _NO_TEXT
        ids = self.values.take(column_of(rows if self.code is None else self.code[rows]))
        return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids

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
        chunked = _checked(column, source)
        coded = pa.types.is_dictionary(chunked.type)
        names, code = _unified(chunked if coded else chunked.dictionary_encode(), source)
        used = np.zeros(len(names), dtype=np.bool_)
        used[code] = True
        if not used.all():
            # a part of a larger table: what only the rest of it holds is not an id of this column
            names = names.take(column_of(np.flatnonzero(used)))
            code = (np.cumsum(used, dtype=np.int32) - 1)[code]
        try:
            names.validate(full=True)
        except pa.ArrowInvalid as error:
            raise TrecError(f"{source}: a query id is not UTF-8 text; the file may be damaged") from error
        return cls(names, code)

    def name(self, row: int) -> str:
        """The id in a row."""
        return str(self.names[int(self.code[row])].as_py())


def column_of(numbers: npt.NDArray[Any]) -> Any:
    """Numbers as a column of arrow, as ``pa.array`` makes it: that loads pandas, which takes 0.2 s."""
    kept = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(kept.dtype), len(kept), [None, pa.py_buffer(kept)])


def numbers_of(column: Any) -> npt.NDArray[Any]:
    """A column of numbers without nulls as an array, as ``to_numpy`` makes it, which loads pandas too."""
    dtype = column.type.to_pandas_dtype()
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * np.dtype(dtype).itemsize)
        for chunk in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])
        if len(chunk)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype), *parts])


def places_in(values: Any, table: Any) -> npt.NDArray[np.int32]:
    """For every value of a column its first place in another, -1 if it is not there."""
    nowhere = column_of(np.array([-1], np.int32))[0]
    return numbers_of(pc.fill_null(pc.index_in(values, value_set=table), nowhere))


def pair_prints(query: npt.NDArray[Any], docs: Prints) -> Prints:
    """Fingerprints of (query, document), given numbers of queries and fingerprints of documents."""
    return _mixed(docs ^ ((query.astype(np.uint64) + np.uint64(1)) * _ODD_3))


def fingerprints(values: Any) -> Prints:
    """64 bits for every one of some large strings, from its length and its bytes.

    Strings of up to seven bytes differ in them whenever they differ.
    """
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    prints = np.zeros(len(values), dtype=np.uint64)
    first = 0
    for chunk in chunks:
        for block in range(0, len(chunk), _BLOCK_ROWS):
            part = chunk.slice(block, _BLOCK_ROWS)
            prints[first : first + len(part)] = _block_prints(part)
            first += len(part)
    return prints


def _block_prints(values: Any) -> Prints:
    data, offsets = values.buffers()[2], _ends(values)
    size = int(offsets[-1] - offsets[0])
    padded = np.zeros(size + 8, dtype=np.uint8)
    if size:
        padded[:size] = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    # eight bytes from any place on as one number
    words = np.ndarray(size + 1, dtype="<u8", buffer=padded.data, strides=(1,))
    start, length = offsets[:-1] - offsets[0], np.diff(offsets)
    themselves: Prints = (words[start] & _LOW_BYTES[np.minimum(length, _SHORT)]) | (
        length.astype(np.uint64) << _TOP
    )
    longest = int(length.max())
    if longest <= _SHORT:
        return themselves
    prints = length.astype(np.uint64) * _ODD_3
    for hashed in range(0, longest, 8):
        longer = np.flatnonzero(length > hashed)
        rows = slice(None) if len(longer) == len(length) else longer
        word = words[start[rows] + hashed] & _LOW_BYTES[np.minimum(length[rows] - hashed, 8)]
        prints[rows] = _mixed(prints[rows] ^ word)
    short = length <= _SHORT
    prints[short] = themselves[short]
    return prints


def _mixed(numbers: Prints) -> Prints:
    """Spread every bit over all others (the finalizer of SplitMix64; Steele et al., OOPSLA 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _ODD_1
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _ODD_2
    return numbers ^ (numbers >> np.uint64(31))


def _unified(chunked: Any, source: str) -> tuple[Any, npt.NDArray[np.int32]]:
    """The names and codes of dictionary-encoded chunks. Most share one dictionary with the chunk before."""
    dictionaries: list[Any] = []
    parts = []
    for chunk in filter(len, chunked.chunks):
        if not (dictionaries and _same_memory(dictionaries[-1], chunk.dictionary)):
            dictionaries.append(chunk.dictionary)
        code = numbers_of(chunk.indices).astype(np.int32, copy=False)
        if code.min() < 0 or code.max() >= len(dictionaries[-1]):
            raise TrecError(f"{source}: the file is damaged: a row names an id that the file does not have")
        parts.append((len(dictionaries) - 1, code))
    names = [_as_text(dictionary, source) for dictionary in dictionaries]
    if not names:
        return _NO_TEXT, np.zeros(0, dtype=np.int32)
    if len(names) == 1:
        whole, code = names[0], np.concatenate([code for _, code in parts])
    else:
        joined = pa.concat_arrays(names).dictionary_encode()
        number = np.split(numbers_of(joined.indices), np.cumsum([len(array) for array in names])[:-1])
        whole, code = joined.dictionary, np.concatenate([number[place][code] for place, code in parts])
    return whole, code


def _same_memory(left: Any, right: Any) -> bool:
    def place(array: Any) -> list[int]:
        return [array.offset, len(array), *(buffer.address for buffer in array.buffers() if buffer)]

    return left is right or (left.type == right.type and place(left) == place(right))


def _checked(column: Any, source: str) -> Any:
    """The column as large strings, or still coded; raises TrecError if a row has no id."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if pa.types.is_nested(chunked.type):
        raise TrecError(f"{source}: an id is text or a number; the column holds {chunked.type}")
    if chunked.null_count:
        row = int(np.flatnonzero(chunked.is_null().to_numpy())[0])
        raise TrecError(f"{source}, row {row + 1}: there is no id; every row needs one")
    if pa.types.is_dictionary(chunked.type):
        return chunked
    return _as_text(chunked, source)


def _as_text(column: Any, source: str) -> Any:
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException as error:
        why = f"an id is text or a number; the column holds {column.type}"
        if column.type in (pa.binary(), pa.large_binary(), pa.binary_view()):
            why = "the ids are bytes that are not UTF-8 text; write them as text"
        raise TrecError(f"{source}: {why}") from error


def first_empty(strings: Any, code: npt.NDArray[Any] | None) -> int | None:
    """The first row whose string has no character, None if there is none."""
    empty = pc.equal(pc.binary_length(strings), 0)
    if not pc.any(empty).as_py():
        return None
    places = np.flatnonzero(np.asarray(empty))
    rows = places if code is None else np.flatnonzero(np.isin(code, places))
    return int(rows[0]) if len(rows) else None


def _ends(strings: Any) -> Ints:
    """Where the bytes of each of some large strings begin, and where those of the last one end."""
    _, ends, _ = strings.buffers()
    if not len(strings):
        return np.zeros(1, dtype=np.int64)
    return np.frombuffer(ends, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
