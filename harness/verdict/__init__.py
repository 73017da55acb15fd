"""Comparisons as things to be read: the verdict on results, and the tables of `compare`.

Of settings with one another, of a result with an earlier one, and of a ranking before and after the reranker.
"""

from harness.verdict.changes import changed_table, reranked, reranked_table
from harness.verdict.compared import compared_parts, standings_table
from harness.verdict.costs import costs_of
from harness.verdict.filters import filter_notes, filter_table
from harness.verdict.label_sensitivity import (
    LabelSensitivity,
    label_parts,
    sensitivity_of,
)
from harness.verdict.stored import (
    Stored,
    common_measures,
    measure_to_take,
    names_of,
    read_stored,
    refuse_no_quality,
    scores_of,
)
from harness.verdict.verdicts import (
    Scores,
    chunkings_of,
    headline_of,
    options_of,
    turning_of,
    verdict_of,
)

__all__ = [
    "LabelSensitivity",
    "Scores",
    "Stored",
    "changed_table",
    "chunkings_of",
    "common_measures",
    "compared_parts",
    "costs_of",
    "filter_notes",
    "filter_table",
    "headline_of",
    "label_parts",
    "measure_to_take",
    "names_of",
    "options_of",
    "read_stored",
    "refuse_no_quality",
    "reranked",
    "reranked_table",
    "scores_of",
    "sensitivity_of",
    "standings_table",
    "turning_of",
    "verdict_of",
]
