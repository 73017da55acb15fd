"""What a context is: text indexed around a chunk that nobody reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.kinds import StageConfig
from harness.types import Chunk, Document

HeadingStyle = Literal["markdown", "numbered"]
Section = tuple[int, int, str]
"""A heading: the offset at which it begins, its level from 1, its text."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is indexed before and after a chunk, with what parts it from the chunk."""

    before: str = ""
    after: str = ""

    def __call__(self, text: str) -> str:
        """The text with what is around it."""
        return self.before + text + self.after


class ContextConfig(StageConfig):
    """Base of the configurations of contexts."""

    kind: str

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it reads, besides the documents."""
        return ()


class Sources(Protocol):
    """What a run lends to contexts. Nothing else of a run is theirs to see."""

    def document(self, doc_id: str) -> Document:
        """A document of the corpus."""

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences, half-open [N, 2], in the order of the text."""

    def headings(self, doc_id: str, style: HeadingStyle) -> Sequence[Section]:
        """Its headings in the order of the text."""

    def facts(self, file: Path, key: str, columns: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """The cells of a table of documents by document and column; ``key`` is the column of their names.

        Documents without a row are left out. Raises ConfigError for a column that is not there.
        """


Configured = TypeVar("Configured", bound=ContextConfig)


class Contextualizer(ABC, Generic[Configured]):
    """Chunks → what is indexed around each. It decides nothing by the queries, and changes no chunk."""

    def __init__(self, config: Configured) -> None:
        self.config = config

    @abstractmethod
    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Around]:
        """What is around each chunk, in their order; an empty ``Around`` where there is nothing to say."""


def line(text: str) -> Around:
    """A line of its own before the chunk; nothing for an empty text."""
    return Around(f"{text}\n") if text else Around()


def nested(outer: Sequence[Around], inner: Sequence[Around]) -> list[Around]:
    """One context around another, chunk by chunk."""
    return [Around(o.before + i.before, i.after + o.after) for o, i in zip(outer, inner, strict=True)]
