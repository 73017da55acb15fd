"""How good the answers of settings are, as a table to print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.report.rows import AnswerSummaryRow, ReplyRow
from harness.report.tables import Table
from harness.text.figures import counted, interval, number

_ALL = "all"


def answer_tables(summary: Sequence[AnswerSummaryRow], replies: Sequence[ReplyRow]) -> Iterator[Table]:
    """The means of every measure of answers by setting, or, without measures, how much was answered."""
    if not replies:
        return
    settings = list(dict.fromkeys(row.setting for row in replies))
    answered = Counter(row.setting for row in replies if not row.reason)
    asked = Counter(row.setting for row in replies)
    rows = [row for row in summary if row.split == _ALL]
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
    said: dict[str, list[str]] = {}
    for measure, own in by_measure.items():
        counts = [row.n_not_scored for row in own]
        if not any(counts):
            continue
        many = f"{counts[0]}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
        worst = max(own, key=lambda row: row.n_not_scored)
        said.setdefault(f"{many} ({worst.reasons})", []).append(measure)
    for told, measures in said.items():
        yield f"Not scored, and not in the mean of {', '.join(measures)}: {told}."
    uneven = [measure for measure, own in by_measure.items() if len({row.n_not_scored for row in own}) > 1]
    if uneven:
        yield (
            f"Means of {', '.join(uneven)} are over different questions: answer_comparisons.csv compares the "
            "settings on the questions for which all have a value."
        )
