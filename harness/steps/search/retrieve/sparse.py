"""BM25 as a dot product of sparse vectors: term frequencies in the chunk's, rarity in the query's.

A chunk's vector holds the saturated frequency of each of its terms, a query's the IDF of each of its own. So
a new chunk changes the IDF of later queries and leaves the vectors of old chunks unchanged, with one
exception: the average length, which the saturation divides by. Kept fixed, nothing that is stored ever
changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.retrieve.lexical import TermIds

Doubles = NDArray[np.float64]
Method = Literal["lucene", "robertson", "atire"]
# doubles held at once for a block of queries
_CELLS = 8_000_000


@dataclass(frozen=True, slots=True)
class Saturation:
    """How the frequency of a term saturates: ``average`` is the length of an average chunk, in terms."""

    method: Method
    k1: float
    b: float
    average: float

    def __call__(self, frequencies: Doubles, length: int) -> Doubles:
        """The share of each term of a chunk [n], by the names of Kamphuis et al. (ECIR 2020)."""
        factor = self.k1 + 1 if self.method == "atire" else 1.0
        return factor * frequencies / (frequencies + self.k1 * (1 - self.b + self.b * length / self.average))


def chunk_vectors(known: TermIds, saturation: Saturation) -> Any:
    """The stored vectors, a scipy CSR array [chunks, vocabulary]."""
    from scipy.sparse import csr_array

    columns: list[int] = []
    values: list[Doubles] = []
    starts = [0]
    for row in known.rows:
        counts = Counter(row)
        columns += counts
        values.append(saturation(np.array([*counts.values()], dtype=np.float64), len(row)))
        starts.append(len(columns))
    data = np.concatenate(values) if values else np.zeros(0)
    return csr_array(
        (data, np.array(columns, dtype=np.int64), starts), shape=(len(known.rows), len(known.vocabulary))
    )


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
    """How rare each term is among the chunks [vocabulary], by the names of Kamphuis et al. (ECIR 2020)."""
    count, terms = chunks.shape
    holding = np.bincount(chunks.indices, minlength=terms).astype(np.float64)
    odds = (count - holding + 0.5) / (holding + 0.5)
    rarity = {"lucene": 1 + odds, "robertson": np.maximum(odds, 1.0), "atire": count / holding}
    idf: Doubles = np.log(rarity[method])
    return idf
