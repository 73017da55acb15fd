"""The settings that `harness tune` dropped on the way, with what they were seen on."""

from __future__ import annotations

from typing import Annotated

from harness.report.table_spec import Measure, table
from harness.values import Column


@table(
    "tuned",
    "settings that `harness tune` dropped",
    key=("setting",),
    when="after `harness tune`",
    foreign=True,
)
class DroppedRow:
    """A setting that was dropped before it had seen everything, so that it is in no other table.

    Its mean is over the queries and the text of its stage, and compares with no mean of ``summary.csv``;
    ``behind`` compares it with the best setting of the same stage. ``lead_at_most`` bounds how much better it
    may be than the setting to use, on the text that its stage saw (docs/tune.md).
    """

    setting: Annotated[str, Column("its name", filled=True)]
    stage: Annotated[int, Column("the stage after which it was dropped, from 1")]
    measure: Measure
    mean: Annotated[float | None, Column("its mean in that stage")]
    behind: Annotated[float | None, Column("how far it was behind the best of that stage")]
    n_queries: Annotated[int, Column("the queries that the stage saw")]
    documents: Annotated[int, Column("the documents that the stage saw")]
    characters: Annotated[int, Column("their length", unit="characters")]
    text_share: Annotated[float, Column("that length as a share of the whole text")]
    against: Annotated[str, Column("the setting to use, of those that saw everything", filled=True)]
    lead_at_most: Annotated[
        float | None,
        Column("at most how much better it may be than that; below 0: it is worse; empty: not known"),
    ]
    held_back: Annotated[
        bool, Column("whether it was seen without its rerankers, so that nothing is known of what it may be")
    ]
    may_be_better: Annotated[bool, Column("whether that is more than the tolerance, or not known")]
