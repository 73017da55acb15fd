"""The material of questions: excerpts of the documents, and where a quote is in one."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from harness.data import align_fuzzy, find_in_view, folded, whitespace_free
from harness.labels.testset.rows import Place
from harness.steps import table_spans
from harness.values import Document, delimited, passage_spans

EXCERPT = 1800
_FEWEST_LETTERS = 120
_ALIKE = 85.0


def excerpts(documents: Sequence[Document], seed: int, length: int = EXCERPT) -> list[Place]:
    """Whole sentences of about ``length`` characters in an order that visits long documents more often.

    A document is visited in proportion to the square root of its length, so that a long one does not drown
    the others; its stretches come in an order drawn by ``seed``.
    """
    ordered: list[tuple[float, str, Place]] = []
    for document in documents:
        spans = passage_spans(document.text, length)
        full = [
            span for span in spans if sum(map(str.isalnum, document.text[slice(*span)])) >= _FEWEST_LETTERS
        ]
        places = [Place(document, *span) for span in full or spans]
        random.Random(f"{seed}:{document.doc_id}").shuffle(places)
        weight = math.sqrt(len(document.text) + 1)
        ordered += [((n + 0.5) / weight, document.doc_id, place) for n, place in enumerate(places)]
    return [place for _, _, place in sorted(ordered, key=lambda one: one[:2])]


def has_table(place: Place) -> bool:
    """Whether a stretch holds a table, or is a part of one."""
    return bool(table_spans(place.text)) or delimited(place.text, 0, len(place.text)) is not None


def locate(quote: str, place: Place) -> tuple[Place, bool]:
    """Where a quote is in a stretch, and whether it was found; the whole stretch where it was not."""
    for view in (whitespace_free, folded):
        needle = view(quote)
        found = find_in_view(needle, view(place.text)) if needle.text else None
        if found is not None:
            return Place(place.document, place.start + found.start, place.start + found.end), True
    near = align_fuzzy(folded(quote), folded(place.text)) if folded(quote).text else None
    if near is not None and near.score >= _ALIKE:
        return Place(place.document, place.start + near.start, place.start + near.end), True
    return place, False
