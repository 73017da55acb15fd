"""Small to search, large to read: the text that is read for each chunk found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.running.sources import RunSources
from harness.steps import READERS, ReadConfig, text_lengths
from harness.store import key_of
from harness.values import Chunk, Ranking, Span, merge

_Spans = tuple[Span, ...]
_Place = tuple[str, int, int]
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ReadPassages:
    """The distinct spans that may be read, in the order of the text, and rankings of them by step.

    ``tokens`` [spans] are their lengths, special tokens left out; ``key`` identifies chunking and spans.
    """

    spans: tuple[Chunk, ...]
    tokens: NDArray[np.int32]
    rankings: dict[str, list[Ranking]]
    key: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How the chunks of a setting are read; ``key`` identifies the chunking.

    ``read_as`` maps the id of every chunk to the span that is read where it is found.
    """

    key: str
    read_as: Mapping[str, Chunk]
    sources: RunSources = field(repr=False)

    def of(self, rankings: Mapping[str, Sequence[Ranking]]) -> ReadPassages:
        """The text read for rankings of chunks: every span once, at the rank and score of its first chunk."""
        spans = {span.chunk_id: span for span in self.read_as.values()}
        place = {document.doc_id: i for i, document in enumerate(self.sources.corpus.documents)}
        ordered = tuple(sorted(spans.values(), key=lambda one: (place[one.doc_id], one.start, one.end)))
        key = key_of(self.key, "read", [one.chunk_id for one in ordered])
        ranked = {step: [self.ranking(found) for found in its] for step, its in rankings.items()}
        return ReadPassages(ordered, self._tokens(ordered, key), ranked, key)

    def ranking(self, found: Ranking) -> Ranking:
        """What is read for one ranking of chunks."""
        first: dict[str, float] = {}
        for chunk_id, score in zip(found.chunk_ids, found.scores, strict=True):
            first.setdefault(self.read_as[chunk_id].chunk_id, score)
        return Ranking(found.query_id, tuple(first), tuple(first.values()))

    def _tokens(self, spans: Sequence[Chunk], key: str) -> NDArray[np.int32]:
        """The lengths of spans, from the cache where they were counted before."""
        stored = self.sources.kept("read_tokens", key)
        if stored is None:
            tokenizer = self.sources.tokenizer
            lengths = text_lengths([one.text for one in spans], tokenizer) - tokenizer.special
            stored = {"lengths": lengths.tolist()}
            self.sources.keep("read_tokens", key, stored)
        return np.array(stored["lengths"], dtype=np.int32)


def reading_of(
    chunks: Sequence[Chunk], key: str, config: ReadConfig, sources: RunSources, warn: Warn
) -> Reading | None:
    """How chunks are read, None if there are none. ``key`` is that of the chunking.

    Warns of chunks that are not whole in what is read for them.
    """
    if not chunks:
        return None
    headings = {
        (one.doc_id, one.start, one.end): one.before
        for one in (sources.chunks(config.larger) if config.larger is not None else ())
        if one.before
    }
    spans = READERS.make(config).run(chunks, sources)
    read = {
        (doc_id, start, end): Chunk.of(sources.document(doc_id), start, end, shown)
        for (doc_id, start, end), shown in _before(chunks, spans, headings).items()
    }
    cut = sum(start > c.start or end < c.end for c, (start, end) in zip(chunks, spans, strict=True))
    if cut:
        warn(
            f"{cut} of {len(chunks)} chunks are not completely inside the text that is read for them. Cut "
            "the larger chunks at boundaries of the small ones, or read windows."
        )
    placed = zip(chunks, spans, strict=True)
    return Reading(key, {c.chunk_id: read[c.doc_id, start, end] for c, (start, end) in placed}, sources)


def _before(
    chunks: Sequence[Chunk], spans: Sequence[Span], headings: Mapping[_Place, _Spans]
) -> dict[_Place, _Spans]:
    """The ranges shown before each span: those of its chunks and its own, without what the span holds.

    ``headings`` are what spans that are larger chunks show themselves.
    """
    found: dict[_Place, set[Span]] = {}
    for chunk, (start, end) in zip(chunks, spans, strict=True):
        shown = {(first, min(last, start)) for first, last in chunk.before if first < start}
        place = (chunk.doc_id, start, end)
        found.setdefault(place, set()).update(shown, headings.get(place, ()))
    return {place: tuple(merge(shown)) for place, shown in found.items()}
