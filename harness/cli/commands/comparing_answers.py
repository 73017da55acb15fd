"""`harness compare` and `harness gate` by a measure of answers."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.comparison import ScoredOn, ScoreMatrix, Scores, Verdict
    from harness.report import Part
    from harness.running import StoredAnswers


@dataclass(frozen=True, slots=True)
class Compared:
    """Settings compared, and what is printed before and after the comparison."""

    scores: Scores
    verdict: Verdict
    before: Iterable[Part] = ()
    after: Iterable[Part] = ()


@dataclass(frozen=True, slots=True)
class Gated:
    """The scores that a gate compares, their basis, the run record, and the lines to print first."""

    now: ScoreMatrix
    before: ScoreMatrix
    scored_on: tuple[ScoredOn, ScoredOn]
    record: Mapping[str, Any]
    notes: tuple[str, ...]


def answers_to_compare(
    folders: Sequence[Path], args: argparse.Namespace
) -> tuple[Mapping[Path, StoredAnswers], str] | None:
    """The answers of the results and the measure to take; None if rankings are meant.

    Answers are meant where ``--measure`` is a measure of answers, and, without it, where the settings of one
    result differ only in how they answer. Raises ConfigError for options that say something about rankings.
    """
    from harness.running import answer_headline, answer_measure_to_take, read_answers_of
    from harness.values import ConfigError

    if not any((folder / "answer_scores.csv").exists() for folder in folders):
        return None
    stored = {folder: read_answers_of(folder) for folder in folders}
    if args.measure is not None:
        ranked = any(args.measure in set(one.result.per_query["measure"]) for one in stored.values())
        measure = None if ranked else answer_measure_to_take(stored, args.measure)
    else:
        measure = answer_headline(list(stored.values())) if _only_answers_differ(stored) else None
    if measure is None:
        return None
    if args.stage != "final" or args.judge is not None:
        raise ConfigError(f"{measure} is a measure of answers: --stage and --judge do not apply to it.")
    return stored, measure


def _only_answers_differ(stored: Mapping[Path, StoredAnswers]) -> bool:
    from harness.comparison import ranked_alike

    if len(stored) > 1:
        return False
    (one,) = stored.values()
    settings = {setting["name"]: setting for setting in one.result.record["config"].get("settings", [])}
    return len(settings) > 1 and len(ranked_alike(settings)) == 1


def compared_answers(
    stored: Mapping[Path, StoredAnswers], measure: str, args: argparse.Namespace
) -> Compared:
    """The settings of all these results, compared by a measure of answers."""
    from harness.comparison import names_of
    from harness.running import answer_verdict, on_common_questions

    names, own = names_of(list(stored)), list(stored.values())
    found = answer_verdict(dict(zip(names, own, strict=True)), measure, args.baseline, stated(args))

    def before() -> Iterator[Part]:
        if len(own) == 2:
            (old, new), _ = on_common_questions([one.matrix(measure) for one in own])
            yield from changed(old, new, names, own[-1].result.record)

    return Compared(found.scores, found.verdict, before())


def stated(args: argparse.Namespace) -> dict[str, Any]:
    """What the options say of the tolerance and the price limit, where they do."""
    from harness.values import ConfigError

    found = {name: getattr(args, name, None) for name in ("tolerance", "price_limit")}
    for name, value in found.items():
        if value is not None and not 0 < value < float("inf"):
            raise ConfigError(f"--{name.replace('_', '-')} must be a number above 0, not {value:g}.")
    return {name: value for name, value in found.items() if value is not None}


def changed(
    old: ScoreMatrix,
    new: ScoreMatrix,
    names: Sequence[str],
    record: Mapping[str, Any],
    apart: Collection[str] = (),
) -> Iterator[Part]:
    """The changes of the settings that two results have in common; ``apart`` cannot be compared."""
    from harness.comparison import changed_table, options_of

    if table := changed_table(old, new, (names[0], names[1]), options_of(record), apart):
        yield table


def gated_answers(stored: Mapping[Path, StoredAnswers], measure: str, args: argparse.Namespace) -> Gated:
    """The answers that `harness gate` compares."""
    from harness.running import on_common_questions
    from harness.values import counted

    now, before = stored[args.results], stored[args.baseline]
    (new, old), left_out = on_common_questions([now.matrix(measure), before.matrix(measure)])
    note = f"{counted(left_out, 'question')} left out: only some settings have a value of {measure} for them."
    scored_on = now.scored_on(measure), before.scored_on(measure)
    return Gated(new, old, scored_on, now.result.record, (note,) if left_out else ())


def answers_hint(folders: Sequence[Path]) -> list[Part]:
    """That answers can be compared too; nothing if none were measured."""
    from harness.running import answer_headline, read_answers_of

    if not all((folder / "answer_scores.csv").exists() for folder in folders):
        return []
    measure = answer_headline([read_answers_of(folder) for folder in folders])
    return [] if measure is None else [(f"Answers were measured too: --measure {measure} compares them.",)]
