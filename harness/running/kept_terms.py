"""The terms of texts as they are kept: texts that are new are read, and what is kept stays as it is.

The texts that one run has read for the first time are a segment, as in Lucene. It has how often each text has
each term, which depends on no other text; how rare a term is, and the average length, are counted over the
texts at hand whenever they are searched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from harness.running.resources import Resources
from harness.steps import Identity, TermIds
from harness.values import Slot

Index = Callable[[Sequence[str]], TermIds]
# so many of the least digests of a segment say whether it has texts in common with others
_SKETCH = 64
_DIGEST = 32
_LIST = "segments"
_MOST_KEPT = 2
_kept: dict[str, TermIds] = {}


@dataclass(frozen=True, slots=True)
class Segment:
    """The terms of distinct texts, and the digests of these in the same order."""

    digests: tuple[bytes, ...]
    terms: TermIds

    @classmethod
    def read(cls, slot: Slot) -> Segment:
        """What ``write`` has written."""
        packed = (slot.path / "digests").read_bytes()
        digests = (packed[begin : begin + _DIGEST] for begin in range(0, len(packed), _DIGEST))
        return cls(tuple(digests), TermIds.read(slot.path))

    def write(self, slot: Slot) -> None:
        """Keep it in a slot."""
        self.terms.write(slot.path)
        (slot.path / "digests").write_bytes(b"".join(self.digests))
        slot.finish()


def kept_terms_of(
    texts: Sequence[str], key: str, reader: Identity, resources: Resources, index: Index
) -> TermIds:
    """The terms of ``texts``, which ``key`` identifies.

    Those of the last chunkings stay in memory, as sweeps ask for them again.
    """
    key = resources.key("terms", key, reader)
    if key not in _kept:
        terms = terms_of(texts, reader, resources, index)
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = terms
    return _kept[key]


def terms_of(texts: Sequence[str], reader: Identity, resources: Resources, index: Index) -> TermIds:
    """The terms of ``texts``; ``index`` reads those that are in no segment, which become one.

    ``reader`` is all that decides the terms of a text besides the text.
    """
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    text_of = dict(zip(digests, texts, strict=True))
    listed: dict[str, list[str]] = resources.kept(_LIST, resources.key("segments", reader)) or {}
    segments: list[Segment] = []
    missing = dict.fromkeys(text_of)

    def add(name: str) -> None:
        """The segment of that name, read anew where it is that of all that is missing."""
        texts = tuple(missing)
        # its arrays are mapped, and stay in use after this
        with resources.index(name, in_place=True) as slot:
            if slot.built:
                segment = Segment.read(slot)
            elif name == _name(texts, reader, resources):
                segment = Segment(texts, index([text_of[digest] for digest in texts]))
                segment.write(slot)
            else:
                return
        segments.append(segment)
        for digest in segment.digests:
            missing.pop(digest, None)

    for name, sketch in listed.items():
        if missing and any(bytes.fromhex(digest) in missing for digest in sketch):
            add(name)
    if missing or not segments:
        name, least = _name(tuple(missing), reader, resources), sorted(missing)[:_SKETCH]
        add(name)
        # of runs that do so at once, the last one's list is kept, and the others read their texts again
        listed = {**listed, name: [digest.hex() for digest in least]}
        resources.keep(_LIST, resources.key("segments", reader), listed)
    if len(segments) == 1 and list(segments[0].digests) == digests:
        return segments[0].terms
    return gathered(segments, digests)


def _name(digests: Sequence[bytes], reader: Identity, resources: Resources) -> str:
    return resources.key("segment", reader, hashlib.sha256(b"".join(digests)).hexdigest())


def gathered(segments: Sequence[Segment], digests: Sequence[bytes]) -> TermIds:
    """The terms of the texts with these digests, in their order; the same as if they were read together."""
    vocabulary: dict[str, int] = {}
    row_of: dict[bytes, int] = {}
    terms, begins, lengths, total = [], [], [], 0
    for segment in segments:
        numbers = [vocabulary.setdefault(term, len(vocabulary)) for term in segment.terms.vocabulary]
        terms.append(np.array(numbers, dtype=np.int32)[segment.terms.terms])
        begins.append(segment.terms.starts[:-1] + total)
        lengths.append(segment.terms.lengths)
        total += len(segment.terms.terms)
    for row, digest in enumerate(chain.from_iterable(segment.digests for segment in segments)):
        row_of.setdefault(digest, row)
    rows = np.array([row_of[digest] for digest in digests], dtype=np.int64)
    length = np.concatenate(lengths)[rows]
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)])
    places = np.repeat(np.concatenate(begins)[rows] - starts[:-1], length) + np.arange(starts[-1])
    return _numbered(np.concatenate(terms)[places], starts, list(vocabulary))


def _numbered(terms: NDArray[np.int32], starts: NDArray[np.int64], words: Sequence[str]) -> TermIds:
    """The terms numbered as they first occur, without those that do not."""
    first = np.full(len(words), len(terms), dtype=np.int64)
    # of places that are assigned several times the last one stays
    first[terms[::-1]] = np.arange(len(terms))[::-1]
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(terms))]
    number = np.zeros(len(words), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return TermIds(number[terms], starts, {words[old]: new for new, old in enumerate(order.tolist())})
