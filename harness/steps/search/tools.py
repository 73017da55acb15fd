"""The tools of a run for its search steps: models, language models, tables, caches, a clock, documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness import models, values
from harness.models import EncoderConfig, Value
from harness.steps.search.step import Identity, Passages, RetrievalResult, RetrieverConfig
from harness.values import Chunk, Document, LlmAnswer, LlmError, Query, Reporter, Slot, StageConfig


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """A request to a language model or an endpoint that was not made.

    ``key`` identifies it, ``problem`` what is missing, ``purpose`` is what the answers are for.
    """

    name: str
    key: str
    estimate: models.Estimate | models.ServedEstimate
    problem: str = ""
    purpose: models.Purpose = "rewriting"


class PendingCallsError(LlmError):
    """The next step depends on answers that cost money, which a plan or dry run does not request."""

    def __init__(self, *missing: PendingCalls) -> None:
        self.missing = missing
        estimates = "; ".join(f"{one.name}: {one.estimate}" for one in missing)
        purpose = missing[0].purpose if missing else "rewriting"
        needed = "request to an endpoint" if purpose == "endpoint" else purpose
        super().__init__(
            f"Rankings depend on {'an' if purpose == 'answer' else 'a'} {needed} that has not been made yet. "
            f"{estimates}."
        )


class PendingServiceError(PendingCallsError):
    """The next step depends on a user-defined service, which a plan or dry run does not call."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.args = (f"Rankings depend on answers of {url}, which has not been called yet.",)


@dataclass(frozen=True, slots=True)
class Talked:
    """The answers about one thing in their order, and their cost, whichever run paid; None: no price."""

    answers: tuple[LlmAnswer, ...]
    cost: float | None


class VectorRows(Protocol):
    """Vectors float32 [N, d] of which a part is read at a time, such as an array or what is on disk."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: Any, /) -> Any:
        """Those of a slice, or at places [n]: float32 [n, d]."""


Spread: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""What a job makes of parts on other machines, in any order. The job and its results pickle; parts are taken
one by one as they are sent."""


class Shared(Protocol):
    """Tools for all steps: those over queries, those over documents, and answers."""

    @property
    def reporter(self) -> Reporter:
        """Progress and warnings."""

    def vectors(self, texts: Sequence[str], encoder: EncoderConfig) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""

    def answers(self, request: models.Request) -> list[LlmAnswer]:
        """The answers of a language model in the order asked, from the ledger where it has them.

        Raises PendingCallsError if the run may not ask, and LlmError where the model cannot be asked.
        """

    def talks(self, request: models.Request) -> list[Talked]:
        """The same for requests whose calls depend on answers: all that is answered about each thing."""

    def facts(
        self, file: Path, key: str, columns: Sequence[str], documents: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """The cells of a table by document and column, those of ``documents`` only.

        ``key`` is the column with the names of the documents. Raises ConfigError for a column that is not
        there and for a document with two rows.
        """


class Tools(Shared, Protocol):
    """The part of a run that steps over queries may use; they see nothing else of it."""

    @property
    def may_ask(self) -> bool:
        """Whether language models and services may be asked; not in a plan."""

    @property
    def spread(self) -> Spread | None:
        """Searches shards on the workers of a cluster; None where this process does all."""

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the with block to the timings of the run."""

    def key(self, *facts: Any) -> str:
        """A hash of JSON-able facts, the same on every machine and run."""

    def fingerprint(self, encoder: EncoderConfig) -> str:
        """Everything that decides a vector of the encoder besides the text."""

    def vector_rows(self, texts: Sequence[str], encoder: EncoderConfig) -> VectorRows:
        """The vectors of many texts: read from the cache a part at a time, as they may not fit in memory."""

    def embed(self, text: str, encoder: EncoderConfig) -> Value:
        """The encoding of one text, computed now even if it is cached, to measure the time.

        Raises NotMeasuredError if that would cost money.
        """

    def values(self, texts: Sequence[str], encoder: EncoderConfig) -> Iterable[bytes]:
        """The encoding of each text, in order; bulky values are read again at each iteration.

        All are computed before it returns.
        """

    def index(self, key: str) -> AbstractContextManager[Slot]:
        """The place on disk of an index with this key; what is finished there is kept when it is closed."""

    def identity(self, retriever: RetrieverConfig) -> Identity:
        """All that decides the rankings of a retriever besides passages and queries."""

    def kept(self, kind: str, key: str) -> Any | None:
        """The value that a step has stored under a key, None if there is none."""

    def keep(self, kind: str, key: str, value: Any) -> None:
        """Keep a JSON-able value, whole or not at all."""

    def rows(self, file: Path, columns: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """The cells of a table row by row; raises ConfigError for a column that is not there."""

    def search(
        self, name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> RetrievalResult:
        """The rankings of a route, from the cache where they are known."""


WindowUnit = Literal["sentences", "characters"]


class Sources(Shared, Protocol):
    """The part of a run that contexts and readers may use; they see nothing else of it."""

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
