"""A stored result, scored again on other judgments, from its folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.measures import Scorer, SpanQrels, family_of
from harness.report import ScoringInputs
from harness.running.config.models import RelevanceConfig
from harness.running.evaluate.evaluating import projection_of, queries_to_score
from harness.values import Judgment

if TYPE_CHECKING:
    import pandas as pd

SCORING_RULES = ("rule", "span_share", "chunk_share", "unanswerable", "answerable_from")
"""The keys of ``relevance`` that say how judgments become values; the others say where they come from."""


def can_be_rescored(measure: str) -> bool:
    """Whether ranks, grades and offsets are enough for a column of per_query.csv."""
    family = family_of(measure)
    return family is not None and family.reads in ("ranks", "characters")


def rescored(
    per_query: pd.DataFrame,
    scored_from: ScoringInputs,
    judgments: Sequence[Judgment],
    relevance: Mapping[str, Any],
) -> pd.DataFrame:
    """The rows of per_query.csv with the values that ``judgments`` give.

    ``relevance`` is that of the run record. Measures that need more than the folder holds, such as those
    that count tokens, are left out.
    """
    rules = RelevanceConfig(**{key: relevance[key] for key in SCORING_RULES if key in relevance})
    queries = queries_to_score(scored_from.queries, judgments, rules)
    spans = SpanQrels.from_judgments(judgments)
    measures = [name for name in dict.fromkeys(per_query["measure"]) if can_be_rescored(name)]
    values: dict[tuple[str, str, str, str], str] = {}
    scorers = {
        setting: Scorer(
            queries,
            spans,
            chunks,
            projection=projection_of(rules),
            unanswerable="zero" if rules.unanswerable == "zero" else "nan",
        )
        for setting, chunks in scored_from.chunks.items()
    }
    for (setting, stage), rankings in scored_from.rankings.items():
        table = scorers[setting].score(rankings, measures)
        for query, row in zip(table.query_ids, table.values.tolist(), strict=True):
            for measure, value in zip(measures, row, strict=True):
                values[setting, stage, query, measure] = "" if np.isnan(value) else repr(value)
    kept = per_query[per_query["measure"].isin(measures)].copy()
    keys = zip(*(kept[name] for name in ("setting", "stage", "query_id", "measure")), strict=True)
    kept["value"] = [values[key] for key in keys]
    return kept
