"""The text read that nobody has judged: where it is read, and the share of the text that is judged."""

from __future__ import annotations

import numpy as np

from harness.measures.qrels import SpanQrels, Spans
from harness.measures.ragged import Floats, Ints, owners
from harness.measures.trail import Trail, read


def judged_text(trail: Trail, budget: int) -> Floats:
    """The share of the text read within the ``budget`` that is judged; text read again counts once.

    Text of a judgment that failed is not judged. NaN if nothing was read.
    """
    pairs = _ranked_pairs(trail)
    everything = np.zeros(len(pairs[0]), dtype=np.int64), document_ends(trail)[pairs[1]]
    all_read = _read_within(reading(trail, *pairs, *everything), budget)
    unjudged = _read_within(holes(trail), budget)
    share = np.full(trail.n_queries, np.nan)
    np.divide(all_read - unjudged, all_read, out=share, where=all_read > 0)
    return share


def holes(trail: Trail) -> Trail:
    """The same rankings read for the unjudged text of the documents that they show.

    Its spans are the longest stretches that no judgment with a grade touches, one evidence each.
    """
    query, doc = _ranked_pairs(trail)
    ends, spans, n_docs = document_ends(trail), trail.judged, len(trail.chunks.doc_ids)
    number = {doc_id: i for i, doc_id in enumerate(trail.chunks.doc_ids)}
    there = np.array([number.get(doc_id, n_docs) for doc_id in spans.doc_ids], dtype=np.int64)[spans.doc]
    group = query * n_docs + doc
    known = np.isin(spans.query * n_docs + there, group) & (there < n_docs)
    # each document is closed by an empty span at its beginning and one at its end
    of = np.concatenate([group, (spans.query * n_docs + there)[known], group])
    start = np.concatenate([np.zeros_like(group), spans.start[known], ends[doc]])
    end = np.concatenate([np.zeros_like(group), spans.end[known], ends[doc]])
    order = np.lexsort((end, start, of))
    of, start, end = of[order], start[order], end[order]
    width = int(max(end.max(initial=0), ends.max(initial=0))) + 1
    reached = np.maximum.accumulate(of * width + end)
    after = np.flatnonzero((of[1:] == of[:-1]) & ((of * width + start)[1:] > reached[:-1]))
    hole_doc, hole_start = of[after] % n_docs if n_docs else after, reached[after] % width
    hole_end = np.minimum(start[after + 1], ends[hole_doc])
    kept = hole_start < hole_end
    return reading(
        trail, (of[after] // max(n_docs, 1))[kept], hole_doc[kept], hole_start[kept], hole_end[kept]
    )


def reading(trail: Trail, query: Ints, doc: Ints, start: Ints, end: Ints) -> Trail:
    """The same rankings read for other spans, one evidence each.

    ``doc`` numbers the documents of the chunks. Spans without any length in the trail's unit are left out.
    """
    doc_ids = trail.chunks.doc_ids
    begin, until = (trail.unit.positions(doc_ids, doc, at) for at in (start, end))
    some = until > begin
    query, doc, start, end = query[some], doc[some], start[some], end[some]
    nothing = np.zeros(0, dtype=np.int64)
    spans = SpanQrels(
        doc_ids,
        query,
        doc,
        start,
        end,
        trail.judged.query_ids,
        np.ones(len(query), dtype=np.int64),
        np.arange(len(query)),
        Spans(doc_ids, nothing, nothing, nothing, nothing),
    )
    return read(trail.item_chunk, trail.offsets, spans, trail.chunks, trail.unit)


def _ranked_pairs(trail: Trail) -> tuple[Ints, Ints]:
    """Every query and document of which it ranks a chunk."""
    n_docs = max(len(trail.chunks.doc_ids), 1)
    pairs = np.unique(owners(trail.offsets) * n_docs + trail.chunks.doc[trail.item_chunk])
    return pairs // n_docs, pairs % n_docs


def document_ends(trail: Trail) -> Ints:
    """Where the last chunk of each document ends."""
    chunks = trail.chunks
    ends = np.zeros(len(chunks.doc_ids), dtype=np.int64)
    np.maximum.at(ends, chunks.doc[chunks.part_chunk], chunks.part_end)
    return ends


def _read_within(trail: Trail, budget: int) -> Floats:
    """How much of the spans each query reads within the budget: [Q]."""
    length = np.minimum(trail.read_until, budget) - np.minimum(trail.read_at, budget)
    query = trail.spans.query[trail.read_span]
    return np.bincount(query, length, minlength=trail.n_queries).astype(np.float64)
