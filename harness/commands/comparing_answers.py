"""`harness compare` and `harness gate` by a measure of answers."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.bench.answer_verdict import AnswerVerdict
    from harness.bench.stored_answers import StoredAnswers
    from harness.comparison.gate import GateResult
    from harness.report import Part


def answers_meant(
    folders: Sequence[Path], args: argparse.Namespace
) -> tuple[Mapping[Path, StoredAnswers], str] | None:
    """The answers of the results and the measure to take; None where rankings are meant.

    Answers are meant where ``--measure`` is a measure of answers, and, without it, where the settings of one
    result differ only in how they answer. Raises ConfigError for options that say something about rankings.
    """
    from harness.bench.stored_answers import answer_headline, answer_measure_to_take, read_answers_of
    from harness.errors import ConfigError

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
        raise ConfigError(f"{measure} is a measure of answers: --stage and --judge say nothing about it.")
    return stored, measure


def _only_answers_differ(stored: Mapping[Path, StoredAnswers]) -> bool:
    from harness.verdict import ranked_alike

    if len(stored) > 1:
        return False
    (one,) = stored.values()
    settings = {setting["name"]: setting for setting in one.result.record["config"].get("settings", [])}
    return len(settings) > 1 and len(ranked_alike(settings)) == 1


def compared_answers(
    stored: Mapping[Path, StoredAnswers], measure: str, baseline: str | None
) -> AnswerVerdict:
    """The verdict on the settings of all these results."""
    from harness.bench.answer_verdict import answer_verdict
    from harness.verdict import names_of

    named = dict(zip(names_of(list(stored)), stored.values(), strict=True))
    return answer_verdict(named, measure, baseline)


def changed_answers(stored: Mapping[Path, StoredAnswers], measure: str) -> list[Part]:
    """Of two results, what has become of the answers of the settings that both have."""
    from harness.bench.stored_answers import on_common_questions
    from harness.verdict import changed_table, names_of, options_of

    if len(stored) != 2:
        return []
    (before, after), _ = on_common_questions([one.matrix(measure) for one in stored.values()])
    old, new = names_of(list(stored))
    options = options_of(next(reversed(list(stored.values()))).result.record)
    table = changed_table(before, after, (old, new), options)
    return [table] if table else []


def gate_answers(
    stored: Mapping[Path, StoredAnswers], measure: str, args: argparse.Namespace
) -> tuple[GateResult, tuple[str, ...]]:
    """The gate by a measure of answers, and what to say before it."""
    from harness.bench.stored_answers import on_common_questions
    from harness.comparison import gate
    from harness.report import counted

    results, baseline = stored[args.results], stored[args.baseline]
    (now, before), left_out = on_common_questions([results.matrix(measure), baseline.matrix(measure)])
    result = gate(
        now,
        before,
        max_drop=args.max_drop,
        confidence=args.confidence,
        scored_on=(results.scored_on(measure), baseline.scored_on(measure)),
    )
    done = f"{counted(left_out, 'question')} left out: only some settings have a value of {measure} for them."
    return result, (done,) if left_out else ()


def answers_hint(folders: Sequence[Path]) -> list[Part]:
    """That answers can be compared too; nothing where none were measured."""
    from harness.bench.stored_answers import answer_headline, read_answers_of

    if not all((folder / "answer_scores.csv").exists() for folder in folders):
        return []
    measure = answer_headline([read_answers_of(folder) for folder in folders])
    return [] if measure is None else [(f"Answers were measured too: --measure {measure} compares them.",)]
