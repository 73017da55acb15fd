"""Where quality is lost: the parts that losses are charged to are named here alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Cells, Column, Earlier, table
from harness.report.rows.common import Measure, QueryId, QuerySplit, Setting

PARSER, CHUNKING, FILTER = "parser", "chunking", "filter"
CANDIDATES, ORDER, CHANGE = "candidates", "order", "change"

PARTS = {
    PARSER: "not in the extracted text",
    CHUNKING: "cut apart or padded with other text",
    FILTER: "in documents that a filter leaves out",
    CANDIDATES: "not retrieved",
    ORDER: "retrieved, but ranked too low",
    CHANGE: "made worse by a later step; below 0 where it made it better",
}
"""How each part loses evidence, from the first to the last; only a change may be a gain."""

_LISTED = "; ".join(f"`{part}`: {what}" for part, what in PARTS.items())
_KEPT = ("setting", "query_id", "split", "measure")
# One row a query, as older versions wrote it: step and part of every column.
_WIDE = {
    "parser": ("parse", PARSER),
    "chunking": ("chunk", CHUNKING),
    "retriever": ("retrieve", CANDIDATES),
    "ranking": ("retrieve", ORDER),
    "reranker": ("rerank", CHANGE),
}


def _from_wide(cells: Cells) -> Iterator[Cells]:
    left = 1.0
    for name, (step, part) in _WIDE.items():
        left -= float(cells[name])
        # the score that was achieved stands in the row, and is not summed up anew
        after = cells["final"] if part == CHANGE else repr(left)
        kept = {key: cells[key] for key in _KEPT}
        yield {**kept, "step": step, "part": part, "loss": cells[name], "left": after}


@table(
    "waterfall",
    "where quality is lost",
    key=("setting", "query_id", "step", "part"),
    when="if a query has relevant text",
    earlier=Earlier(frozenset({*_KEPT, *_WIDE, "final"}), _from_wide),
)
@dataclass(frozen=True, slots=True)
class LossRow:
    """What one query of a setting loses at one part of a step, and what is left after it.

    The unit is ``measure``: the first ``ndcg_text@B`` among the measures, else ``ndcg_text@10000``. From a
    perfect 1 each part takes its loss; the last ``left`` is the score. So the losses of a query sum to 1
    minus its score, and so in the mean.

    A filter that restricts the whole search has a part of its own, ``filter``; that of a route is part of
    what the route does not retrieve. The first step that ranks is charged twice: ``candidates`` is what
    its best order of what it found falls short of the best order of all chunks left, ``order`` what its
    own order falls short of that. Each later step has one ``change``. The routes of a fusion (a step with
    a dot, such as ``retrieve.bm25``) stand beside the sum, not in it: their rows say what would have been
    lost, and left, had the route stood alone. Leave them out when you add up.

    Queries without relevant text have no rows. A query whose evidence was lost by the parser alone has some,
    although it has no NDCG in the other tables: there it has no relevant text, here it scores 0. A label
    counts as lost by the parser where its quote was not found, or its document was skipped. Where that is so
    the score is below the ``ndcg_text`` of ``per_query.csv`` for the same reason. Evidence that the parser
    lost is known only where people have labelled; a judge grades text that was retrieved. docs/statistics.md
    says how the best order is found.

    ``harness show results/<name> --worst 10`` lists the queries that score lowest by ``measure``, the part
    that cost most, the question and the passage that came first; ``--setting`` takes another setting than
    the best.
    """

    setting: Setting
    query_id: QueryId
    split: QuerySplit
    measure: Measure
    step: Annotated[
        str, Column("`parse`, `chunk`, or a step that ranks, named as in the other tables", filled=True)
    ]
    part: Annotated[str, Column(f"what happened to evidence: {_LISTED}", among=tuple(PARTS))]
    loss: Annotated[float, Column("what is lost there")]
    left: Annotated[float, Column("the best score still possible after it; at the end, the score")]
