"""The tables about answers: how good they are, and where they are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.report.losses import answer_loss_table
from harness.report.rows.answers import AnswerLossRow, AnswerSummaryRow, ReplyRow
from harness.report.tables import Table
from harness.values import counted, interval, number


def answer_parts(rows_of: Callable[[type[Any]], Sequence[Any]]) -> Iterator[Table]:
    """All tables about the answers of a result; none if nothing was answered.

    ``rows_of`` gives the rows of the table that a class declares.
    """
    yield from answer_tables(rows_of(AnswerSummaryRow), rows_of(ReplyRow))
    if losses := rows_of(AnswerLossRow):
        yield answer_loss_table(losses)


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
