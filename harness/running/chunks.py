"""The chunks of a setting, split at most once per text and configuration, and how they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from harness import steps
from harness.models import add, sum_of
from harness.running.config.models import Setting
from harness.running.frames import Where
from harness.running.loop import Loop, Visitor
from harness.running.pipeline import contexts_searched, embeds_here, route_contexts
from harness.running.resources import RunSources
from harness.store import key_of
from harness.values import Chunk, Part, Query, Ranking, Run, Span, Tokenizer, by_key, merge, under_way

_Spans = tuple[Span, ...]
_Place = tuple[str, int, int]


class Warn(Protocol):
    """Is told of a problem of the chunks, as the code and the values of a sentence but for the settings."""

    def __call__(self, code: str, /, **values: str | int) -> None:
        """Take a problem in."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the chunks of a setting are read.

    ``read_as`` maps the id of every chunk to the span that is read where it is found. ``guessed``: what is
    read is not known yet, and each chunk has the longest text that it may be. ``cost`` is what language
    models and endpoints were paid for it, whoever paid; None: a price is unknown.
    """

    read_as: Mapping[str, Chunk]
    sources: RunSources = field(repr=False)
    guessed: bool = False
    cost: float | None = 0.0

    def chunking(self, searched: Chunking) -> Chunking:
        """The distinct spans that may be read, in the order of the text, in place of the chunks searched."""
        if self.guessed:
            return replace(searched, chunks=tuple(self.read_as[one.chunk_id] for one in searched.chunks))
        spans = {span.chunk_id: span for span in self.read_as.values()}
        place = {document.doc_id: i for i, document in enumerate(self.sources.corpus.documents)}
        ordered = tuple(sorted(spans.values(), key=lambda one: (place[one.doc_id], one.start, one.end)))
        key = key_of(searched.key, "read", [chunk.chunk_id for chunk in ordered])
        tokens = self.sources.lengths("read_tokens", key, [chunk.text for chunk in ordered])
        read = {"read_spans": len(ordered), "read_tokens_p50": int(np.median(tokens))}
        return Chunking(ordered, key, searched.health | read, tokens, searched.quality)

    def ranking(self, ranking: Ranking) -> Ranking:
        """What is read for one ranking of chunks."""
        first: dict[str, float] = {}
        for chunk_id, score in zip(ranking.chunk_ids, ranking.scores, strict=True):
            first.setdefault(self.read_as[chunk_id].chunk_id, score)
        return Ranking(ranking.query_id, tuple(first), tuple(first.values()))


def reading_of(
    chunks: Sequence[Chunk], config: steps.ReadConfig, sources: RunSources, visitor: Visitor, warn: Warn
) -> Reading | None:
    """How chunks are read, None if there are none; ``visitor`` meets what the reader needs.

    Warns of chunks that are not whole in what is read for them.
    """
    if not chunks:
        return None
    reader = steps.READERS.make(config)
    paid = _charged(under_way(reader.run(chunks, sources)), visitor)
    if paid is None:
        return _longest_reading(chunks, reader, sources)
    spans, cost = paid
    headings = {
        (one.doc_id, one.start, one.end): one.before
        for one in (sources.chunks(config.larger) if config.larger is not None else ())
        if one.before
    }
    read = {
        (doc_id, start, end): Chunk.of(sources.document(doc_id), start, end, shown)
        for (doc_id, start, end), shown in _before(chunks, spans, headings).items()
    }
    cut = sum(start > c.start or end < c.end for c, (start, end) in zip(chunks, spans, strict=True))
    if cut:
        warn("chunks.cut", cut=cut, chunks=len(chunks))
    placed = zip(chunks, spans, strict=True)
    read_as = {c.chunk_id: read[c.doc_id, start, end] for c, (start, end) in placed}
    return Reading(read_as, sources, cost=cost)


def _charged(run: Run[Any], visitor: Visitor) -> tuple[Any, float | None] | None:
    """What a step over all chunks returns, and its cost as in `Reading`; None: it is not known yet."""
    place = Where("0")
    visitor.charged(place)  # what other steps have had is not this one's
    paid = Loop(visitor).run({place.setting: _priced(run)}).get(place.setting)
    return None if paid is None else (paid[0], add(paid[1], visitor.charged(place)))


def _priced(run: Run[Any]) -> Run[Any]:
    return (yield Part(run, priced=True))


def _longest_reading(chunks: Sequence[Chunk], reader: steps.Reader[Any], sources: RunSources) -> Reading:
    """Every chunk with the longest text that may be read for it; no two share one, as they need not."""
    texts: dict[_Place, str] = {}
    read: dict[str, Chunk] = {}
    for chunk in chunks:
        place = (chunk.doc_id, *reader.longest(chunk, sources))
        if place not in texts:
            texts[place] = sources.document(chunk.doc_id).text[slice(*place[1:])]
        read[chunk.chunk_id] = replace(chunk, text=texts[place])
    return Reading(read, sources, guessed=True)


def _before(
    chunks: Sequence[Chunk], spans: Sequence[Span], headings: Mapping[_Place, _Spans]
) -> dict[_Place, _Spans]:
    """The ranges shown before each span: those of its chunks and its own, without what the span holds.

    ``headings`` are what spans that are larger chunks show themselves.
    """
    spans_before: dict[_Place, set[Span]] = {}
    for chunk, (start, end) in zip(chunks, spans, strict=True):
        shown = {(first, min(last, start)) for first, last in chunk.before if first < start}
        place = (chunk.doc_id, start, end)
        spans_before.setdefault(place, set()).update(shown, headings.get(place, ()))
    return {place: tuple(merge(shown)) for place, shown in spans_before.items()}


_FULL = 0.9
# A few chunks are cut under any window, such as tables, whose figures take many tokens.
_MOST_CAPPED = 0.25


@dataclass(frozen=True, slots=True)
class Chunking:
    """All chunks of one chunking; ``key`` identifies text, chunker, tokenizer; ``health`` counts tokens.

    ``tokens`` [chunks] is the length of each in tokens of the encoder, special tokens left out; ``quality``
    holds the columns of ``ChunkRow``, none if there are no chunks. ``indexed`` is what is indexed where
    that is more than the chunks, ``indexed_apart`` the same for retrievers with a context of their own, by
    its key, None for the chunks alone; ``index_tokens`` are the tokens that the encoder reads of all that is
    indexed, each text up to its window, None if that is not known, and ``context_cost`` what the contexts of
    all that is indexed cost, None where a price is unknown. ``reading`` is how chunks are read where
    that is something else. ``returned_only``: another pipeline cut the documents, and no chunk is known but
    those it returned. ``sources`` are the documents of the chunks where their ids do not say them, '' for
    text that is in none. ``outside`` are document and text of what else lies in the collection that is
    searched, of documents that the part of the benchmark leaves out.
    """

    chunks: tuple[Chunk, ...]
    key: str
    health: dict[str, Any]
    tokens: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32), compare=False)
    quality: dict[str, Any] = field(default_factory=dict)
    indexed: Indexed | None = field(default=None, compare=False)
    indexed_apart: Mapping[str, Indexed | None] = field(default_factory=dict, compare=False)
    reading: Reading | None = field(default=None, compare=False)
    returned_only: bool = False
    index_tokens: int | None = None
    context_cost: float | None = field(default=0.0, compare=False)
    sources: tuple[str, ...] = field(default=(), compare=False)
    outside: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def texts_read(self) -> list[Chunk]:
        """What is read for each chunk, in their order: without a reader the chunk itself."""
        if self.reading is None:
            return list(self.chunks)
        return [self.reading.read_as[chunk.chunk_id] for chunk in self.chunks]

    @property
    def passages(self) -> steps.Passages:
        """The chunks as search steps see them, with their context, and with those of single retrievers."""
        texts = tuple(chunk.text for chunk in self.chunks)
        ids, lengths = tuple(chunk.chunk_id for chunk in self.chunks), tuple(map(len, texts))
        by_context: dict[str, steps.Passages] = {}

        def of(indexed: Indexed | None) -> steps.Passages:
            if indexed is None:
                return steps.Passages(ids, texts, lengths, self.key, by_context, sources=self.sources)
            key, guessed = indexed.key, indexed.guessed
            return steps.Passages(ids, indexed.texts, lengths, key, by_context, guessed, self.sources)

        by_context.update({contexts: of(indexed) for contexts, indexed in self.indexed_apart.items()})
        passages = of(self.indexed)
        return passages.beside(self.outside) if self.outside else passages

    def places(self) -> Iterator[tuple[str, tuple[Span, ...]]]:
        """The document and the spans of every chunk, its own place the last."""
        return ((chunk.doc_id, chunk.spans) for chunk in self.chunks)

    def tokens_read(self, with_context: bool) -> NDArray[np.int32]:
        """The length of each chunk [chunks] as a reranker reads it, special tokens left out."""
        return self.tokens if self.indexed is None or not with_context else self.indexed.tokens


def chunk_corpus(setting: Setting, sources: RunSources, visitor: Visitor, warn: Warn) -> Chunking:
    """Split the corpus for a setting; warns where an encoder of the setting does not read whole chunks.

    ``visitor`` meets what contexts and the reader need.
    """
    tokenizer = sources.tokenizer
    with sources.timed("chunk"):
        chunks, key = sources.cut(setting.chunk)
        lengths, quality = _examined(chunks, key, sources)
    health = health_of(lengths, tokenizer.window)

    of_routes = route_contexts(setting)
    contexts = {steps.context_key(around): around for around in (setting.context, *of_routes)}
    indexes = {
        name: with_context(chunks, key, around, sources, visitor, warn) for name, around in contexts.items()
    }
    indexed = indexes[steps.context_key(setting.context)]
    if indexed is not None:
        health |= {"index_tokens": indexed.index_tokens, "overlong_with_context": indexed.overlong}
    spans = None if setting.read is None else setting.read.spans
    reading = None if spans is None else reading_of(chunks, spans, sources, visitor, warn)
    searching = contexts_searched(setting)
    for name, embedded_here in searching.items():
        if embedded_here:
            _warn_of_long_chunks(indexes[name], health, tokenizer, warn)
    if embeds_here(setting):
        _warn_of_long_queries(sources.corpus.queries.queries, tokenizer, warn)
    _warn_of_capped(chunks, lengths, setting.chunk, warn)
    read = [indexes[name] for name in searching]
    return Chunking(
        chunks,
        key,
        health,
        lengths - np.int32(tokenizer.special),
        quality,
        indexed,
        {name: indexes[name] for name in map(steps.context_key, of_routes)},
        reading,
        index_tokens=sum(
            quality.get("index_tokens", 0) if part is None else part.index_tokens for part in read
        ),
        context_cost=sum_of(0.0 if part is None else part.cost for part in read),
    )


def _warn_of_long_chunks(
    indexed: Indexed | None, health: Mapping[str, Any], tokenizer: Tokenizer, warn: Warn
) -> None:
    """Warn if an encoder reads only the beginning of what is indexed for some chunks."""
    code, overlong = "chunks.long", int(health["overlong"])
    if indexed is not None:
        code, overlong = "chunks.long.context", indexed.overlong
    if overlong:
        chunks, window = int(health["chunks"]), tokenizer.window
        warn(code, overlong=overlong, chunks=chunks, window=window, model=tokenizer.name)


def _warn_of_long_queries(queries: Sequence[Query], tokenizer: Tokenizer, warn: Warn) -> None:
    """Warn if an encoder reads only the beginning of some queries."""
    window, special = tokenizer.window, tokenizer.special
    # a token has at least one byte, so most queries need not be counted
    texts = [
        query.text for query in queries if len(query.text.encode("utf-8", "surrogatepass")) > window - special
    ]
    longer = int((steps.token_lengths(texts, tokenizer) > window).sum()) if window and texts else 0
    if longer:
        warn("chunks.queries", longer=longer, queries=len(queries), window=window, model=tokenizer.name)


def _warn_of_capped(
    chunks: Sequence[Chunk], lengths: NDArray[np.int32], config: steps.ChunkerConfig, warn: Warn
) -> None:
    """Warn if the window of a chunker with a size in characters ends many chunks before that size.

    A chunk counts where it fills nine tenths of the window in tokens, and less than that of the size.
    """
    size, window = config.cut_again or (0, 0)
    if not (size and len(chunks)):
        return
    characters = np.array([len(chunk.text) for chunk in chunks], dtype=np.int64)
    share = float(((lengths >= _FULL * window) & (characters < _FULL * size)).mean())
    if share >= _MOST_CAPPED:
        warn(
            "chunks.capped",
            share=f"{share:.0%}",
            window=window,
            size=str(size),
            median=f"{np.median(characters):,.0f}",
        )


def _examined(
    chunks: Sequence[Chunk], key: str, sources: RunSources
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """The lengths of the chunks in tokens, and their health; examined at most once per chunking."""
    tokenizer = sources.tokenizer
    examined_key = key_of(key, steps.HEALTH_VERSION, steps.OUTLINE_VERSION)
    stored = sources.kept("chunk_health", examined_key)
    if stored is None:
        lengths = sources.lengths_cut(key)
        if lengths is None:
            lengths = steps.token_lengths([chunk.text for chunk in chunks], tokenizer)
        by_document = by_key((chunk.doc_id, chunk) for chunk in chunks)
        # one document's at a time: those of a million chunks take hundreds of megabytes
        shown = {doc_id: (chunk.spans for chunk in chunks_of) for doc_id, chunks_of in by_document.items()}
        health = steps.examine(shown, lengths, sources.outlines(), tokenizer.window)
        stored = {"lengths": lengths.tolist(), "quality": health}
        sources.keep("chunk_health", examined_key, stored)
    return np.array(stored["lengths"], dtype=np.int32), stored["quality"]


def health_of(lengths: Any, window: int) -> dict[str, Any]:
    """The lengths of chunks in tokens, special tokens included, for the run record."""
    if not len(lengths):
        return {"chunks": 0, "overlong": 0, "window": window}
    low, middle, high = (int(q) for q in np.percentile(lengths, [5, 50, 95]))
    return {
        "chunks": len(lengths),
        "overlong": int(np.sum(lengths > window)) if window else 0,
        "window": window,
        "tokens": int(np.sum(lengths)),
        "tokens_p5": low,
        "tokens_p50": middle,
        "tokens_p95": high,
        "tokens_max": int(np.max(lengths)),
    }


@dataclass(frozen=True, slots=True)
class Indexed:
    """The texts in the order of the chunks, and their lengths in ``tokens``, special tokens left out.

    ``overlong`` of them are longer than the encoder reads, and ``index_tokens`` is what it reads of all, each
    up to its window, special tokens included. ``key`` identifies chunking and texts. ``guessed``: the longest
    texts stand for contexts that are not known yet, and their tokens are not counted. ``cost`` is what the
    contexts cost, whichever run paid (None: a price is unknown).
    """

    texts: tuple[str, ...]
    tokens: NDArray[np.int32]
    overlong: int
    index_tokens: int
    key: str
    guessed: bool = False
    cost: float | None = field(default=0.0, compare=False)


def with_context(
    chunks: Sequence[Chunk],
    key: str,
    contexts: Sequence[steps.ContextConfig],
    sources: RunSources,
    visitor: Visitor,
    warn: Warn,
) -> Indexed | None:
    """The texts that are indexed, None if that is the chunks alone; ``contexts``: the outermost first.

    ``key`` is that of the chunking. ``visitor`` meets what contexts need. Warns of a context that no chunk
    has.
    """
    if not contexts or not chunks:
        return None
    tokenizer, guessed = sources.tokenizer, False
    around, costs = [steps.ContextText()] * len(chunks), list[float | None]()
    for config in contexts:
        made = steps.CONTEXTS.make(config)
        paid = _charged(under_way(made.run(chunks, sources)), visitor)
        if paid is None:
            surroundings, guessed = [made.longest] * len(chunks), True
        else:
            surroundings, cost = paid
            costs.append(cost)
        if not any(need.before or need.after for need in surroundings):
            warn("chunks.context", context=config.kind)
        around = steps.nested(around, surroundings)
    texts = tuple(one(chunk.text) for one, chunk in zip(around, chunks, strict=True))
    indexed_key = key_of(key, "context", _digest(around))
    if guessed:
        return Indexed(texts, np.zeros(len(texts), dtype=np.int32), 0, 0, indexed_key, guessed=True)
    tokens = sources.lengths("indexed_tokens", indexed_key, texts)
    lengths = tokens.astype(np.int64) + tokenizer.special
    read = np.minimum(lengths, tokenizer.window or lengths)
    return Indexed(
        texts, tokens, int((lengths > read).sum()), int(read.sum()), indexed_key, cost=sum_of(costs)
    )


def _digest(around: Sequence[steps.ContextText]) -> str:
    """The contexts are cheap to make, so they are identified by their texts."""
    digest = hashlib.sha256()
    for surrounding in around:
        for text in (surrounding.before, surrounding.after):
            raw = text.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()
