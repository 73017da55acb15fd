"""The input and output of a judge, what a run gives it, and the interface of judges of a pool."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.judge.prompting import Example
from harness.models import EncoderConfig, Estimate, RerankEndpoint, Spending
from harness.store import Ledger
from harness.values import Chunk, JudgeError, Judgment, Query, Reporter, Run, counted

EXAMPLES = 20
# Why a pair has no grade whose answer has met its limit of tokens.
CUT_OFF = {"truncated", "unfinished_thought"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the span of text that is to be graded for it; ``number`` is its place in a pool, if any."""

    query: Query
    passage: Chunk
    number: int = field(default=-1, compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """Query and passage by their ids."""
        return self.query.query_id, self.passage.chunk_id

    def judgment(self, grade: int | None, judge: str, source: str, prompt_sha: str = "") -> Judgment:
        """The span with a grade for the query, None for none."""
        span = self.passage
        graded = (self.query.query_id, span.doc_id, span.start, span.end, grade)
        return Judgment(*graded, source=source, judge=judge, prompt_sha=prompt_sha)


@dataclass(frozen=True, slots=True)
class PairGrade:
    """The judgment of one pair, with its samples, reason and cost.

    ``samples`` are the grades that were combined and ``spread`` is their range (0: all agreed); ``reason``
    says why there is no grade, and ``detail`` is the message of the endpoint or the answer of the model.
    ``explanation`` is why the judge gave this grade, in its words; '' where its prompt does not ask.
    ``cost`` is that of all tries of this pair, earlier runs included, in the currency of the price table;
    None if a price or the used tokens are unknown.
    """

    pair: Pair
    judgment: Judgment
    samples: tuple[int, ...] = ()
    spread: int = 0
    reason: str = ""
    cost: float | None = 0.0
    detail: str = ""
    explanation: str = ""


Sink = Callable[[PairGrade], None]
Item = TypeVar("Item")


class Lazy(Sequence[Item]):
    """A sequence of ``count`` items that are made when they are read, and not kept."""

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        places = range(self._count)[at]
        return [*map(self._make, places)] if isinstance(at, slice) else self._make(places)


class GradedPairs:
    """The answers of a judge to numbered ``pairs``, which come in any order; ``costs`` are NaN if unknown."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self.costs = np.full(len(pairs), np.nan)
        self._sources = [""] * len(pairs)
        self._answers: list[Any] = [None] * len(pairs)
        self._missing = len(pairs)
        # few different ones, each kept once
        self._shared: dict[Hashable, Hashable] = {}

    def keep(self, pair_grade: PairGrade) -> None:
        """Take one graded pair, without its text."""
        at, judgment = pair_grade.pair.number, pair_grade.judgment
        answer = (
            judgment.grade,
            judgment.judge,
            judgment.prompt_sha,
            (pair_grade.samples, pair_grade.spread, pair_grade.reason, pair_grade.explanation),
        )
        self._missing -= self._answers[at] is None
        self._answers[at] = self._shared.setdefault(answer, answer)
        self._sources[at] = judgment.source
        self.costs[at] = np.nan if pair_grade.cost is None else pair_grade.cost

    @property
    def judgments(self) -> Sequence[Judgment]:
        """The judgments, in the order of the pairs.

        Raises RuntimeError where the judge has returned nothing for a pair.
        """
        if self._missing:
            raise RuntimeError(f"the judge has returned nothing for {counted(self._missing, 'pair')}")
        return Lazy(len(self._pairs), self._judgment)

    def sampled(self, at: int) -> tuple[tuple[int, ...], int, str, str]:
        """The samples of a pair, their spread, the reason for no grade, and the judge's for the grade."""
        sampled: tuple[tuple[int, ...], int, str, str] = self._answers[at][-1]
        return sampled

    def _judgment(self, at: int) -> Judgment:
        grade, judge, prompt_sha, _ = self._answers[at]
        return self._pairs[at].judgment(grade, judge, self._sources[at], prompt_sha)


@dataclass(slots=True)
class Summary(Spending):
    """The work of one run of a judge: pairs, calls, tokens, money, and what could not be scored.

    ``details`` has a ``detail`` for each reason why pairs have no grade, ``panel`` how far its members agree.
    """

    judge: str = ""
    pairs: int = 0
    disagreeing: int = 0
    unscored: dict[str, int] = field(default_factory=dict)
    unscored_examples: list[str] = field(default_factory=list)
    details: dict[str, str] = field(default_factory=dict)
    panel: dict[str, object] = field(default_factory=dict)

    @property
    def unscored_count(self) -> int:
        """How many pairs have no grade."""
        return sum(self.unscored.values())

    def note(self, graded: PairGrade) -> None:
        """Count one graded pair."""
        self.pairs += 1
        self.disagreeing += graded.spread > 0
        reason, detail = graded.reason, graded.detail
        if graded.judgment.grade is not None:
            return
        self.unscored[reason] = self.unscored.get(reason, 0) + 1
        if detail:
            self.details.setdefault(reason, detail)
        if len(self.unscored_examples) < EXAMPLES:
            span = graded.judgment
            where = f"query {span.query_id}, {span.doc_id}:{span.start}-{span.end}"
            self.unscored_examples.append(f"{where}: {reason}{f' ({detail})' if detail else ''}")

    def check_unscored(self, limit: float, total: int) -> None:
        """Raise JudgeError with the list when more than ``limit`` of ``total`` pairs have no grade."""
        if self.unscored_count <= limit * total:
            return
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(self.unscored.items()))
        more = self.unscored_count - len(self.unscored_examples)
        cut_off = " Answers were cut off: raise endpoint.max_tokens; whole ones are not paid for again."
        message = (
            f"{self.unscored_count} of {total} pairs have no grade ({reasons}); max_unscored allows "
            f"{limit:.1%}. A mean over the rest would be misleading. Check the reasons, change the endpoint, "
            "the prompt or max_unscored, and run again (ask_again: true repeats closed failures)."
            f"{cut_off if self.unscored.keys() & CUT_OFF else ''}"
        )
        lines = [message, *self.unscored_examples, *([f"and {more} more"] if more else [])]
        raise JudgeError("\n  ".join(lines))

    def progress(self) -> list[str]:
        """The progress line during the run."""
        spent, *faults = Spending.progress(self)
        return [spent, *([f"{self.unscored_count} unscored"] if self.unscored else []), *faults]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair that people have graded, with their judgment."""

    pair: Pair
    judgment: Judgment

    @property
    def grade(self) -> int:
        """The grade that they gave."""
        return self.judgment.grade or 0


PairModel: TypeAlias = str | RerankEndpoint
"""A reranker that scores pairs of texts: the name of one on this machine, or an endpoint."""


@dataclass(frozen=True, slots=True)
class JudgeTools:
    """The tools that a run gives a judge. Nothing is loaded or read before it is needed.

    ``ledger`` keeps the answers of language models; ``people_graded()`` is what people have graded for train
    queries, to be shown to a judge. ``labelled()`` is all that people have graded. ``vectors(texts,
    encoder)`` is a step that gives float32 [texts, dimension], and ``pair_scores(pairs, model)`` that gives a
    score for each (query, passage), higher for more relevant. ``run`` drives such a step to its result.
    """

    ledger: Ledger
    people_graded: Callable[[], Sequence[Example]]
    labelled: Callable[[], Sequence[Labelled]]
    vectors: Callable[[Sequence[str], EncoderConfig], Run[NDArray[np.float32]]]
    pair_scores: Callable[[Sequence[tuple[str, str]], PairModel], Run[Sequence[float]]]
    run: Callable[[Run[Any]], Any]


class PoolJudge(Protocol):
    """A judge that grades a pool of (query, passage) pairs."""

    @property
    def name(self) -> str:
        """How the judge is named in every table."""

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """The facts about the judge in a run record; no secret."""

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """The cost of grading, with the name of each language model; makes no call.

        Reads the pairs once for each. Empty for a judge that costs nothing.
        """

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, each handed to ``sink`` as soon as it is graded.

        Raises JudgeError if too many have no grade, and LlmError where a model cannot be asked.
        """
