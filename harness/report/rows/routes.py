"""What each route brings to a fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import Setting, Stage


@table(
    "routes",
    "what each route brings to a fusion",
    key=("setting", "stage"),
    when="where routes are fused",
)
@dataclass(frozen=True, slots=True)
class RouteRow:
    """How much of the first k of a fusion stands in the first k of each of its routes, and of no other.

    Routes that share nearly all find the same: one of them may do. What no route has among its first k has
    risen by being far up in several.
    """

    setting: Setting
    stage: Stage
    fused: Annotated[str, Column("the fusion that the route is part of", filled=True)]
    k: Annotated[int | None, Column("the first cutoff in ranks among the measures; empty: the whole ranking")]
    share: Annotated[
        float | None,
        Column(
            "the share of the fusion's first k, over all queries, that the route also found; empty: "
            "nothing was found"
        ),
    ]
    share_alone: Annotated[float | None, Column("the share that only this route of the fusion found")]
    exact_share: Annotated[
        float | None,
        Column("the share of the truly nearest chunks that the route found; empty for lexical search"),
    ] = None
