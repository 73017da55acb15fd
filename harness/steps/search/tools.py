"""What contexts and readers see of documents, and calls that are not made yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness import models, values
from harness.values import Chunk, Document, StageConfig


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """A request to a language model or an endpoint that was not made.

    ``key`` identifies it, ``problem`` what is missing, ``purpose`` is what the answers are for. ``at_most``:
    what is asked is not known yet, and the estimate is a bound.
    """

    name: str
    key: str
    estimate: models.Estimate | models.ServedEstimate
    problem: str = ""
    purpose: models.Purpose = "rewriting"
    at_most: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {'at most ' if self.at_most else ''}{self.estimate}"


def waits_for(missing: Sequence[PendingCalls]) -> str:
    """The calls that rankings wait for, as sentences; '' where there are none."""
    if not missing:
        return ""
    estimates = "; ".join(map(str, missing))
    purpose = missing[0].purpose
    needed = "request to an endpoint" if purpose == "endpoint" else purpose
    return (
        f"Rankings depend on {'an' if purpose == 'answer' else 'a'} {needed} that has not been made yet. "
        f"{estimates}."
    )


class VectorRows(Protocol):
    """Vectors float32 [N, d] of which a part is read at a time, such as an array or what is on disk."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: Any, /) -> Any:
        """Those of a slice, or at places [n]: float32 [n, d]."""


Spread: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""What a job makes of parts on other machines, in any order. The job and its results pickle; parts are taken
one by one as they are sent."""


WindowUnit = Literal["sentences", "characters"]


class Sources(Protocol):
    """The text around chunks, for contexts and readers; they see nothing else of a run."""

    def document(self, doc_id: str) -> Document:
        """A document of the corpus."""

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences, half-open [N, 2], in the order of the text."""

    def headings(self, doc_id: str, style: values.HeadingStyle) -> Sequence[values.Heading]:
        """Its headings in the order of the text."""

    def chunks(self, config: StageConfig) -> Sequence[Chunk]:
        """All chunks of another chunker, by document and in the order of the text."""


def window_of(chunk: Chunk, amount: int, unit: WindowUnit, sources: Sources) -> tuple[int, int]:
    """The span of a chunk and ``amount`` sentences or characters on both sides, within its document.

    A sentence that the border of the chunk cuts counts as the first on its side.
    """
    if unit == "characters":
        length = len(sources.document(chunk.doc_id).text)
        return max(0, chunk.start - amount), min(length, chunk.end + amount)
    spans = sources.sentences(chunk.doc_id)
    before = int(np.searchsorted(spans[:, 0], chunk.start, side="left"))
    after = int(np.searchsorted(spans[:, 1], chunk.end, side="right"))
    start = int(spans[max(0, before - amount), 0]) if before else chunk.start
    end = int(spans[min(len(spans), after + amount) - 1, 1]) if after < len(spans) else chunk.end
    return min(start, chunk.start), max(end, chunk.end)
