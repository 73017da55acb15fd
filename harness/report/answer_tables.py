"""The tables about answers: how good they are, where they are lost, which ranking measure predicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import Any

from harness.report.answers import answer_tables
from harness.report.rows import AnswerLossRow, AnswerPredictionRow, AnswerSummaryRow, ReplyRow
from harness.report.rows.answer_losses import ANSWER_PARTS
from harness.report.tables import Table
from harness.text.figures import counted, number

# What a user chooses by: a better ranking of the same question, then better settings, then questions.
_CHOOSING = (("within queries", "kendall"), ("settings", "kendall"), ("queries", "kendall"))


def answer_parts(rows_of: Callable[[type[Any]], Sequence[Any]]) -> Iterator[Table]:
    """All tables about the answers of a result; none where nothing was answered.

    ``rows_of`` gives the rows of the table that a class declares.
    """
    yield from answer_tables(rows_of(AnswerSummaryRow), rows_of(ReplyRow))
    if losses := rows_of(AnswerLossRow):
        yield answer_loss_table(losses)
    predicted = prediction_table(rows_of(AnswerPredictionRow))
    if predicted is not None:
        yield predicted


def answer_loss_table(rows: Sequence[AnswerLossRow]) -> Table:
    """What each part costs on average, best setting first."""
    losses: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        losses.setdefault(row.setting, {}).setdefault(row.part, []).append(row.loss)
    means = {s: {part: fmean(values) for part, values in own.items()} for s, own in losses.items()}
    left = {setting: 1 - sum(own.values()) for setting, own in means.items()}
    parts = [part for part in ANSWER_PARTS if any(part in own for own in means.values())]
    counts = {len(values) for own in losses.values() for values in own.values()}
    fewest, most = min(counts), max(counts)
    questions = counted(most, "question") if fewest == most else f"{fewest} to {most} questions"
    return Table(
        title=f"Lost on the way to the answer, from 1 down to {rows[0].measure}: means over {questions}",
        columns=("setting", *parts, "left"),
        rows=tuple(
            (setting, *(number(means[setting].get(part)) for part in parts), number(left[setting]))
            for setting in sorted(means, key=lambda name: -left[name])
        ),
        notes=("A loss below 0 means that answers are right without the evidence.",)
        if any(loss < 0 for own in means.values() for loss in own.values())
        else (),
    )


def best_predictors(rows: Sequence[AnswerPredictionRow]) -> Iterator[AnswerPredictionRow]:
    """For every measure of answers the ranking measure with the highest coefficient.

    Within queries where that is known, else over settings, else over queries; of equals the first.
    """
    by_measure: dict[str, list[AnswerPredictionRow]] = {}
    for row in rows:
        by_measure.setdefault(row.answer_measure, []).append(row)
    for own in by_measure.values():
        for over, coefficient in _CHOOSING:
            known = [
                row
                for row in own
                if (row.over, row.coefficient) == (over, coefficient) and row.value is not None
            ]
            if known:
                yield max(known, key=lambda row: -2.0 if row.value is None else row.value)
                break


def prediction_table(rows: Sequence[AnswerPredictionRow]) -> Table | None:
    """The best predictor of every measure of answers, and its coefficients; None where none is known."""
    values = {(r.answer_measure, r.ranking_measure, r.over, r.coefficient): r for r in rows}
    best = list(best_predictors(rows))
    if not best:
        return None

    def cell(row: AnswerPredictionRow, over: str) -> str:
        found = values[row.answer_measure, row.ranking_measure, over, "kendall"]
        if found.value is None or found.ci_low is None or found.ci_high is None:
            return number(found.value, 2)
        return f"{number(found.value, 2)} ({number(found.ci_low, 2)} to {number(found.ci_high, 2)})"

    return Table(
        title="Which ranking measure best predicts each measure of answers: Kendall's tau-b",
        columns=("answers", "rankings", *(over for over, _ in _CHOOSING)),
        rows=tuple(
            (row.answer_measure, row.ranking_measure, *(cell(row, over) for over, _ in _CHOOSING))
            for row in best
        ),
        left=frozenset({0, 1}),
        notes=(
            "The best of many measures is partly chosen by chance: if its interval includes 0, it predicts "
            "the answers no better than chance. All of them: answer_prediction.csv.",
        ),
    )
