"""What each setting reads to answer a query: the top of its last ranking, and how that is altered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from harness import measures
from harness.running.corpus import Corpus
from harness.running.pipeline import alterations_of, ranks_read
from harness.running.search import Searched
from harness.steps import QueryReading, ReadPassage
from harness.values import (
    Chunk,
    CorpusError,
    Judgment,
    Part,
    Query,
    Ranking,
    Run,
    Together,
    by_key,
    golden_parts,
    under_way,
    wording_pattern,
)

Read = dict[str, tuple[ReadPassage, ...]]
"""The passages read by query, in the order read; an entry for every query."""


def parts_of(corpus: Corpus, query_id: str) -> tuple[tuple[str, ...], ...]:
    """The parts of the golden answer of a query, each with its wordings; CorpusError for a bad list."""
    cell = corpus.queries.extras.get(query_id, {}).get("answer", "")
    try:
        return golden_parts(cell)
    except ValueError as error:
        raise CorpusError(f"Query {query_id}, column answer: {error}.") from error


def read_by(searched: Searched, corpus: Corpus) -> Run[Read]:
    """The passages a setting reads for each query: the top of its last ranking, altered if it says so."""
    chunks, tokens = searched.chunking.chunks, searched.chunking.tokens.tolist()
    row = {chunk.chunk_id: place for place, chunk in enumerate(chunks)}
    read: Read = {query.query_id: () for query in corpus.queries.queries}
    rankings = searched.rankings[searched.steps[-1]]
    for ranking in rankings:
        rows = [row[chunk_id] for chunk_id in ranking.chunk_ids]
        ranks = ranks_read(searched.setting, [tokens[place] for place in rows])
        read[ranking.query_id] = tuple(ReadPassage(rank + 1, chunks[rows[rank]]) for rank in ranks)
    alterations = alterations_of(searched.setting)
    if not alterations:
        return read
    ranked = RankedChunks(
        {chunk.chunk_id: chunk for chunk in chunks}, {ranking.query_id: ranking for ranking in rankings}, {}
    )
    labels = by_key((label.query_id, label) for label in corpus.labels)
    for alteration in alterations:
        readings = [
            QueryReading(
                query,
                read[query.query_id],
                _answers(labels.get(query.query_id, ()), parts := parts_of(corpus, query.query_id)),
                partial(ranked.similar, query),
                parts,
                corpus.queries.extras.get(query.query_id, {}),
            )
            for query in corpus.queries.queries
        ]
        altered: list[tuple[ReadPassage, ...]] = yield Together(
            [
                Part(under_way(alteration.run(reading)), guess=partial(alteration.longest, reading))
                for reading in readings
            ]
        )
        read = dict(zip(read, altered, strict=True))
    return read


_TOUCHES = measures.Projection("any_overlap")


def _answers(labels: Sequence[Judgment], parts: tuple[tuple[str, ...], ...]) -> Callable[[Chunk], bool]:
    """Whether a passage touches a relevant label or shows a wording of the golden answer, in any case."""
    relevant = by_key((label.doc_id, label) for label in labels if label.grade)
    wording = wording_pattern(text for part in parts for text in part)

    def holds(chunk: Chunk) -> bool:
        if any(measures.holds(chunk, label, _TOUCHES) for label in relevant.get(chunk.doc_id, ())):
            return True
        return wording.search(chunk.text) is not None

    return holds


@dataclass(frozen=True, slots=True)
class RankedChunks:
    """The rankings of a setting and its chunks by id; ``letters`` keeps the pairs of letters of chunks."""

    chunks: Mapping[str, Chunk]
    rankings: Mapping[str, Ranking]
    letters: dict[str, frozenset[str]]

    def similar(self, query: Query) -> Iterator[Chunk]:
        """The passages ranked for a query, then those of other queries that share most letter pairs with it.

        Pairs, since they need no list of words and serve Chinese as well as English.
        """
        own = self.rankings.get(query.query_id)
        ranked = own.chunk_ids if own is not None else ()
        yield from map(self.chunks.__getitem__, ranked)
        of_query = _pairs(query.text)
        others = dict.fromkeys(
            chunk_id for ranking in self.rankings.values() for chunk_id in ranking.chunk_ids[:_OTHERS]
        )
        shared = {
            chunk_id: len(of_query & self._pairs_of(chunk_id)) for chunk_id in others.keys() - set(ranked)
        }
        for chunk_id in sorted(shared, key=lambda name: (-shared[name], name)):
            yield self.chunks[chunk_id]

    def _pairs_of(self, chunk_id: str) -> frozenset[str]:
        if chunk_id not in self.letters:
            self.letters[chunk_id] = _pairs(self.chunks[chunk_id].text)
        return self.letters[chunk_id]


# of the ranking of another query
_OTHERS = 5


def _pairs(text: str) -> frozenset[str]:
    letters = "".join(letter for letter in text.casefold() if letter.isalnum())
    return frozenset(map("".join, pairwise(letters)))
