"""Placed hits of another pipeline → a searched setting: rankings, and the chunks for the ideal ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.data import PlacedHit
from harness.measures import Projection, SpanQrels, project
from harness.running.chunks import Chunking, health_of
from harness.running.config.models import BenchConfig, Setting
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import projection_of
from harness.running.search import RETRIEVE, Searched
from harness.steps import token_lengths
from harness.store import key_of
from harness.values import NOT_SCORED, Chunk, Document, Judgment, Ranking

_NAME = "not-found"
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class OtherText:
    """Texts that are in no document: one ``document`` of all of them (None: there are none), and where."""

    document: Document | None
    spans: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, files: Sequence[Sequence[Sequence[PlacedHit]]], taken: Collection[str]) -> OtherText:
        """Gather them from all files, each text once; ``taken`` are the ids of the real documents."""
        hits = (hit for file in files for ranking in file for hit in ranking)
        texts = list(dict.fromkeys(hit.row.text for hit in hits if hit.place is None))
        spans, at = {}, 0
        for text in texts:
            spans[text] = (at, at + len(text))
            at += len(text) + len(_BETWEEN)
        name = _NAME
        while name in taken:
            name += "-"
        whole = _BETWEEN.join(texts)
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
        return cls(Document(name, whole, (), digest) if texts else None, spans)

    def chunk(self, text: str) -> Chunk:
        """One of the texts as a chunk."""
        assert self.document is not None  # holds every text that was asked for
        return Chunk.of(self.document, *self.spans[text])


def returned(
    setting: Setting,
    rankings: Sequence[Sequence[PlacedHit]],
    other_text: OtherText,
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
) -> Searched:
    """The hits of one pipeline, each at its rank, as if they had been searched here.

    Evidence that no returned chunk covers is among the chunks as one of its own.
    """
    documents = {document.doc_id: document for document in corpus.documents}
    chunks: dict[str, Chunk] = {}
    ranked = []
    for hits in rankings:
        own: dict[str, Chunk] = {}
        for hit in hits:
            place = hit.place
            chunk = (
                other_text.chunk(hit.row.text)
                if place is None
                else Chunk.of(documents[place.doc_id], place.start, place.end)
            )
            chunk = _under_own_name(chunk, own)
            own[chunk.chunk_id] = chunk
        chunks |= own
        scores = tuple(NOT_SCORED if hit.row.score is None else hit.row.score for hit in hits)
        ranked.append(Ranking(hits[0].row.query_id, tuple(own), scores))
    rule = projection_of(config.relevance)
    missed = list(_missed(list(chunks.values()), corpus.labels, rule, documents))
    every = [*chunks.values(), *missed]
    tokenizer = context.tokenizer(setting.tokenizer)
    lengths = token_lengths(every, tokenizer)
    health = health_of(lengths[: len(chunks)], tokenizer.window)
    key = key_of(corpus.key, other_text.document and other_text.document.sha256, [c.chunk_id for c in every])
    chunking = Chunking(tuple(every), key, health, lengths - np.int32(tokenizer.special), returned_only=True)
    notes = {"evidence_not_returned": len(missed)}
    return Searched(setting, chunking, {RETRIEVE: ranked}, notes, rewriting_costs={RETRIEVE: 0.0})


def _under_own_name(chunk: Chunk, taken: Collection[str]) -> Chunk:
    """The chunk, renamed if its id is ranked already: a repeated text is read twice."""
    time, name = 1, chunk.chunk_id
    while name in taken:
        time += 1
        name = f"{chunk.doc_id}~{time}:{chunk.start}-{chunk.end}"
    return replace(chunk, chunk_id=name)


def _missed(
    chunks: Sequence[Chunk],
    labels: Sequence[Judgment],
    rule: Projection,
    documents: Mapping[str, Document],
) -> Iterator[Chunk]:
    """For all relevant evidence that no chunk covers its best span, the first of equals, each once."""
    spans = SpanQrels.from_judgments(labels)
    covered = set(spans.evidence[project(spans, chunks, rule).cover_span].tolist())
    best: dict[int, int] = {}
    for row in np.flatnonzero(spans.grade > 0).tolist():
        evidence = int(spans.evidence[row])
        if evidence not in covered and (
            evidence not in best or spans.grade[row] > spans.grade[best[evidence]]
        ):
            best[evidence] = row
    seen = set()
    for row in best.values():
        document = documents[spans.doc_ids[spans.doc[row]]]
        chunk = Chunk.of(document, int(spans.start[row]), int(spans.end[row]))
        if chunk.chunk_id not in seen:
            seen.add(chunk.chunk_id)
            yield chunk
