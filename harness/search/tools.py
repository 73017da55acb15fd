"""What a run lends to its search steps: models, caches, a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.errors import LlmError
from harness.llm import About, Form, ModelConfig
from harness.llm.money import Estimate
from harness.models.encoder import EncoderConfig, Value
from harness.progress import Reporter
from harness.search.step import Identity, Passages, RetrieverConfig, StepOutput
from harness.served import ServedEstimate
from harness.types import Answered, Query

Purpose = Literal["rewriting", "filter", "context", "endpoint", "answer", "measuring"]


@dataclass(frozen=True, slots=True)
class NotAsked:
    """What a language model or an endpoint would be asked.

    ``key`` tells two of them apart, ``problem`` what is missing, ``purpose`` is what the answers are for.
    """

    name: str
    key: str
    estimate: Estimate | ServedEstimate
    problem: str = ""
    purpose: Purpose = "rewriting"


class NotAskedError(LlmError):
    """What comes next depends on answers that cost money, which a plan or dry run does not ask for."""

    def __init__(self, *missing: NotAsked) -> None:
        self.missing = missing
        told = "; ".join(f"{one.name}: {one.estimate}" for one in missing)
        purpose = missing[0].purpose if missing else "rewriting"
        upon = "request to an endpoint" if purpose == "endpoint" else purpose
        super().__init__(f"Rankings depend on a {upon} that has not been made yet. {told}.")


class ServiceNotAskedError(NotAskedError):
    """What comes next depends on a service of the user's own, which a plan or dry run does not ask."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.args = (f"Rankings depend on answers of {url}, which has not been called yet.",)


class Slot(Protocol):
    """Where the index of one key lies on disk; ``finish`` is called when a new one is whole."""

    @property
    def path(self) -> Path:
        """The folder of the index."""

    @property
    def built(self) -> bool:
        """Whether the index is there and whole."""

    @property
    def finish(self) -> Callable[[], None]:
        """Say that the index is whole."""

    @property
    def release(self) -> Callable[[], None]:
        """Give the place back when the index is closed; what is whole is kept."""


class Tools(Protocol):
    """The side of a run that steps may use. Nothing else of a run is theirs to see."""

    @property
    def reporter(self) -> Reporter:
        """Progress and warnings."""

    @property
    def may_ask(self) -> bool:
        """Whether language models and services may be asked; not in a plan."""

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the with block to the timings of the run."""

    def key(self, *facts: Any) -> str:
        """A hash of JSON-able facts, the same on every machine and run."""

    def fingerprint(self, encoder: EncoderConfig) -> str:
        """Everything that decides a vector of the encoder besides the text."""

    def vectors(self, texts: Sequence[str], encoder: EncoderConfig) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""

    def embed(self, text: str, encoder: EncoderConfig) -> Value:
        """What an encoder makes of one text, computed now, whatever is known; to measure what it takes.

        Raises NotMeasuredError where that would cost money.
        """

    def values(self, texts: Sequence[str], encoder: EncoderConfig) -> Iterable[bytes]:
        """What an encoder makes of each text, in their order; bulky values are read anew at each iteration.

        All are computed before it returns.
        """

    def index(self, key: str) -> Slot:
        """The place on disk of an index with this key."""

    def identity(self, retriever: RetrieverConfig) -> Identity:
        """All that decides the rankings of a retriever besides passages and queries."""

    def answers(
        self,
        model: ModelConfig,
        form: Form,
        asked: Sequence[About],
        name: str,
        purpose: Purpose = "rewriting",
        sample: int = 0,
    ) -> list[Answered]:
        """The answers of a language model to a prompt about each of ``asked``, from the ledger where it can.

        ``name`` is that of the prompt, ``sample`` the number of the repetition. Raises NotAskedError where
        the run may not ask, and LlmError where the model cannot be asked.
        """

    def kept(self, kind: str, key: str) -> Any | None:
        """What a step has kept under a key, None where there is nothing."""

    def keep(self, kind: str, key: str, value: Any) -> None:
        """Keep a JSON-able value, whole or not at all."""

    def facts(
        self, file: Path, key: str, columns: Sequence[str], documents: Sequence[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """The cells of a table of documents by document and column, as ``Sources.facts`` has them."""

    def rows(self, file: Path, columns: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """The cells of a table row by row; raises ConfigError for a column that is not there."""

    def search(
        self, name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> StepOutput:
        """The rankings of a route, from the cache where they are known."""
