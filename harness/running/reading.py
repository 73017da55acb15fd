"""Small to search, large to read: the text that is read for each chunk found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.chunk import text_lengths
from harness.running.sources import RunSources
from harness.search import READERS, ReadConfig
from harness.search.read import Merger
from harness.search.read.step import Together
from harness.store import key_of
from harness.text.spans import Span, merge
from harness.types import Chunk, Ranking

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

    ``read`` gives the spans of the chunks that are found, of which those of a ranking's first ``top_n`` are
    merged. ``headings`` are what the larger chunks that may be read show before them. ``always`` are the
    spans that are read in any case: what each chunk is read in or, where it matters what else is found, the
    chunks themselves.
    """

    chunks: tuple[Chunk, ...]
    key: str
    read: Together
    top_n: int | None
    always: tuple[Chunk, ...]
    before: Mapping[_Place, _Spans]
    headings: Mapping[_Place, _Spans]
    sources: RunSources = field(repr=False)
    _known: dict[str, int] = field(default_factory=dict, repr=False)

    def of(self, rankings: Mapping[str, Sequence[Ranking]]) -> ReadPassages:
        """The text read for rankings of chunks: every span once, at the rank and score of its first chunk."""
        spans = {one.chunk_id: one for one in self.always}
        read = self.opened()
        ranked: dict[str, list[Ranking]] = {}
        for step, its in rankings.items():
            both = list(map(read, its))
            ranked[step] = [ranking for _, ranking in both]
            for chunk_id, span in (item for own, _ in both for item in own.items()):
                # a span in several rankings is kept as it was first read
                spans.setdefault(chunk_id, span)
        place = {document.doc_id: i for i, document in enumerate(self.sources.corpus.documents)}
        ordered = tuple(sorted(spans.values(), key=lambda one: (place[one.doc_id], one.start, one.end)))
        key = key_of(self.key, "read", [one.chunk_id for one in ordered])
        return ReadPassages(ordered, self._tokens(ordered, key), ranked, key)

    def opened(self) -> Callable[[Ranking], tuple[dict[str, Chunk], Ranking]]:
        """Reads one ranking of chunks at a time: the spans by their ids, and the ranking of them."""
        row = {chunk.chunk_id: i for i, chunk in enumerate(self.chunks)}

        def as_read(found: Ranking) -> tuple[dict[str, Chunk], Ranking]:
            spans: dict[str, Chunk] = {}
            rows = [row[chunk_id] for chunk_id in found.chunk_ids]
            first: dict[str, float] = {}
            read = [*self.read(rows[: self.top_n]), *_own(self.chunks, rows[len(rows[: self.top_n]) :])]
            own = self.before or _before([self.chunks[i] for i in rows], read, self.headings)
            for i, place, score in zip(rows, read, found.scores, strict=True):
                document = self.sources.document(self.chunks[i].doc_id)
                span = Chunk.of(document, *place, own[document.doc_id, *place])
                spans.setdefault(span.chunk_id, span)
                first.setdefault(span.chunk_id, score)
            return spans, Ranking(found.query_id, tuple(first), tuple(first.values()))

        return as_read

    def _tokens(self, spans: Sequence[Chunk], key: str) -> NDArray[np.int32]:
        """The lengths of spans, each counted once."""
        if any(one.chunk_id not in self._known for one in spans):
            stored = self.sources.kept("read_tokens", key)
            new = [one for one in spans if one.chunk_id not in self._known]
            if stored is None:
                tokenizer = self.sources.tokenizer
                lengths = text_lengths([one.text for one in new], tokenizer) - tokenizer.special
                self._known.update(zip([one.chunk_id for one in new], lengths.tolist(), strict=True))
                stored = {"lengths": [self._known[one.chunk_id] for one in spans]}
                self.sources.keep("read_tokens", key, stored)
            self._known.update(zip([one.chunk_id for one in spans], stored["lengths"], strict=True))
        return np.array([self._known[one.chunk_id] for one in spans], dtype=np.int32)


def reading_of(
    chunks: Sequence[Chunk], key: str, config: ReadConfig, sources: RunSources, warn: Warn
) -> Reading | None:
    """How chunks are read, None if there are none. ``key`` is that of the chunking.

    Warns of chunks that are not whole in what is read for them.
    """
    if not chunks:
        return None
    reader = READERS.make(config)
    headings = {
        (one.doc_id, one.start, one.end): one.before
        for one in (sources.chunks(config.larger) if config.larger is not None else ())
        if one.before
    }
    if isinstance(reader, Merger):
        read, top_n = reader.together(chunks, sources), reader.config.top_n
        spans, before, always = read(range(len(chunks))), {}, tuple(chunks)
    else:
        spans = reader.run(chunks, sources)
        read, top_n = lambda rows: [spans[i] for i in rows], None
        before = _before(chunks, spans, headings)
        always = tuple(
            Chunk.of(sources.document(doc_id), start, end, shown)
            for (doc_id, start, end), shown in before.items()
        )
    cut = sum(start > c.start or end < c.end for c, (start, end) in zip(chunks, spans, strict=True))
    if cut:
        warn(
            f"{cut} of {len(chunks)} chunks are not completely inside the text that is read for them. Cut "
            "the larger chunks at boundaries of the small ones, or read windows."
        )
    return Reading(tuple(chunks), key, read, top_n, always, before, headings, sources)


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


def _own(chunks: Sequence[Chunk], rows: Sequence[int]) -> list[Span]:
    return [(chunks[i].start, chunks[i].end) for i in rows]
