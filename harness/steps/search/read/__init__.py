"""Readers: what is read in place of the chunks that were found. One file per kind.

A `Reader` takes larger text for each chunk, whatever the query. An `Alteration` changes what an answerer
reads for a query, to try how it copes with noise or with false facts; rankings stay as they are. Both may
yield needs, such as what a language model says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from harness.steps.search.tools import Sources
from harness.values import Chunk, KindAt, Kinds, Query, Run, Span, StageConfig, Step

Change = Literal["", "noise", "altered"]


class ReadConfig(StageConfig):
    """Base of the configurations of readers."""

    kind: str

    @property
    def larger(self) -> StageConfig | None:
        """How the larger chunks that it reads are cut; None where it cuts none."""
        return None

    @property
    def spans(self) -> ReadConfig | None:
        """The reader that takes larger text for each chunk; None: the chunks themselves are read."""
        return self

    @property
    def alters(self) -> bool:
        """Whether it changes what is read for a query, which only an answerer notices."""
        return False


Configured = TypeVar("Configured", bound=ReadConfig)


class Reader(Step[Configured]):
    """Chunks → the span of its document that is read for each, whatever the query."""

    @abstractmethod
    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Span] | Run[list[Span]]:
        """A half-open range of the document of each chunk, in their order; it overlaps the chunk."""

    def longest(self, chunk: Chunk, sources: Sources) -> Span:
        """The longest range that may be read for a chunk, for a plan that cannot know which one is.

        That is the whole document, unless a kind knows better.
        """
        return 0, len(sources.document(chunk.doc_id).text)


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage that is read for a query.

    ``rank`` is its rank, from 1, in the last ranking of the setting; None where it is not from there.
    ``change`` says that it took the place of a passage (`noise`), or that its text was changed (`altered`).
    """

    rank: int | None
    chunk: Chunk
    change: Change = ""


@dataclass(frozen=True, slots=True)
class QueryReading:
    """What is read for one query, and what an alteration may know of it.

    ``passages`` are in the order read. ``holds_answer`` says of a passage whether it shows labelled evidence
    of the query or a wording of its golden answer. ``similar`` gives passages that are like those the query
    asks for, the likeliest first. ``parts`` are those of the golden answer, each with its wordings;
    ``columns`` are the further columns of the query file.
    """

    query: Query
    passages: tuple[ReadPassage, ...]
    holds_answer: Callable[[Chunk], bool]
    similar: Callable[[], Iterable[Chunk]]
    parts: tuple[tuple[str, ...], ...]
    columns: Mapping[str, str]


class Alteration(Step[Configured]):
    """What is read for a query → what is read in its place."""

    @abstractmethod
    def run(self, reading: QueryReading) -> tuple[ReadPassage, ...] | Run[tuple[ReadPassage, ...]]:
        """The passages in the order read; those that stay keep their places.

        Raises ConfigError where the query file lacks what it needs.
        """

    def longest(self, reading: QueryReading) -> tuple[ReadPassage, ...]:
        """The longest passages that may be read, for a plan that cannot know which ones are.

        Those that were read before, unless a kind knows better.
        """
        return reading.passages


class AlterationConfig(ReadConfig):
    """Base of the configurations of alterations."""

    @property
    def spans(self) -> ReadConfig | None:
        """The reader before it, in the key ``read``."""
        before: ReadConfig | None = getattr(self, "read", None)
        return None if before is None else before.spans

    @property
    def alters(self) -> bool:
        """It does."""
        return True


KINDS: Kinds[Any] = Kinds(
    "read",
    KindAt("parent", "ParentConfig", "Parent"),
    KindAt("window", "WindowConfig", "Window"),
    KindAt("noise", "NoiseConfig", "Noise"),
    KindAt("counterfactual", "CounterfactualConfig", "Counterfactual"),
    retired=dict.fromkeys(("merge", "adjacent"), "Use `parent` or `window`, or larger chunks."),
    home=__name__,
)
