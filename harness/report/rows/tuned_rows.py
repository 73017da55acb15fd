"""The settings that `harness tune` dropped on the way, with what they were seen on."""

from __future__ import annotations

from typing import Annotated

from harness.report.table_spec import Measure, table
from harness.values import Column


@table("tuned", "settings that `harness tune` dropped", key=("setting",), when="after `harness tune`")
class DroppedRow:
    """A setting that was dropped before it had seen everything, so that it is in no other table.

    Its mean is over the queries and the text of its stage, and compares with no mean of ``summary.csv``;
    ``behind`` compares it with the best setting of the same stage. What it may be better by at most is in
    ``tune.json`` (docs/tune.md).
    """

    setting: Annotated[str, Column("its name", filled=True)]
    stage: Annotated[int, Column("the stage after which it was dropped, from 1")]
    measure: Measure
    mean: Annotated[float | None, Column("its mean in that stage")]
    behind: Annotated[float | None, Column("how far it was behind the best of that stage")]
    n_queries: Annotated[int, Column("the queries that the stage saw")]
    documents: Annotated[int, Column("the documents that the stage saw")]
    characters: Annotated[int, Column("their length", unit="characters")]
