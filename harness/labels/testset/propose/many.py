"""Many questions from one call, by a user's own prompt with a role, a scenario and the documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.labels.testset.kinds import OWN
from harness.labels.testset.propose.llm import locate, question
from harness.labels.testset.testset_rows import Place, Question
from harness.models import Malformed, TextForm, UntrustedJsonError, filled, read_json, render, reply_in
from harness.values import LlmCall, on_one_line

_NUMBERED = re.compile(
    r"\s*(?:[-*•]|[(（\[]?\d{1,4}[)）\].、:：]|(?:question|q|问题)\s*\d{1,4}\s*[)）.、:：])\s*(\S.*)",
    re.IGNORECASE,
)
_MARKS = ' \t*_"“”'
_NOT_WORDS = re.compile(r"[\W_]+")
QuotedQuestion = tuple[str, list[str]]
"""A question and the quotes that answer it."""


@dataclass(frozen=True, slots=True)
class ManyForm(TextForm):
    """A prompt that is answered with many questions; ``{{ count }}`` is how many, and the query of a call."""

    def sha_of(self, query: str) -> str:
        """The hash of both templates with the count."""
        return TextForm(*self._counted(query)).sha256

    def messages(self, call: LlmCall) -> list[dict[str, str]]:
        """The messages of a call."""
        return render(*self._counted(call.query), "", call.passages, self.sha_of(call.query))

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed if no question can be told in it."""
        questions = questions_in(text)
        return questions if isinstance(questions, Malformed) else None

    def shortest(self, call: LlmCall) -> str:
        """Questions of ten words."""
        return json.dumps(["word " * 10] * int(call.query or 1))

    def _counted(self, count: str) -> tuple[str, str]:
        return filled(self.system, {"count": count}), filled(self.user, {"count": count})


def questions_in(text: str) -> list[QuotedQuestion] | Malformed:
    """The questions of a reply, with their quotes where it has some.

    A reply is a JSON list of texts or of objects with ``question`` and maybe ``quotes``, an object whose one
    list that is, or lines: those with a number or a bullet, else those that end with a question mark.
    """
    reply = reply_in(text)
    if isinstance(reply, Malformed):
        return reply
    if reply.startswith(("[", "{")):
        try:
            return _of_json(read_json(reply))
        except UntrustedJsonError:
            # a line may begin with its number in brackets
            if not _NUMBERED.match(reply):
                return Malformed("broken_json")
    lines = reply.splitlines()
    numbered = [match[1] for line in lines if (match := _NUMBERED.fullmatch(line))]
    question_lines = numbered or [line for line in lines if line.strip(_MARKS).endswith(("?", "？"))]
    questions = [(on_one_line(line).strip(_MARKS), list[str]()) for line in question_lines]
    return [pair for pair in questions if pair[0]] or Malformed("no_question")


def _of_json(value: Any) -> list[QuotedQuestion] | Malformed:
    lists = (
        [member for member in value.values() if isinstance(member, list)]
        if isinstance(value, dict)
        else [value]
    )
    if len(lists) != 1 or not isinstance(lists[0], list):
        return Malformed("no_questions_list")
    questions: list[QuotedQuestion] = []
    for item in lists[0]:
        text, quotes = (
            (item.get("question"), item.get("quotes", [])) if isinstance(item, dict) else (item, [])
        )
        if not isinstance(text, str):
            return Malformed("no_question_field")
        if not isinstance(quotes, list) or not all(isinstance(quote, str) for quote in quotes):
            return Malformed("no_quotes_list")
        if text.strip():
            questions.append((on_one_line(text), [quote for quote in quotes if quote.strip()]))
    return questions or Malformed("no_question")


def distinct(questions: Iterable[QuotedQuestion], earlier: Iterable[str]) -> list[QuotedQuestion]:
    """The questions whose words are not those of an ``earlier`` one; case and punctuation do not count."""
    seen = {_words_of(text) for text in earlier}
    kept = []
    for text, quotes in questions:
        if (words := _words_of(text)) not in seen:
            seen.add(words)
            kept.append((text, quotes))
    return kept


def _words_of(text: str) -> str:
    return _NOT_WORDS.sub("", text.casefold())


def question_of(proposal: QuotedQuestion, material: Sequence[Place]) -> Question:
    """A proposed question; its quotes that are in the material are where its evidence would be."""
    text, quotes = proposal
    places = [place for quote in quotes for place in _places_of(quote, material)]
    lost = len(quotes) - len(places)
    note = f"{lost} of {len(quotes)} quotes are not in the text" if lost else ""
    return replace(question(text, OWN, *places[:2]), note=note)


def _places_of(quote: str, material: Sequence[Place]) -> Iterator[Place]:
    """The first place in the material that has the quote; nothing where none has."""
    for excerpt in material:
        place, sure = locate(quote, excerpt)
        if sure:
            yield place
            return
