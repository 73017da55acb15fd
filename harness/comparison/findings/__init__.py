"""Comparisons for readers: the verdict on results, and the tables of `compare`.

Of settings with one another, of a result with an earlier one, and of a ranking before and after the reranker.
"""

from harness.comparison.findings.caveats import (
    filter_notes,
    filter_table,
    left_out_notes,
    ranked_alike,
    same_ranking_notes,
)
from harness.comparison.findings.changes import changed_table, cut_differently, reranked, reranked_table
from harness.comparison.findings.compared import compared_parts
from harness.comparison.findings.label_sensitivity import label_parts, sensitivity_of
from harness.comparison.findings.stored import (
    Stored,
    measure_to_take,
    names_of,
    read_stored,
    refuse_no_quality,
    scores_of,
)
from harness.comparison.findings.verdicts import (
    Scores,
    chunkings_of,
    headline_of,
    options_of,
    tokens_of,
    trust_of,
    turning_of,
    verdict_of,
)
from harness.comparison.findings.warned import warnings_of
