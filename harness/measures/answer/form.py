"""How a measure words a call: a prompt file with texts in its slots, answered by one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.measures.answer.shapes import Shape, read_object
from harness.models import SLOT, Malformed, Messages, TextForm, mark_of, text_of
from harness.values import LlmAnswer, LlmCall, encodable, on_one_line

T = TypeVar("T")
LISTS = ("statements", "passages")
"""Slots that hold several texts, as a JSON array."""


def joined(texts: Sequence[str]) -> str:
    """Several texts for a slot of ``LISTS``."""
    return json.dumps(list(texts), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ObjectForm(TextForm, Generic[T]):
    """Shows a query and the texts of ``slots`` between fences that they cannot close.

    The passages of a call are the texts of ``slots``, in their order.
    """

    slots: tuple[str, ...]
    shape: Shape[T]

    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call; the mark of the fences is a hash of all that they hold."""
        mark = mark_of([self.sha256, encodable(call.query), *map(encodable, call.passages)])
        shown = {"query": _fenced("question", call.query, mark)}
        for slot, text in zip(self.slots, call.passages, strict=True):
            shown[slot] = _shown(slot, text, mark)

        def fill(template: str) -> str:
            # one pass, so that a slot's name inside a text is not replaced
            return SLOT.sub(lambda slot: shown.get(slot[1], slot[0]), template)

        parts = {"system": self.system, "user": self.user}
        return [{"role": role, "content": fill(text)} for role, text in parts.items() if text]

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed where the answer is not of the shape."""
        value = self._value(call, text)
        return value if isinstance(value, Malformed) else None

    def value(self, answer: LlmAnswer) -> T | Malformed:
        """The value of an answer, or why it cannot be used."""
        text = text_of(answer)
        return Malformed(answer.reason or "no_words") if text is None else self._value(answer, text)

    def shortest(self, call: LlmCall) -> str:
        """The shortest answer of the shape."""
        return self.shape.shortest(self._count(call))

    def _value(self, call: LlmCall, text: str) -> T | Malformed:
        found = read_object(text)
        return found if isinstance(found, Malformed) else self.shape.read(found, self._count(call))

    def _count(self, call: LlmCall) -> int:
        shown = dict(zip(self.slots, call.passages, strict=True))
        return len(json.loads(shown["statements"])) if "statements" in shown else 0


def _shown(slot: str, text: str, mark: str) -> str:
    if slot == "passages":
        parts = enumerate(json.loads(text), start=1)
        return "\n".join(_fenced(f"passage {number}", one, mark) for number, one in parts)
    if slot == "statements":
        lines = (f"{number}. {on_one_line(one)}" for number, one in enumerate(json.loads(text), start=1))
        return _fenced(slot, "\n".join(lines), mark)
    return _fenced(slot, text, mark)


def _fenced(name: str, text: str, mark: str) -> str:
    return f"<{name} {mark}>\n{encodable(text)}\n</{name} {mark}>"
