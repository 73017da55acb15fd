"""Passages for a question: exact matches first, then by BM25. Loads no model.

A passage is some sentences or rows of a table, never over a page: suitable for a label to quote.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.labels.labelling.passages import PassageToGrade, overlapping
from harness.running import Running, run_step
from harness.steps import Analyser, Bm25Config, Bm25Retriever, Passages
from harness.store import key_of
from harness.values import Document, Query, Span, between, sentence_spans, trim

# about three sentences: enough to judge by, short enough to be a label
LENGTH = 300
# A line longer than this is text. Headings are moved behind text among this many passages.
_HEADING, _REORDERED = 100, 200
_SENTENCE_END = (".", "!", "?", "。", "！", "？", "．", "…", ";", "；")
# the number of a heading or a table, or a year, which is no figure of the text
_NO_FIGURE = re.compile(r"^\W*(?:[^\W\d]+\W*)?\d+(?:[.\-]\d+)*(?!\d|[,.]\d)|\b(?:19|20)\d\d(?![\d,])")
# what may be between two letters of a text and is not seen: white space, soft hyphens, zero widths
_BETWEEN = "[\\s\u00ad\u200b\u200c\u200d\u2060\ufeff]*"


def find_evidence(
    sought: str,
    documents: Mapping[str, Document],
    visitor: Running,
    top: int | None = None,
    query_id: str = "",
) -> list[PassageToGrade]:
    """The ``top`` passages for a query, or all if it is None; none if no passage has a word of it.

    First come the passages that contain it exactly, ignoring white space and case, then those that share
    words with it; both in the order of BM25 over passages of some sentences, in languages of any script. Bare
    headings and captions, which BM25 prefers as they are short, come behind text with the same words.
    ``visitor`` meets what the retriever needs, such as its index.
    """
    of_document = {doc_id: passage_spans(document) for doc_id, document in documents.items()}
    spans = [(doc_id, span) for doc_id, document_spans in of_document.items() for span in document_spans]
    exact = _exact(sought, documents.values(), of_document)
    ranked = _headings_behind(sought, _by_words(sought, spans, documents, visitor), documents)
    place = {passage: rank for rank, passage in enumerate(ranked)}
    # a text that runs over several passages is none of them: it comes first
    first = sorted(exact, key=lambda passage: place.get(passage, -1))
    return [
        PassageToGrade.of(documents[doc_id], query_id, *span, origin="exact" if at < len(first) else "words")
        for at, (doc_id, span) in enumerate(dict.fromkeys((*first, *ranked)))
    ][:top]


def _exact(
    sought: str, documents: Iterable[Document], spans: dict[str, list[Span]]
) -> list[tuple[str, Span]]:
    """The passages that hold the text, each once; a text longer than a passage is its own."""
    matches: dict[tuple[str, Span], None] = {}
    for document, start, end in places_of(sought, documents):
        near = overlapping(spans[document.doc_id], (start, end))
        whole = len(near) == 1 and near[0][0] <= start and end <= near[0][1]
        matches[document.doc_id, near[0] if whole else (start, end)] = None
    return list(matches)


def places_of(sought: str, documents: Iterable[Document]) -> Iterator[tuple[Document, int, int]]:
    """The places of a text, ignoring white space, invisible characters and case."""
    letters = [re.escape(letter) for letter in sought if not letter.isspace()]
    if not letters:
        return
    pattern = re.compile(_BETWEEN.join(letters), re.IGNORECASE)
    for document in documents:
        for match in pattern.finditer(document.text):
            yield document, *match.span()


def _by_words(
    sought: str, spans: Sequence[tuple[str, Span]], documents: Mapping[str, Document], visitor: Running
) -> list[tuple[str, Span]]:
    """The passages that share words with the query, best first."""
    if not spans:
        return []
    texts = tuple(documents[doc_id].text[slice(*span)] for doc_id, span in spans)
    ids = tuple(f"{doc_id}:{start}-{end}" for doc_id, (start, end) in spans)
    key = key_of("evidence", [[document.doc_id, document.sha256] for document in documents.values()])
    passages = Passages(ids, texts, tuple(map(len, texts)), key)
    config = Bm25Config(top_k=len(ids), stop_words="short")
    query = Query("sought", sought, "train")
    (ranking,) = run_step(Bm25Retriever(config).run(passages, [query]), visitor).rankings
    by_id = dict(zip(ids, spans, strict=True))
    return [by_id[passage] for passage in ranking.chunk_ids]


def _headings_behind(
    sought: str, ranked: Sequence[tuple[str, Span]], documents: Mapping[str, Document]
) -> list[tuple[str, Span]]:
    """The ranked passages with each bare heading moved behind all text that has its words of the query."""
    texts = [documents[doc_id].text[slice(*span)] for doc_id, span in ranked[:_REORDERED]]
    bare = [is_heading(text) for text in texts]
    if not any(bare):
        return list(ranked)
    terms = Analyser("auto", "short").terms
    # a year stands in the caption alone, though the rows below it are of that year
    sought_terms = {term for term in terms(sought) if not term.isdigit()}
    shared = [sought_terms.intersection(terms(text)) for text in texts]
    last = [
        max((at for at, words in enumerate(shared) if not bare[at] and words >= shared[place]), default=place)
        if bare[place]
        else place
        for place in range(len(texts))
    ]
    order = sorted(range(len(texts)), key=lambda place: (max(place, last[place]), bare[place]))
    return [*(ranked[place] for place in order), *ranked[_REORDERED:]]


def is_heading(text: str) -> bool:
    """Whether a passage is a heading or a caption: one line without a figure that ends like no sentence."""
    line = text.strip()
    if len(line) > _HEADING or "\n" in line or line.endswith(_SENTENCE_END):
        return False
    return not any(letter.isdigit() for letter in _NO_FIGURE.sub("", line))


def passage_spans(document: Document, length: int = LENGTH) -> list[Span]:
    """Neighbouring sentences of one paragraph and page up to ``length`` characters; longer ones whole.

    Of a sentence over a page break each part is a passage. No passage begins or ends with white space.
    """
    text, passages = document.text, list[Span]()
    for start, end in _parts(document):
        last = passages[-1] if passages else None
        if last is not None and end - last[0] <= length and _are_neighbours(document, last, start):
            passages[-1] = (last[0], end)
        else:
            passages.append((start, end))
    return [span for span in passages if text[slice(*span)]]


def _parts(document: Document) -> Iterator[Span]:
    """The sentences, those over a page break in parts."""
    pages = document.page_starts
    for start, end in sentence_spans(document.text):
        breaks = pages[bisect_right(pages, start) : bisect_right(pages, end - 1)]
        for part in between(start, end, breaks):
            first, last = trim(document.text, part)
            if first < last:
                yield first, last


def _are_neighbours(document: Document, last: Span, start: int) -> bool:
    """Whether no blank line and no page break is between a passage and what begins at ``start``."""
    gap = document.text[last[1] : start]
    return gap.count("\n") < 2 and document.page_of(last[0]) == document.page_of(start)
