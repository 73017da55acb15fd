"""Means under labels of other lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import Measure, Setting, Stage


@table(
    "label_sensitivity",
    "does it depend on the length of the labels?",
    key=("setting", "stage", "measure", "labels"),
    when="if a measure depends on the length of text",
)
@dataclass(frozen=True, slots=True)
class LabelSensitivityRow:
    """The mean of a measure that reads a length of text, with the labels drawn in one of several ways.

    These are ``ndcg_evidence@B``, ``ndcg_text@B`` and those in tokens. ``harness compare`` prints the means,
    and names the differences that it calls real and whose sign turns under one of the ways: they say more of
    the labels than of the settings. docs/conventions.md describes the measures,
    [a study](study-measure.md) shows which of them hold.
    """

    setting: Setting
    stage: Stage
    measure: Measure
    labels: Annotated[
        str,
        Column(
            "`as labelled`, `padded by 100`, `250` and `700` characters on either side, `trimmed to 50 %` "
            "and `25 %` (the middle of each), `whole sentences` and `a sentence more` on either side (700 "
            "characters at most)",
            filled=True,
        ),
    ]
    label_p50: Annotated[
        float,
        Column(
            "the median length of a relevant label; `record.json` has that of the given labels as "
            "`counts.label_characters_p50`",
            unit="characters",
        ),
    ]
    mean: Annotated[float | None, Column("the mean over all queries")]
    n_queries: Annotated[int, Column("queries in the mean")]
