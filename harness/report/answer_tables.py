"""The tables about answers: how good they are, where they are lost, which ranking measure predicts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.report.losses import answer_loss_table
from harness.report.rows.answers import AnswerLossRow, AnswerPredictionRow, AnswerSummaryRow, ReplyRow
from harness.report.tables import Table
from harness.values import counted, interval, number

# In the order of use to a user: rankings of the same question, then settings, then questions.
_CHOOSING = ("within queries", "settings", "queries")


def answer_parts(rows_of: Callable[[type[Any]], Sequence[Any]]) -> Iterator[Table]:
    """All tables about the answers of a result; none if nothing was answered.

    ``rows_of`` gives the rows of the table that a class declares.
    """
    yield from answer_tables(rows_of(AnswerSummaryRow), rows_of(ReplyRow))
    if losses := rows_of(AnswerLossRow):
        yield answer_loss_table(losses)
    predicted = prediction_table(rows_of(AnswerPredictionRow))
    if predicted is not None:
        yield predicted


def answer_tables(summary: Sequence[AnswerSummaryRow], replies: Sequence[ReplyRow]) -> Iterator[Table]:
    """The means of every measure of answers by setting, or, without measures, how much was answered."""
    if not replies:
        return
    settings = list(dict.fromkeys(row.setting for row in replies))
    answered = Counter(row.setting for row in replies if not row.reason)
    asked = Counter(row.setting for row in replies)
    rows = [row for row in summary if row.split == "all"]
    means = {(row.setting, row.measure): row for row in rows}
    measures = list(dict.fromkeys(row.measure for row in rows))
    yield Table(
        title=f"Answers: means over {counted(max(asked.values()), 'question')}",
        columns=("setting", "answered", *measures),
        rows=tuple(
            (
                setting,
                f"{answered[setting]} of {asked[setting]}",
                *(_mean(means[setting, measure]) for measure in measures),
            )
            for setting in settings
        ),
        notes=tuple(_notes(rows)),
    )


def _mean(row: AnswerSummaryRow) -> str:
    bounds = interval(row.ci_low, row.ci_high, row.n_queries)
    return number(row.mean) if row.mean is None or bounds == "–" else f"{number(row.mean)} ({bounds})"


def _notes(rows: Sequence[AnswerSummaryRow]) -> Iterator[str]:
    """How many answers each measure leaves without a value; where all settings agree, said once."""
    by_measure: dict[str, list[AnswerSummaryRow]] = {}
    for row in rows:
        by_measure.setdefault(row.measure, []).append(row)
    counted: dict[str, list[str]] = {}
    for measure, own in by_measure.items():
        counts = [row.n_not_scored for row in own]
        if not any(counts):
            continue
        many = f"{counts[0]}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
        worst = max(own, key=lambda row: row.n_not_scored)
        counted.setdefault(f"{many} ({worst.reasons})", []).append(measure)
    for counts_and_why, measures in counted.items():
        yield f"Not scored, and not in the mean of {', '.join(measures)}: {counts_and_why}."
    uneven = [measure for measure, own in by_measure.items() if len({row.n_not_scored for row in own}) > 1]
    if uneven:
        yield (
            f"Means of {', '.join(uneven)} are over different questions: harness compare takes those for "
            "which all settings have a value."
        )


def best_predictors(rows: Sequence[AnswerPredictionRow]) -> Iterator[AnswerPredictionRow]:
    """For every measure of answers the ranking measure with the highest coefficient.

    Within queries where that is known, else over settings, else over queries; of equals the first.
    """
    by_measure: dict[str, list[AnswerPredictionRow]] = {}
    for row in rows:
        if row.coefficient == "kendall":
            by_measure.setdefault(row.answer_measure, []).append(row)
    for own in by_measure.values():
        for over in _CHOOSING:
            known = {i: row.value for i, row in enumerate(own) if row.over == over and row.value is not None}
            if known:
                yield own[max(known, key=known.__getitem__)]
                break


def prediction_table(rows: Sequence[AnswerPredictionRow]) -> Table | None:
    """The best predictor of every measure of answers, and its coefficients; None if none is known."""
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
        columns=("answers", "rankings", *_CHOOSING),
        rows=tuple(
            (row.answer_measure, row.ranking_measure, *(cell(row, over) for over in _CHOOSING))
            for row in best
        ),
        left=frozenset({0, 1}),
        notes=(
            "The best of many measures is partly chosen by chance: if its interval includes 0, it predicts "
            "the answers no better than chance. All of them: answer_prediction.csv.",
        ),
    )
