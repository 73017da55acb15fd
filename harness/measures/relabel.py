"""The same judgments with longer and shorter spans: does a finding depend on how its labels were drawn?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from harness.measures.qrels import SpanQrels
from harness.measures.ragged import Bools, Ints

PADDING = (100, 250, 700)
MOST_GROWN = 700
"""Sentences add no more characters than this on either side: tables and logs may have no sentence ends."""
TRIMMED = (50, 25)
"""Per cent of a span that trimming leaves, from its middle."""
AS_LABELLED = "as labelled"


@dataclass(frozen=True, slots=True)
class Text:
    """What drawing spans anew has to know of a document.

    ``length`` is in characters; ``sentences`` [N, 2] are half-open ranges of characters in the order of the
    text, empty where sentences are not looked at.
    """

    length: int
    sentences: Ints


def relabelled(spans: SpanQrels, texts: Mapping[str, Text]) -> dict[str, SpanQrels]:
    """The spans under every way of drawing them, by its name, the given ones first.

    Padded by 100, 250 and 700 characters on either side, trimmed to the middle half and quarter, and, where
    sentences are known, grown to whole sentences and by one sentence more on either side. Grades and
    evidence stay. Raises KeyError for a judged document that is not among ``texts``.
    """
    ways = {AS_LABELLED: spans}
    ways |= {f"padded by {by}": padded(spans, by, texts) for by in PADDING}
    ways |= {f"trimmed to {percent} %": trimmed(spans, percent) for percent in TRIMMED}
    if any(len(texts[doc_id].sentences) for doc_id in spans.doc_ids):
        ways["whole sentences"] = in_sentences(spans, texts, 0)
        ways["a sentence more"] = in_sentences(spans, texts, 1)
    return ways


def padded(spans: SpanQrels, by: int, texts: Mapping[str, Text]) -> SpanQrels:
    """``by`` characters more on either side, as far as the document goes."""
    length = np.array([texts[doc_id].length for doc_id in spans.doc_ids], dtype=np.int64)[spans.doc]
    return _redrawn(spans, np.maximum(spans.start - by, 0), np.minimum(spans.end + by, length))


def trimmed(spans: SpanQrels, percent: int) -> SpanQrels:
    """The middle ``percent`` of every span, in whole characters, at least one."""
    kept = np.maximum((spans.end - spans.start) * percent // 100, 1)
    start = spans.start + (spans.end - spans.start - kept) // 2
    return _redrawn(spans, start, start + kept)


def in_sentences(spans: SpanQrels, texts: Mapping[str, Text], more: int) -> SpanQrels:
    """All sentences that a span touches, and ``more`` on either side, up to ``MOST_GROWN`` characters each.

    A span in no sentence stays as it is.
    """
    start, end = spans.start.copy(), spans.end.copy()
    for number, doc_id in enumerate(spans.doc_ids):
        sentences = texts[doc_id].sentences
        here = np.flatnonzero(spans.doc == number)
        if not len(sentences) or not len(here):
            continue
        first = np.searchsorted(sentences[:, 1], start[here], side="right")
        last = np.searchsorted(sentences[:, 0], end[here], side="left") - 1
        here, first, last = (column[first <= last] for column in (here, first, last))
        first = np.maximum(first - more, 0)
        last = np.minimum(last + more, len(sentences) - 1)
        first_start = np.maximum(sentences[first, 0], start[here] - MOST_GROWN)
        last_end = np.minimum(sentences[last, 1], end[here] + MOST_GROWN)
        start[here] = np.minimum(start[here], first_start)
        end[here] = np.maximum(end[here], last_end)
    return _redrawn(spans, start, end)


def median_length(spans: SpanQrels) -> float:
    """The median length of the relevant spans in characters; NaN where there are none."""
    relevant: Bools = spans.grade > 0
    return float(np.median((spans.end - spans.start)[relevant])) if relevant.any() else float("nan")


def _redrawn(spans: SpanQrels, start: Ints, end: Ints) -> SpanQrels:
    """Spans at new places, in the order of ``SpanQrels``; the evidence keeps its numbers."""
    order = np.lexsort((spans.evidence, end, start, spans.doc, spans.query))
    return replace(spans, start=start, end=end).take(order)
