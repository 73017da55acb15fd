"""The material of questions: excerpts, headings, sentences and rows of tables, with their offsets."""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from harness.data import align_fuzzy, find_in_view, folded, whitespace_free
from harness.labels.testset.rows import Place
from harness.steps import table_spans
from harness.values import (
    Document,
    Heading,
    delimited,
    markdown_headings,
    numbered_headings,
    passage_spans,
    sentence_spans,
)

EXCERPT = 1800
_FEWEST_LETTERS = 120
_ALIKE = 85.0
_FIELD = re.compile(r"\t|[|]|,(?=\S)|;")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = re.compile(r"(?<![\w.])[$€£¥(+\-–−]*\d[\d,.]*[%)]*(?![\w])")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: its label, its cells by column, and where it is."""

    place: Place
    label: str
    cells: dict[str, str]


def excerpts(documents: Sequence[Document], seed: int) -> list[Place]:
    """Stretches of whole sentences in an order that visits all documents, long ones more often.

    A document is visited in proportion to the square root of its length, so that a long one does not drown
    the others; its stretches come in an order drawn by ``seed``.
    """
    ordered: list[tuple[float, str, Place]] = []
    for document in documents:
        spans = passage_spans(document.text, EXCERPT)
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


def headings_of(document: Document) -> list[Heading]:
    """The headings of a text, whichever way it marks them, in their order."""
    found = {
        one.start: one for one in chain(numbered_headings(document.text), markdown_headings(document.text))
    }
    return [found[start] for start in sorted(found) if found[start].title]


def heading_at(headings: Sequence[Heading], offset: int) -> str:
    """The title of the last heading before a place; '' where there is none."""
    at = bisect_right([one.start for one in headings], offset)
    return headings[at - 1].title if at else ""


def sentences(document: Document) -> Iterator[Place]:
    """The sentences of prose: of one paragraph, not too short and not too long."""
    for start, end in sentence_spans(document.text):
        text = document.text[start:end]
        if 12 <= len(text) <= 400 and "\t" not in text and "|" not in text and not text.startswith("#"):
            yield Place(document, start, end)


def table_rows(document: Document) -> Iterator[TableRow]:
    """The rows of delimited text with their columns, and the rows of figures in other text."""
    text = document.text
    whole = delimited(text, 0, len(text))
    if whole is not None:
        header = _fields(text[slice(*whole.spans[0])])
        for span in whole.spans[1:]:
            row = _row(Place(document, *span), header, _fields(text[slice(*span)]))
            if row is not None:
                yield row
        return
    for start, end in table_spans(text):
        yield from _rows_of_figures(document, start, end)


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


def _fields(line: str) -> list[str]:
    return [one.strip().strip('"').strip() for one in _FIELD.split(line)]


def _row(place: Place, header: Sequence[str], cells: Sequence[str]) -> TableRow | None:
    if len(header) != len(cells) or not cells[0] or not any(letter.isalpha() for letter in cells[0]):
        return None
    named = {name: cell for name, cell in zip(header[1:], cells[1:], strict=True) if name and cell}
    return TableRow(place, cells[0], named) if named else None


def _rows_of_figures(document: Document, start: int, end: int) -> Iterator[TableRow]:
    """Lines such as ``Total revenue 96,773 81,462`` below a line of years."""
    text = document.text
    above = text[max(0, start - 300) : start].splitlines()[-2:]
    lines = text[start:end].splitlines(keepends=True)
    years = next((found for line in [lines[0], *reversed(above)] if (found := _YEAR.findall(line))), [])
    at = start
    for line in lines:
        figures = _NUMBER.findall(line)
        first = _NUMBER.search(line)
        label = line[: first.start()].strip(" .:|$€£¥\t(") if first else ""
        is_row = len(figures) == len(years) >= 2 and figures != years
        if is_row and sum(map(str.isalpha, label)) >= 3:
            begin = at + len(line) - len(line.lstrip())
            place = Place(document, begin, at + len(line.rstrip()))
            yield TableRow(place, label, dict(zip(years, figures, strict=True)))
        at += len(line)
