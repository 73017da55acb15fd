"""Models that score answers, tried on answers whose scores are known: can they be misled?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from harness.measures import (
    ATTACKS,
    AnswerMeasure,
    AnswerScore,
    AnswerTools,
    LlmMeasureConfig,
    Range,
    expected_of,
    known_answers,
)
from harness.report import Table
from harness.running.answering.tools import MeasuringTools, measures_of, pending_calls
from harness.running.config.answer_scoring import AnswerScoringConfig
from harness.running.context import Context
from harness.steps import PendingCalls
from harness.values import ConfigError, number

GAIN_AT_MOST = 0.1


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """One kind of known answer under one measure.

    ``mean`` is over the topics that have a value, None without any; ``failed`` are those whose call failed.
    ``expected`` is the range that the mean must lie in, None if no definition says. ``gain`` is what an
    attack wins over the same answer without it, on the topics where both have a value.
    """

    variant: str
    mean: float | None
    n: int
    failed: int
    expected: Range | None
    gain: float | None = None

    @property
    def has_target(self) -> bool:
        """Whether the right value, or the gain of an attack, is known."""
        return self.expected is not None or self.gain is not None or bool(self.failed)


@dataclass(frozen=True, slots=True)
class ScorerCheck:
    """The result of the known answers for one measure, with its problems in words."""

    measure: str
    known_answers: tuple[KnownAnswer, ...]
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def asking_measures(config: AnswerScoringConfig) -> list[AnswerMeasure[Any]]:
    """The measures that ask a language model; raises ConfigError if there is none."""
    found = measures_of(config)
    asking = [one for one in found if "llm" in one.needs]
    if not asking:
        names = ", ".join(one.name for one in found)
        raise ConfigError(f"None of the measures asks a language model ({names}): there is nobody to check.")
    return asking


def check_scorers(config: AnswerScoringConfig, context: Context) -> list[ScorerCheck]:
    """Score the known answers by every measure that asks a model, in the language of its prompts.

    Answers go into the ledger, and failed calls are reported instead of ending the run. Raises ConfigError
    if no measure asks a model, LlmError where the model cannot be asked at all.
    """
    tools = _tools(config, context)
    return [check_measure(measure, tools) for measure in asking_measures(config)]


def price_check(config: AnswerScoringConfig, context: Context) -> tuple[PendingCalls, ...]:
    """The first calls of the check, in a context that may not ask; measures that ask twice make more."""
    tools = _tools(config, context)
    return pending_calls(partial(_scores, measure, tools) for measure in asking_measures(config))


def _tools(config: AnswerScoringConfig, context: Context) -> MeasuringTools:
    # a check is wanted now, not within a day
    judge = config.answer_judge and config.answer_judge.model_copy(update={"batch": None})
    return MeasuringTools(config.model_copy(update={"answer_judge": judge}), context)


def _scores(measure: AnswerMeasure[Any], tools: AnswerTools) -> dict[str, list[AnswerScore]]:
    """The scores of all variants; one run, so that each step is asked for all of them together."""
    config = measure.config
    known = known_answers(config.language if isinstance(config, LlmMeasureConfig) else "en", measure.needs)
    scores = iter(measure.run([case for cases in known.values() for case in cases], tools))
    return {name: [next(scores) for _ in cases] for name, cases in known.items()}


def check_measure(measure: AnswerMeasure[Any], tools: AnswerTools) -> ScorerCheck:
    """One measure on the known answers. Raises what the measure raises."""
    scores, expected = _scores(measure, tools), expected_of(measure)
    # less is better: an attack then wins where it lowers the value
    sign = -1 if measure.facts.less_is_better else 1
    found = [_known(name, scores, expected.get(name), sign) for name in scores]
    return ScorerCheck(measure.name, tuple(found), tuple(_problems(measure.name, found)))


def _known(
    name: str, scores: Mapping[str, list[AnswerScore]], expected: Range | None, sign: int
) -> KnownAnswer:
    values = [one.value for one in scores[name] if one.value is not None]
    gain = None
    if name in ATTACKS:
        pairs = zip(scores[name], scores[ATTACKS[name]], strict=True)
        gains = [
            sign * (one.value - plain.value)
            for one, plain in pairs
            if one.value is not None and plain.value is not None
        ]
        gain = fmean(gains) if gains else None
    failed = sum(one.failed for one in scores[name])
    return KnownAnswer(name, fmean(values) if values else None, len(values), failed, expected, gain)


def _problems(measure: str, found: list[KnownAnswer]) -> Iterator[str]:
    for one in found:
        if one.failed:
            yield f"{measure}: {one.failed} of {one.n + one.failed} answers have no score ({one.variant})"
        if one.expected is not None and one.mean is not None and not _within(one.mean, one.expected):
            wrong = "too high" if one.mean > one.expected[1] else "too low"
            yield f"{measure}: {one.mean:.2f} for “{one.variant}” is {wrong}, {_shown(one.expected)} is right"
        if one.gain is not None and one.gain > GAIN_AT_MOST:
            yield f"{measure}: “{one.variant}” gains {one.gain:+.2f} over the same without it"


def _within(value: float, expected: Range) -> bool:
    # differences from rounding are not faults
    return expected[0] - 1e-9 <= value <= expected[1] + 1e-9


def _shown(expected: Range) -> str:
    low, high = expected
    return f"up to {high:.2f}" if low < 0 or not low else f"{low:.2f} to {high:.2f}"


def check_table(found: list[ScorerCheck]) -> Table:
    """One row per measure and kind of known answer."""
    rows = [(check.measure, one) for check in found for one in check.known_answers if one.has_target]
    return Table(
        "Answers whose scores are known, as the measures score them",
        ("measure", "known answer", "mean", "expected", "gained", "n", "failed"),
        tuple(
            (
                measure,
                one.variant,
                number(one.mean),
                "–" if one.expected is None else _shown(one.expected),
                "–" if one.gain is None else f"{one.gain:+.2f}",
                str(one.n),
                str(one.failed),
            )
            for measure, one in rows
        ),
        names=2,
        left=frozenset({0, 1}),
        notes=(
            "expected: by the definition of the measure; – where it does not say. gained: what an attack "
            f"adds to the same answer without it; more than {GAIN_AT_MOST:g} is a problem.",
        ),
    )
