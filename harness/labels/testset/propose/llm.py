"""Questions that a language model proposes from excerpts of the documents, through the ledger."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.data import Searcher
from harness.labels.scaffold.config_text import tables_in
from harness.labels.testset.config import TestsetPrompt
from harness.labels.testset.kinds import KINDS, quotas
from harness.labels.testset.testset_rows import Place, Question
from harness.models import Malformed, TextForm, fields_named, object_in, render, text_of
from harness.values import Document, LlmAnswer, LlmCall, on_one_line, passage_spans

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
    return [place for _, _, place in sorted(ordered, key=lambda entry: entry[:2])]


def locate(quote: str, place: Place) -> tuple[Place, bool]:
    """Where a quote is in a stretch, and whether it was found; the whole stretch where it was not."""
    match = Searcher(replace(place.document, text=place.text, page_starts=())).find(quote, None)
    if match.score < _ALIKE:
        return place, False
    return Place(place.document, place.start + match.start, place.start + match.end), True


FOLDER = Path(__file__).parent / "prompts"
_TWO = ("two_places", "comparison")


@dataclass(frozen=True, slots=True)
class QuestionForm(TextForm):
    """A prompt that is answered with a JSON object: a question and quotes.

    The query of a call is the kind of question, which words the prompt: one run, with one limit of money,
    asks for all kinds.
    """

    prompt: TestsetPrompt

    def sha_of(self, query: str) -> str:
        """The hash of both templates with the words for a kind."""
        return TextForm(*self.prompt.of_kind(query)).sha256

    def messages(self, call: LlmCall) -> list[dict[str, str]]:
        """The messages of a call."""
        system, user = self.prompt.of_kind(call.query)
        return render(system, user, "", call.passages, self.sha_of(call.query))

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed if it is not such an object; a question that could not be written is an answer."""
        content = parsed(text, self.also)
        return content if isinstance(content, Malformed) else None

    @property
    def also(self) -> frozenset[str]:
        """Fields beside its own that the words of a prompt ask for."""
        return fields_named(self.system, self.user)

    def shortest(self, call: LlmCall) -> str:
        """A question of ten words, and a quote."""
        return json.dumps({"question": "word " * 10, "quotes": ["word " * 12]})


Request = tuple[str, tuple[Place, ...]]
"""The kind of a question to ask for, and its excerpts."""


def question(text: str, kind: str, *places: Place) -> Question:
    """A question whose evidence would be in one or two places."""
    suggested: dict[str, Any] = {}
    for suffix, place in zip(("", "_2"), places, strict=False):
        passage = on_one_line(place.text)
        columns = {"document": place.document.doc_id, "page": place.page, "passage": passage}
        columns |= {"start": place.start, "end": place.end}
        suggested |= {f"{name}{suffix}": value for name, value in columns.items()}
    return Question(query_id="", text=text, kind=kind, answerable=kind != "unanswerable", **suggested)


def question_in(
    request: Request, answer: LlmAnswer, also: frozenset[str] = frozenset()
) -> Question | Malformed:
    """The question of an answer, and where its evidence would be; why there is none.

    ``also`` are fields that the answer may have besides.
    """
    kind, places = request
    text = text_of(answer)
    read = Malformed(answer.reason or "no words") if text is None else parsed(text, also)
    if isinstance(read, Malformed):
        return read
    wording, quotes = read
    if not wording:
        return Malformed("no_question")
    if kind == "unanswerable":
        note = "check that no document answers it"
        return replace(question(wording, kind, places[0]), note=note)
    if not quotes:
        return Malformed("no_quotes")
    located = [_located(quote, places) for quote in quotes]
    distinct = {(place.document.doc_id, place.start): place for place, _ in located}
    lost = sum(not sure for _, sure in located)
    note = f"{lost} of {len(located)} quotes are not in the text" if lost else ""
    return replace(question(wording, kind, *list(distinct.values())[:2]), note=note)


def _located(quote: str, places: Sequence[Place]) -> tuple[Place, bool]:
    """The first place that holds the quote; the whole of the first excerpt where none does."""
    attempts = [locate(quote, place) for place in places]
    return next((attempt for attempt in attempts if attempt[1]), attempts[0])


def question_requests(
    documents: Sequence[Document], count: int, seed: int, length: int = EXCERPT
) -> list[Request]:
    """The requests: ``count`` questions in shares of `KINDS`, spread over the documents.

    Questions about tables are asked of excerpts with tables, and left out where there is none; questions of
    two places get two excerpts, of two documents where there are several.
    """
    places = excerpts(documents, seed, length)
    tables = [place for place in places if tables_in(place.text)]
    kinds = [kind for kind in KINDS if tables or kind != "table"]
    if not places:
        return []
    requests: list[Request] = []
    at = 0
    for kind, wanted in quotas(count, kinds).items():
        suitable = tables if kind == "table" else places
        for number in range(wanted):
            first = suitable[(number if kind == "table" else at) % len(suitable)]
            at += kind != "table"
            second = _another(places, first, at) if kind in _TWO else None
            requests.append((kind, (first,) if second is None else (first, second)))
    # few excerpts and many questions: the same call twice would bring the same question
    return list(dict.fromkeys(requests))


def _another(places: Sequence[Place], first: Place, at: int) -> Place | None:
    """An excerpt for the second half of a question: of another document, or elsewhere in the only one."""
    turned = [*places[at % len(places) :], *places[: at % len(places)]]
    others = [place for place in turned if place.document.doc_id != first.document.doc_id]
    return next(iter([*others, *(place for place in turned if place.start != first.start)]), None)


def parsed(text: str, also: frozenset[str] = frozenset()) -> tuple[str, list[str]] | Malformed:
    """Question and quotes in an answer, which may have the fields ``also`` besides."""
    read = object_in(text, ("question",), {"quotes", *also})
    if isinstance(read, Malformed):
        return read
    if not isinstance(read["question"], str):
        return Malformed("no_question_field")
    quotes = read.get("quotes", [])
    if not isinstance(quotes, list) or not all(isinstance(quote, str) for quote in quotes):
        return Malformed("no_quotes_list")
    return on_one_line(read["question"]), [quote for quote in quotes if quote.strip()]
