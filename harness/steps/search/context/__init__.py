"""Contexts: text that is indexed around a chunk but not read. One file per kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.steps.search.passages import ContextConfig
from harness.steps.search.tools import Sources
from harness.values import Chunk, KindAt, Kinds, Run, Step


@dataclass(frozen=True, slots=True)
class ContextText:
    """The text indexed before and after a chunk, with its separators."""

    before: str = ""
    after: str = ""

    def __call__(self, text: str) -> str:
        """The text with its context."""
        return self.before + text + self.after


Configured = TypeVar("Configured", bound=ContextConfig)


class Contextualizer(Step[Configured]):
    """Chunks → the text indexed around each. It does not depend on the queries, and changes no chunk."""

    @abstractmethod
    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[ContextText] | Run[list[ContextText]]:
        """The text around each chunk, in their order; an empty ``ContextText`` where there is none."""

    @property
    def longest(self) -> ContextText:
        """The longest text around a chunk, for a plan that cannot know it; empty where it always can."""
        return ContextText()


def line(text: str) -> ContextText:
    """A line of its own before the chunk; nothing for an empty text."""
    return ContextText(f"{text}\n") if text else ContextText()


def nested(outer: Sequence[ContextText], inner: Sequence[ContextText]) -> list[ContextText]:
    """One context around another, chunk by chunk."""
    return [ContextText(o.before + i.before, i.after + o.after) for o, i in zip(outer, inner, strict=True)]


KINDS: Kinds[Contextualizer[Any]] = Kinds(
    "context",
    KindAt("document", "DocumentConfig", "DocumentContext"),
    KindAt("fields", "FieldsConfig", "FieldsContext"),
    KindAt("headings", "HeadingsConfig", "HeadingsContext"),
    KindAt("neighbours", "NeighboursConfig", "NeighboursContext"),
    KindAt("llm", "LlmContextConfig", "LlmContext"),
    home=__name__,
)
