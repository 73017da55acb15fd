"""The output of a benchmark at its end, as plain values; printed again if nothing has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from harness.comparison import filter_table
from harness.report import (
    FilterRow,
    LossRow,
    Results,
    SummaryRow,
    Table,
    answer_parts,
    label_note,
    loss_table,
    lost_label_note,
)
from harness.values import RunRecord


@dataclass(frozen=True, slots=True)
class FinalOutput:
    """The summary, the tables below it, sentences about labels and judges, about the page, and the verdict.

    ``headline`` is the measure that decides, ``level`` the confidence level of the intervals.
    """

    name: str
    summary: tuple[SummaryRow, ...]
    headline: str
    level: float
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    page: tuple[str, ...]
    verdict: tuple[str, ...]
    answers: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, results: Results, level: float, page: Sequence[str], answers: Sequence[str] = ()
    ) -> FinalOutput:
        """The ending of results.

        ``page`` holds sentences about their page, ``answers`` those of the verdict on answers.
        """
        losses, filtered = results.of(LossRow), results.of(FilterRow)
        record = results.record
        about = (one(record.config, record.counts) for one in (lost_label_note, label_note))
        return cls(
            results.name,
            tuple(results.summary),
            results.verdict["measure"],
            level,
            (
                *([loss_table(losses, results.verdict["measure"])] if losses else []),
                *([filter_table(filtered)] if filtered else []),
                *answer_parts(results.of),
            ),
            (*filter(None, about), *_agreement(results.record)),
            tuple(page),
            tuple(results.verdict["sentences"]),
            tuple(answers),
        )


STORED = TypeAdapter(FinalOutput)
"""An ending as JSON-able values and back."""


def _agreement(record: RunRecord) -> list[str]:
    """How far the members of a panel agree, where one judged."""
    panel = (record.cost or {}).get("panel")
    if not panel:
        return []
    members = [
        f"{name} is {above:+.2f} grades from the median" if above is not None else name
        for name, above in panel["above_the_median"].items()
    ]
    agree = f"The members agree on {panel['all_agree']:.0%} of the pairs"
    if panel["alpha_ordinal"] is not None:
        agree += f" (Krippendorff's alpha, ordinal, {panel['alpha_ordinal']:.2f})"
    return [f"{agree}; {', '.join(members)}."]
