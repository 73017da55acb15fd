"""Readers: small chunks to search, larger text to read in their place. One file per kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from harness.steps.search.tools import Sources
from harness.values import Chunk, KindAt, Kinds, Span, StageConfig, Step


class ReadConfig(StageConfig):
    """Base of the configurations of readers."""

    kind: str

    @property
    def larger(self) -> StageConfig | None:
        """How the larger chunks that it reads are cut; None where it cuts none."""
        return None


Configured = TypeVar("Configured", bound=ReadConfig)


class Reader(Step[Configured]):
    """Chunks → the span of its document that is read for each, whatever the query."""

    @abstractmethod
    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Span]:
        """A half-open range of the document of each chunk, in their order; it overlaps the chunk."""


KINDS: Kinds[Reader[Any]] = Kinds(
    "read",
    KindAt("parent", "ParentConfig", "Parent"),
    KindAt("window", "WindowConfig", "Window"),
    retired=dict.fromkeys(("merge", "adjacent"), "Use `parent` or `window`, or larger chunks."),
    home=__name__,
)
