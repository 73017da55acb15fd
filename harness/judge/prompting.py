"""Prompt files and graded examples, and how they become messages.

Passages are data, fenced off by a mark they cannot contain.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from harness.judge.parsing import parse_final_score, parse_grade, parse_labelled, parse_plain
from harness.models import Form, Malformed, Messages, Structured, mark_of, render
from harness.models import prompt as prompts
from harness.values import MAX_GRADE, ConfigError, Document, JudgeError, Judgment, LlmCall, Query, by_key

# A longer passage would crowd out the one that is to be graded.
LONGEST = 1500
# 4, 0, 2, 3, 1: with few examples the ends of the scale are shown
_ENDS_FIRST = tuple(dict.fromkeys((MAX_GRADE, 0, MAX_GRADE // 2, *range(MAX_GRADE - 1, 0, -1))))


@dataclass(frozen=True, slots=True)
class Example:
    """A passage with the grade that people gave it for a query."""

    query: str
    passage: str
    grade: int


class Examples:
    """Chooses ``count`` examples for every query, none of them about that query.

    The order of the candidates follows from their content alone. They are taken grade by grade in turn, the
    ends of the scale first, each from a query of its own; so most queries are shown the same ones, and which
    ones does not depend on what else is judged.
    """

    def __init__(self, candidates: Iterable[Example], count: int) -> None:
        self.count = count
        self._by_grade = by_key((one.grade, one) for one in sorted(set(candidates), key=_digest))
        self.shown_for = cache(self._chosen)

    @property
    def sha256(self) -> str:
        """The hash of all candidates and of how many are shown."""
        digest = hashlib.sha256(str(self.count).encode())
        for grade in sorted(self._by_grade):
            for one in self._by_grade[grade]:
                digest.update(_digest(one))
        return digest.hexdigest()

    def _chosen(self, query: str) -> tuple[Example, ...]:
        """The examples for a query, in the order shown; raises JudgeError if there are too few."""
        taken = {_same(query)}
        queues = [iter(self._by_grade[grade]) for grade in _ENDS_FIRST if grade in self._by_grade]
        chosen: list[Example] = []
        while queues and len(chosen) < self.count:
            for queue in list(queues):
                found = next((one for one in queue if _same(one.query) not in taken), None)
                if found is None:
                    queues.remove(queue)
                elif len(chosen) < self.count:
                    taken.add(_same(found.query))
                    chosen.append(found)
        if len(chosen) < self.count:
            raise JudgeError(
                f"examples: {self.count}; train queries other than {query!r} with a graded passage of at "
                f"most {LONGEST:,} characters: {len(chosen)}. Grade more, or show fewer."
            )
        return tuple(chosen)


def candidates_of(
    labels: Iterable[Judgment], queries: Sequence[Query], documents: Mapping[str, Document]
) -> tuple[Example, ...]:
    """All possible examples: human grades for train queries; validation is left untouched."""
    texts = {query.query_id: query.text for query in queries if query.split == "train"}
    return tuple(
        Example(texts[one.query_id], documents[one.doc_id].text[one.start : one.end], one.grade)
        for one in labels
        if one.query_id in texts and one.grade is not None and one.end - one.start <= LONGEST
    )


def _same(query: str) -> str:
    return " ".join(query.casefold().split())


def _digest(one: Example) -> bytes:
    parts = (one.query, one.passage, str(one.grade))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


FOLDER = Path(__file__).parent / "prompts"


class JudgePrompt(prompts.Prompt):
    """A prompt file: its name, the form of its answer, and its words.

    ``answer`` is the form of the answer: one ``grade``, a published ``final_score`` in words, a ``labelled``
    list (each passage named) or a ``plain`` list (scores in the order shown). ``fenced: false`` shows query
    and passage bare, as published prompts do, without the marks that keep a passage in its place.
    ``aspects`` are asked for together with a single grade and kept in the raw answer. ``list_size`` is the
    most passages in one call; ``shuffle`` draws a new order of them for each sample; ``distinct`` refuses
    equal scores. ``sha256`` is the hash of the file, the prompt's identity in the ledger.
    """

    language: Literal["en", "zh"]
    answer: Literal["grade", "final_score", "labelled", "plain"]
    fenced: bool = True
    aspects: tuple[str, ...] = ()
    list_size: int = Field(1, ge=1, le=50)
    shuffle: bool = False
    distinct: bool = False
    max_grade: int = Field(MAX_GRADE, ge=1, le=MAX_GRADE)
    sha256: str = ""

    @property
    def listwise(self) -> bool:
        """Whether one call grades several passages."""
        return self.answer in {"labelled", "plain"}

    @model_validator(mode="after")
    def _fits_its_answer(self) -> JudgePrompt:
        if self.listwise == (self.list_size == 1):
            raise ValueError("list_size is 1 for answer: grade and more for a list")
        if self.listwise and not self.fenced:
            raise ValueError("a list needs fences between its passages")
        if self.distinct and self.list_size > self.max_grade + 1:
            raise ValueError(f"distinct scores need a list_size of at most {self.max_grade + 1}")
        return self


def load_prompt(name: str) -> JudgePrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    slots, also = ("query", "passages"), ("count", "max_grade")
    prompt = prompts.prompts_of(FOLDER, JudgePrompt, "a judge", slots, also)(name)
    # models follow the system message: text of documents that is shown there alone reads as orders
    for slot in slots:
        if slot not in prompts.slots_of(prompt.user):
            raise ConfigError(f"The prompt {name} has no {{{{ {slot} }}}} in its user part. Add it there.")
    content = prompts.read_content(name, FOLDER, "a judge")
    return prompt.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})


@dataclass(frozen=True, slots=True)
class GradingForm(Form):
    """A judge's prompt as the form of its calls; ``structured`` as ``endpoint.structured``."""

    prompt: JudgePrompt
    structured: Structured = "none"
    examples: Examples | None = None

    @property
    def sha256(self) -> str:
        """The hash of the prompt file."""
        return self.prompt.sha256

    def sha_of(self, query: str) -> str:
        """The hash of the prompt file and of the examples that are shown for a query, if any."""
        if self.examples is None:
            return self.prompt.sha256
        shown = [[one.query, one.passage, one.grade] for one in self.examples.shown_for(query)]
        return hashlib.sha256(json.dumps([self.prompt.sha256, shown]).encode()).hexdigest()

    @property
    def response_format(self) -> Mapping[str, Any] | None:
        """The ``response_format`` of a request; None asks by words alone."""
        if self.prompt.answer == "final_score" and self.structured != "none":
            raise ConfigError(f"prompt {self.prompt.id} asks for words: set endpoint.structured to none.")
        if self.structured == "none":
            return None
        if self.structured == "json_object":
            return {"type": "json_object"}
        schema = {"name": "relevance", "strict": True, "schema": _schema(self.prompt)}
        return {"type": "json_schema", "json_schema": schema}

    def order_shown(self, call: LlmCall) -> list[int]:
        """The order in which a call shows its passages: drawn from their content and sample, or as given."""
        order = list(range(len(call.passages)))
        if self.prompt.shuffle:
            random.Random(mark_of([call.query, *call.passages, str(call.sample)])).shuffle(order)
        return order

    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call, its passages in the order that its sample shows."""
        passages = [call.passages[i] for i in self.order_shown(call)]
        # the fences of a call depend on all that is in it, its examples too
        sha = self.sha_of(call.query)
        *system, user = self.render(call.query, passages, sha)
        examples = () if self.examples is None else self.examples.shown_for(call.query)
        turns = [turn for one in examples for turn in self._turns(one, sha)]
        return [*system, *turns, user]

    def _turns(self, example: Example, sha: str) -> Messages:
        """An example as it would have been asked and answered."""
        user = self.render(example.query, [example.passage], sha)[-1]
        return [user, {"role": "assistant", "content": json.dumps({"grade": example.grade})}]

    def render(self, query: str, passages: Sequence[str], sha: str) -> Messages:
        """Passages in the order given, between fences of which ``sha``, the hash of all else, is a part."""
        system, user = self.prompt.filled(max_grade=str(self.prompt.max_grade))
        return render(system, user, query, passages, sha, fenced=self.prompt.fenced)

    def read(self, call: LlmCall, text: str) -> tuple[int, ...] | Malformed:
        """The grades of the passages in their own order, or the fault of the answer."""
        prompt, count = self.prompt, len(call.passages)
        if prompt.answer == "labelled":
            shown = parse_labelled(text, count, prompt.max_grade)
        elif prompt.answer == "plain":
            shown = parse_plain(text, count, prompt.max_grade, distinct=prompt.distinct)
        else:
            read = parse_final_score if prompt.answer == "final_score" else parse_grade
            grade = read(text, prompt.max_grade)
            shown = grade if isinstance(grade, Malformed) else (grade,)
        if isinstance(shown, Malformed):
            return shown
        own = dict(zip(self.order_shown(call), shown, strict=True))
        return tuple(own[i] for i in range(count))

    def shortest(self, call: LlmCall) -> str:
        """An answer in the form that the prompt asks for, with nothing around it."""
        if self.prompt.answer == "plain":
            return json.dumps({"scores": [0] * len(call.passages)})
        if self.prompt.answer == "labelled":
            numbers = range(1, len(call.passages) + 1)
            return json.dumps({"grades": [{"passage": number, "grade": 0} for number in numbers]})
        if self.prompt.answer == "final_score":
            return "##final score: 0"
        return json.dumps({**dict.fromkeys(self.prompt.aspects, 0), "grade": 0})


@cache
def _schema(prompt: JudgePrompt) -> dict[str, Any]:
    grade = {"type": "integer", "enum": list(range(prompt.max_grade + 1))}
    if prompt.answer == "plain":
        return _closed({"scores": {"type": "array", "items": grade}})
    if prompt.answer == "labelled":
        row = _closed({"passage": {"type": "integer"}, "grade": grade})
        return _closed({"grades": {"type": "array", "items": row}})
    return _closed({**dict.fromkeys(prompt.aspects, grade), "grade": grade})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
