"""The verdict on answers: the same comparison and the same words as that on rankings, by answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.comparison import (
    LABELS,
    ScoreMatrix,
    Scores,
    Trust,
    Verdict,
    conclude,
    join,
    joined_names,
    lines_of,
    options_of,
    warnings_of,
)
from harness.report import AnswerScoreRow, spec_of
from harness.running.bench.stored_answers import (
    StoredAnswers,
    answer_headline,
    on_common_questions,
    read_answers_of,
)
from harness.values import HarnessError, counted

# The lines on answers that follow the verdict on rankings; `harness compare` has the rest.
_TRUST = "each for what it says of an answer"
# Labels and depths say nothing of an answer; what was read and what it says do.
_BEAR_ON_ANSWERS = ("text", "questions", "language", "model calls", "cache")
_BRIEF = ("decision", "margin", "caveat")


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """A verdict by a measure of answers, with the scores that it rests on."""

    scores: Scores
    verdict: Verdict


def answer_verdict(
    named: Mapping[str, StoredAnswers],
    measure: str,
    baseline: str | None = None,
    stated: Mapping[str, Any] | None = None,
) -> AnswerVerdict:
    """Compare the settings of results by a measure of answers, on the questions that all have a value for.

    ``stated`` are options to use instead of those of the first result's run record. Other measures of answers
    may contradict the verdict. Raises HarnessError if the results do not compare, with the reasons, or where
    no question is left.
    """
    matrix, left_out = _joined(named, measure)
    first = next(iter(named.values()))
    others = []
    for other in first.measures:
        shared = other != measure and all(other in one.measures for one in named.values())
        if shared and "answer" in first.facts(other).needs:
            try:
                others.append(_joined(named, other)[0])
            except HarnessError:
                # a measure that cannot be compared says nothing about this one
                continue
    notes = []
    if left_out:
        notes.append(
            f"{counted(left_out, 'question')} left out, as only some settings have a value of {measure} "
            "for them; replies.csv and answer_scores.csv say why."
        )
    scores = Scores(
        {one.measure: one for one in (matrix, *others)},
        documents=first.result.documents,
        options=replace(options_of(first.result.record), **(stated or {})),
        warnings=warnings_of(
            {name: one.result.record for name, one in named.items()},
            joined_names({name: one.matrix(measure) for name, one in named.items()}),
        ),
    )
    verdict = conclude(
        matrix,
        others=others,
        trust={one.measure: Trust(_TRUST) for one in (matrix, *others)},
        baseline=baseline,
        unit="document" if set(matrix.clusters) - {""} <= scores.documents else "cluster",
        notes=notes,
        warnings=[one for one in scores.warnings if one.kind in _BEAR_ON_ANSWERS],
        options=scores.options,
    )
    return AnswerVerdict(scores, verdict)


def _joined(named: Mapping[str, StoredAnswers], measure: str) -> tuple[ScoreMatrix, int]:
    matrices = [one.matrix(measure) for one in named.values()]
    kept, left_out = on_common_questions(matrices)
    scored_on = {name: one.scored_on(measure) for name, one in named.items()} if len(named) > 1 else None
    return join(dict(zip(named, kept, strict=True)), scored_on), left_out


def answer_lines(folder: Path) -> list[dict[str, str]]:
    """The verdict on answers in short: ``label`` and ``text`` of each line, the first with its measure.

    None if answers are not measured, or there is one setting. Raises HarnessError if the folder holds
    no results.
    """
    if not (folder / spec_of(AnswerScoreRow).file).exists():
        return []
    stored = read_answers_of(folder)
    measure = answer_headline([stored])
    if measure is None:
        return []
    try:
        verdict = answer_verdict({folder.name: stored}, measure).verdict
    except HarnessError as error:
        return [{"label": LABELS["decision"], "text": f"There is none on answers. {error}"}]
    if verdict.decision == "single":
        return []
    lines = [line for line in lines_of(verdict) if line.role in _BRIEF]
    more = {"label": LABELS["next"], "text": f"All differences: harness compare … --measure {measure}"}
    return [*({"label": LABELS[line.role], "text": line.text} for line in lines), more]


def brief_verdict(folder: Path) -> tuple[str, ...]:
    """The same in sentences."""
    lines = (f"Answers, {one['label'].lower()}: {one['text']}" for one in answer_lines(folder))
    return tuple(line.replace("compare …", f"compare {folder}") for line in lines)
