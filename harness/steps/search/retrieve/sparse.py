"""BM25 as a dot product of sparse vectors: term frequencies in the chunk's, rarity in the query's.

A chunk's vector holds the saturated frequency of each of its terms, a query's the IDF of each of its own. So
a new chunk changes the IDF of later queries and leaves the vectors of old chunks unchanged, with one
exception: the average length, which the saturation divides by. Kept fixed, nothing that is stored ever
changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.retrieve.lexical import TermIds

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Method = Literal["lucene", "robertson", "atire"]
AnyMethod = Literal[Method, "bm25+", "bm25l"]
# doubles held at once for a block of queries
_CELLS = 8_000_000
# postings weighted at once
_POSTINGS = 1_000_000
# chunks whose highest score is looked at together
_GROUP = 32
# scores that differ by more differ rounded too, whatever the order of a sum
_APART = 2e-6
# contenders that are faster to score one by one than all chunks by another term
_FEW = 2_000


@dataclass(frozen=True, slots=True)
class Saturation:
    """How the frequency of a term saturates: ``average`` is the length of an average chunk, in terms.

    ``delta`` is what ``bm25+`` and ``bm25l`` add (Lv and Zhai, CIKM and SIGIR 2011).
    """

    method: AnyMethod
    k1: float
    b: float
    average: float
    delta: float = 0.0

    def __call__(self, frequencies: Doubles, lengths: Ints) -> Doubles:
        """The share of terms with these frequencies in chunks of these lengths, both [n].

        The names are those of Kamphuis et al. (ECIR 2020), and the order of the operations is that of the
        library bm25s, so that results are the same to the last bit.
        """
        k1, norm = self.k1, 1 - self.b + self.b * lengths / self.average
        if self.method == "bm25l":
            scaled = frequencies / norm
            return ((k1 + 1) * (scaled + self.delta)) / (k1 + scaled + self.delta)
        factor = 1.0 if self.method in ("lucene", "robertson") else k1 + 1
        return factor * frequencies / (k1 * norm + frequencies) + self.delta


def chunk_vectors(known: TermIds, saturation: Saturation) -> Any:
    """The stored vectors, a scipy CSR array [chunks, vocabulary]."""
    counts = known.counts().tocsr()
    lengths = np.repeat(known.lengths, np.diff(counts.indptr))
    stored = counts.astype(np.float64)
    stored.data = saturation(stored.data, lengths)
    return stored


@dataclass(frozen=True, slots=True)
class Postings:
    """For every term the chunks that hold it, and what it counts there when a query asks for it once.

    Those of term t are ``rows`` and ``weights`` [P] from ``starts[t]`` to ``starts[t + 1]`` [V + 1], in the
    order of the chunks, of which there are ``chunks``; ``highest`` [V] is the largest weight of each term.
    """

    starts: Ints
    rows: NDArray[np.int32]
    weights: Doubles
    highest: Doubles
    chunks: int

    @classmethod
    def of(cls, known: TermIds, saturation: Saturation) -> Postings:
        """The postings of all terms."""
        counts = known.counts()
        starts = counts.indptr.astype(np.int64)
        idf, lengths = rarity(np.diff(starts), len(known.starts) - 1, saturation.method), known.lengths
        term = np.repeat(np.arange(len(idf), dtype=np.int32), np.diff(starts))
        weights = np.empty(len(term))
        for begin in range(0, len(term), _POSTINGS):
            part = slice(begin, begin + _POSTINGS)
            frequencies = counts.data[part].astype(np.float64)
            weights[part] = idf[term[part]] * saturation(frequencies, lengths[counts.indices[part]])
        highest = np.maximum.reduceat(weights, starts[:-1]) if len(weights) else weights
        return cls(starts, counts.indices, weights, highest, len(lengths))

    def best(self, asked: Mapping[int, int], wanted: int) -> tuple[Ints, Doubles]:
        """Chunks [n] in their order, and their scores [n], for terms that are asked for so many times.

        All that are among the best ``wanted`` are there, ties included. Terms that can add most come first;
        once the others cannot lift a chunk among the best, only the contenders are scored (MaxScore, Turtle
        and Flood 1995), by the terms in the order they were asked for.
        """
        left = {term: times * float(self.highest[term]) for term, times in asked.items()}
        earned, floor = np.zeros(self.chunks), 0.0
        for term in sorted(left, key=left.__getitem__, reverse=True):
            rows, weights = self._of(term)
            if len(rows) * _GROUP > self.chunks:
                floor = _floor(earned, wanted) - math.fsum(left.values())
                if floor > 0 and np.count_nonzero(earned > floor) <= _FEW:
                    break
            earned[rows] += asked[term] * weights
            del left[term]
        else:
            floor = _floor(earned, wanted)
        found = np.flatnonzero(earned > max(floor, 0.0))
        return found, self._scores(asked, found.astype(np.int32))

    def _of(self, term: int) -> tuple[NDArray[np.int32], Doubles]:
        own = slice(self.starts[term], self.starts[term + 1])
        return self.rows[own], self.weights[own]

    def _scores(self, asked: Mapping[int, int], found: NDArray[np.int32]) -> Doubles:
        """The scores of some chunks [n], in their order."""
        scores = np.zeros(len(found))
        for term, times in asked.items():
            rows, weights = self._of(term)
            place = np.minimum(np.searchsorted(rows, found), len(rows) - 1)
            holds = rows[place] == found
            scores[holds] += times * weights[place[holds]]
        return scores


def _floor(scores: Doubles, wanted: int) -> float:
    """A bound that the best ``wanted`` of ``scores`` [N] are above; 0 where only sorting tells.

    Each of the groups with the highest maxima holds a score that is at least the last of these maxima.
    """
    groups = len(scores) // _GROUP
    if not 0 < wanted <= groups:
        return 0.0
    highest = scores[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return float(np.partition(highest, -wanted)[-wanted]) - _APART


def query_vectors(asked: Sequence[Sequence[int]], idf: Doubles) -> Any:
    """The vectors of queries whose terms are ``asked``, CSR [queries, vocabulary]; repeated terms add up."""
    from scipy.sparse import csr_array

    columns = np.array([term for row in asked for term in row], dtype=np.int64)
    starts = np.cumsum([0, *map(len, asked)])
    return csr_array((idf[columns], columns, starts), shape=(len(asked), len(idf)))


def dot_products(asked: Any, stored: Any) -> Iterator[Doubles]:
    """For every row of ``asked`` [Q, d] its dot products with those of ``stored`` [N, d], both CSR: [N] each.

    A block of queries is scored at a time, so that memory does not grow with their number.
    """
    step = max(1, _CELLS // sum(stored.shape))
    for begin in range(0, asked.shape[0], step):
        yield from (stored @ asked[begin : begin + step].toarray().T).T


def inverse_document_frequency(chunks: Any, method: Method) -> Doubles:
    """How rare each term is among the chunks [vocabulary] of a CSR array [chunks, vocabulary]."""
    count, terms = chunks.shape
    return rarity(np.bincount(chunks.indices, minlength=terms), count, method)


def rarity(holding: Ints, count: int, method: AnyMethod) -> Doubles:
    """The inverse document frequency of terms [V] that ``holding`` [V] of ``count`` chunks hold.

    The names are those of Kamphuis et al. (ECIR 2020).
    """
    rarer: Doubles = (count + 1) / holding
    if method == "atire":
        rarer = count / holding
    elif method == "bm25l":
        rarer = (count + 1) / (holding + 0.5)
    elif method in ("lucene", "robertson"):
        odds = (count - holding + 0.5) / (holding + 0.5)
        rarer = 1 + odds if method == "lucene" else np.maximum(odds, 1.0)
    # numpy's logarithm may differ in the last bit
    return np.array([math.log(one) for one in rarer.tolist()], dtype=np.float64)
