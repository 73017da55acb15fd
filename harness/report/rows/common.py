"""Columns that recur."""

from __future__ import annotations

from typing import Annotated

from harness.values import SPLITS, Column

Setting = Annotated[str, Column("the name of a setting: a point of the sweep", filled=True)]
Stage = Annotated[
    str, Column("the step that ranked, such as `retrieve` or `rerank`; with a dot, a route", filled=True)
]
QueryId = Annotated[str, Column("the query", filled=True)]
QuerySplit = Annotated[str, Column("`train` or `validation`", among=SPLITS)]
Measure = Annotated[str, Column("a measure with its cutoff", filled=True)]
ChunkId = Annotated[str, Column("document and offsets, `document:start-end`", chunk=True)]
DocumentId = Annotated[str, Column("the document", filled=True)]
Start = Annotated[int, Column("the first character", unit="characters")]
End = Annotated[int, Column("the end, exclusive", unit="characters")]
Page = Annotated[int | None, Column("the page where it begins, from 1")]
CiLow = Annotated[float | None, Column("the lower end of its interval")]
CiHigh = Annotated[float | None, Column("the upper end of its interval")]
