"""Prompt files and graded examples, and how they become messages.

Passages are data, fenced off by a mark they cannot contain.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, model_validator

from harness.judge.parsing import parse_final_score, parse_grade, parse_labelled, parse_plain
from harness.models import (
    REASON,
    Form,
    Malformed,
    Messages,
    ReplyLayout,
    Structured,
    fields_named,
    laid_out,
    mark_of,
    render,
)
from harness.models import prompt as prompts
from harness.values import (
    MAX_GRADE,
    ConfigError,
    Document,
    JudgeError,
    Judgment,
    LlmCall,
    Query,
    by_key,
    quoted,
)

T = TypeVar("T")
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
        self._by_grade = by_key((example.grade, example) for example in sorted(set(candidates), key=_digest))
        self.shown_for = cache(self._chosen)

    @property
    def sha256(self) -> str:
        """The hash of all candidates and of how many are shown."""
        digest = hashlib.sha256(str(self.count).encode())
        for grade in sorted(self._by_grade):
            for example in self._by_grade[grade]:
                digest.update(_digest(example))
        return digest.hexdigest()

    def _chosen(self, query: str) -> tuple[Example, ...]:
        """The examples for a query, in the order shown; raises JudgeError if there are too few."""
        used = {_same(query)}
        queues = [iter(self._by_grade[grade]) for grade in _ENDS_FIRST if grade in self._by_grade]
        chosen: list[Example] = []
        while queues and len(chosen) < self.count:
            for queue in list(queues):
                fresh = next((example for example in queue if _same(example.query) not in used), None)
                if fresh is None:
                    queues.remove(queue)
                elif len(chosen) < self.count:
                    used.add(_same(fresh.query))
                    chosen.append(fresh)
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
        Example(texts[label.query_id], documents[label.doc_id].text[label.start : label.end], label.grade)
        for label in labels
        if label.query_id in texts and label.grade is not None and label.end - label.start <= LONGEST
    )


def _same(query: str) -> str:
    return " ".join(query.casefold().split())


def _digest(example: Example) -> bytes:
    parts = (example.query, example.passage, str(example.grade))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


FOLDER = Path(__file__).parent / "prompts"
# The fields of the object for each form of an answer, that of the grades first.
_FIELDS = {
    "grade": ("grade",),
    "final_score": ("final score",),
    "labelled": ("grades", "passage", "grade"),
    "plain": ("scores",),
}
_QUOTED = re.compile(r"[\"'`“‘]([\w ]+)[\"'`”’]")


class JudgePrompt(prompts.Prompt):
    """A prompt file: its name, the form of its answer, and its words.

    ``answer`` is the form of the answer: one ``grade``, a published ``final_score`` in words, a ``labelled``
    list (each passage named) or a ``plain`` list (scores in the order shown). ``fenced: false`` shows query
    and passage bare, as published prompts do, without the marks that keep a passage in its place.
    ``aspects`` are asked for together with a single grade and kept in the raw answer. ``list_size`` is the
    most passages in one call; ``shuffle`` draws a new order of them for each sample; ``distinct`` refuses
    equal scores, unless all are 0.

    ``reply`` is how a reply is read: as one ``object``, or ``bare``, also as a number or a list by itself.
    Without it, a list may be bare, and a number where the words do not name the field of the object in
    quotes, such as ``"grade"``: a number by itself may answer the query. Other fields that the words name in
    this way may stand in the object, and no more. Where the fields are called otherwise or lie elsewhere,
    ``reply`` has a JMESPath expression for each, by its name here (``layout``):
    ``reply: {grade: score, reason: why}``.
    ``sha256`` is the hash of the file, the prompt's identity in the ledger.
    """

    language: Literal["en", "zh"]
    answer: Literal["grade", "final_score", "labelled", "plain"]
    fenced: bool = True
    aspects: tuple[str, ...] = ()
    list_size: int = Field(1, ge=1, le=50)
    shuffle: bool = False
    distinct: bool = False
    reply: str | dict[str, str] | None = None
    max_grade: int = Field(MAX_GRADE, ge=1, le=MAX_GRADE)
    sha256: str = ""

    @property
    def listwise(self) -> bool:
        """Whether one call grades several passages."""
        return self.answer in {"labelled", "plain"}

    @property
    def bare(self) -> bool:
        """Whether a reply may be a number or a list by itself."""
        if self.reply is not None:
            return self.reply == "bare"
        named = {name for part in (self.system, self.user) for name in _QUOTED.findall(part)}
        return self.listwise or _FIELDS[self.answer][0] not in named

    @property
    def also(self) -> frozenset[str]:
        """Fields beside its own that the words ask for, such as ``"reason": "…"``."""
        return fields_named(self.system, self.user) - {*_FIELDS[self.answer], *self.aspects}

    @property
    def layout(self) -> ReplyLayout:
        """The fields of a reply by their names here, of which ``reply`` may say where they are."""
        if self.answer == "labelled":
            return ReplyLayout(("grades",), rows=("passage", "grade"), optional=("passage", REASON))
        if self.answer == "plain":
            return ReplyLayout(("scores",), several=True)
        return ReplyLayout(("grade", *self.aspects), optional=(*self.aspects, REASON))

    @property
    def explains(self) -> bool:
        """Whether a reply may hold the reason for a grade."""
        return REASON in self.also or isinstance(self.reply, dict)

    @model_validator(mode="after")
    def _fits_its_answer(self) -> JudgePrompt:
        if self.listwise == (self.list_size == 1):
            raise ValueError("list_size is 1 for answer: grade and more for a list")
        if self.listwise and not self.fenced:
            raise ValueError("a list needs fences between its passages")
        if self.distinct and self.list_size > self.max_grade + 1:
            raise ValueError(f"distinct scores need a list_size of at most {self.max_grade + 1}")
        if isinstance(self.reply, dict):
            if self.answer == "final_score":
                raise ValueError("a final_score is read from words, which have no fields for reply")
            self.layout.check(self.reply)
        elif self.reply not in (None, "object", "bare"):
            raise ValueError(f"reply is object, bare or a mapping of fields, not {quoted(self.reply)}")
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
        shown = [
            [example.query, example.passage, example.grade] for example in self.examples.shown_for(query)
        ]
        return hashlib.sha256(json.dumps([self.prompt.sha256, shown]).encode()).hexdigest()

    @property
    def response_format(self) -> Mapping[str, Any] | None:
        """The ``response_format`` of a request; None asks by words alone."""
        if self.prompt.answer == "final_score" and self.structured != "none":
            raise ConfigError(f"prompt {self.prompt.id} asks for words: set endpoint.structured to none.")
        if self.structured == "none":
            return None
        if self.structured == "json_schema" and isinstance(self.prompt.reply, dict):
            raise ConfigError(
                f"prompt {self.prompt.id} has a reply of its own shape: set endpoint.structured to none, or "
                "to json_object where it asks for an object."
            )
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
        turns = [turn for example in examples for turn in self._turns(example, sha)]
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
        prompt, also, bare = self.prompt, self.prompt.also, self.prompt.bare
        if isinstance(prompt.reply, dict):
            reply = self._laid_out(text)
            if isinstance(reply, Malformed):
                return reply
            text, also, bare = json.dumps(reply), frozenset({REASON}), False
        shown = self._shown(text, len(call.passages), also, bare=bare)
        return shown if isinstance(shown, Malformed) else self._in_own_order(call, shown)

    def reasons(self, call: LlmCall, text: str) -> tuple[str, ...]:
        """The reason for each grade of an answer that can be read, '' where it gives none."""
        reply = self._laid_out(text) if self.prompt.explains else {}
        if isinstance(reply, Malformed):
            return ("",) * len(call.passages)
        rows = sorted(reply.get("grades", ()), key=lambda row: int(row["passage"])) or [reply]
        shown = [str(row.get(REASON) or "").strip() for row in rows]
        listed = len(shown) == len(call.passages)
        return self._in_own_order(call, shown) if listed else (shown[0],) * len(call.passages)

    def _laid_out(self, text: str) -> dict[str, Any] | Malformed:
        """The fields of an answer by our names; passages without a number are those shown, in their order."""
        prompt = self.prompt
        paths = prompt.reply if isinstance(prompt.reply, dict) else {}
        reply = laid_out(text, paths, prompt.layout, prompt.also)
        if isinstance(reply, dict) and prompt.answer == "labelled":
            return {"grades": [{"passage": at, **row} for at, row in enumerate(reply["grades"], start=1)]}
        return reply

    def _shown(
        self, text: str, count: int, also: frozenset[str], *, bare: bool
    ) -> tuple[int, ...] | Malformed:
        """The grades of the passages in the order shown."""
        prompt, most = self.prompt, self.prompt.max_grade
        if prompt.answer == "labelled":
            return parse_labelled(text, count, most, also=also, bare=bare)
        if prompt.answer == "plain":
            return parse_plain(text, count, most, distinct=prompt.distinct, bare=bare)
        grade = (
            parse_final_score(text, most)
            if prompt.answer == "final_score"
            else parse_grade(text, most, aspects=prompt.aspects, also=also, bare=bare)
        )
        return grade if isinstance(grade, Malformed) else (grade,)

    def _in_own_order(self, call: LlmCall, shown: Sequence[T]) -> tuple[T, ...]:
        """What belongs to passages as they were shown, in their own order."""
        placed = dict(zip(self.order_shown(call), shown, strict=True))
        return tuple(placed[at] for at in range(len(placed)))

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
    """The strict schema of a prompt's reply.

    It is not left to ``chat.completions.parse`` of the package openai (3.57): that takes a pydantic class,
    which would have to be made for each prompt to save the two lines of ``_closed``, reads no line of a batch
    and no JSON between thoughts or fences, and refuses two bad ends of a completion where ``Reply.fault``
    refuses all. What makes its schemas strict, ``to_strict_json_schema``, is private.
    """
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
