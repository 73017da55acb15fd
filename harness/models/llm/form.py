"""How a call is worded, untrusted text between fences that it cannot close, and how its answer is read."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from harness.models.llm.reply import Malformed, after_thoughts
from harness.values import LlmAnswer, LlmCall, encodable, text_sha256

Messages = list[dict[str, str]]
About = tuple[str, tuple[str, ...]]
"""The content of a call: a text, which stands for ``{{ query }}``, and the passages shown with it."""
T = TypeVar("T")
Talk: TypeAlias = Generator[About, LlmAnswer | None, T]
"""Calls that depend on the answers before them: yields what to ask about, returns what all answers come to.

It is sent None where an answer is not known, as in a plan, and then asks as much as it ever could.
"""
Structured = Literal["json_schema", "json_object", "none"]

# Asking again would give the same: the endpoint has decided.
FINAL_REASONS = {"refusal", "content_filter"}

# A name that a template shows.
SLOT = re.compile(r"\{\{ *(\w+) *\}\}")


class Form(ABC):
    """The wording of a call and the reading of its answer. One form has one hash, which ledger keys hold."""

    structured: Structured = "none"
    """How the endpoint is asked for the form of the answer; part of the ledger's key."""

    @property
    @abstractmethod
    def sha256(self) -> str:
        """The hash of the prompt."""

    def sha_of(self, query: str) -> str:
        """The hash of all that is shown besides a query and its passages; part of the ledger's key."""
        return self.sha256

    @property
    def response_format(self) -> Mapping[str, Any] | None:
        """The ``response_format`` of the request; None asks by words alone."""
        return None

    @abstractmethod
    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call."""

    @abstractmethod
    def read(self, call: LlmCall, text: str) -> tuple[int, ...] | Malformed | None:
        """The grades in an answer, one per passage; None: the text is the answer; Malformed: ask again."""

    @abstractmethod
    def shortest(self, call: LlmCall) -> str:
        """The shortest usable answer, for estimates where no answer is known yet."""


@dataclass(frozen=True, slots=True)
class TextForm(Form):
    """A prompt in words that is answered in words.

    In ``system`` (may be empty) and ``user`` a call's query stands for ``{{ query }}`` and its passages for
    ``{{ passages }}``, both between fences that their text cannot close.
    """

    system: str
    user: str

    @property
    def sha256(self) -> str:
        """The hash of both templates."""
        return text_sha256(json.dumps([self.system, self.user]))

    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call."""
        return render(self.system, self.user, call.query, call.passages, self.sha256)

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed where no words are left after a reasoning model's thoughts."""
        answer = after_thoughts(text)
        return answer if isinstance(answer, Malformed) else None if answer else Malformed("empty_answer")

    def shortest(self, call: LlmCall) -> str:
        """As long as the query, since nothing better is known."""
        return call.query or "word"


def outcome(talk: Talk[T], answers: Iterable[LlmAnswer]) -> T:
    """What a talk that has not begun comes to by all its answers; ValueError if it asks for more."""
    try:
        for answer in (None, *answers):
            talk.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
    raise ValueError("a talk is not over with these answers")


def text_of(answer: LlmAnswer) -> str | None:
    """The words of a usable answer, a reasoning model's thoughts left out; None for any other."""
    text = after_thoughts(answer.raw)
    return None if not answer.usable or isinstance(text, Malformed) else text


def render(
    system: str, user: str, query: str, passages: Sequence[str], sha256: str, *, fenced: bool = True
) -> Messages:
    """The messages of one call: ``{{ query }}``, ``{{ passages }}`` and ``{{ count }}`` filled in.

    The fence around each text carries a mark derived from the whole content of the call and the prompt's
    ``sha256``. A passage would have to contain a hash of itself to close its own fence, and the same call
    always renders the same, which keeps it reproducible and cacheable. ``fenced=False`` shows the query and
    a single passage bare. An empty ``system`` sends no such message.
    """
    query, passages = encodable(query), [encodable(passage) for passage in passages]
    mark = mark_of([sha256, query, *passages])
    between = "\n".join(
        f"<passage {number} {mark}>\n{text}\n</passage {number} {mark}>"
        for number, text in enumerate(passages, start=1)
    )
    shown = {
        "query": f"<query {mark}>\n{query}\n</query {mark}>" if fenced else query,
        "passages": between if fenced else passages[0],
        "count": str(len(passages)),
    }

    return messages_of(filled(system, shown), filled(user, shown))


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with these values for ``{{ name }}``; a name inside a value, or without one, stays text."""
    return SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)


def messages_of(system: str, user: str) -> Messages:
    """The two messages of a call; an empty one is not sent."""
    parts = {"system": system, "user": user}
    return [{"role": role, "content": text} for role, text in parts.items() if text]


def mark_of(parts: Sequence[str]) -> str:
    """A hash of texts, each counted with its length, as 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]
