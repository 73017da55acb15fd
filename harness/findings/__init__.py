"""Comparisons as tables to be read: statistics of `compare` in the form that `report` writes.

Of settings with one another, of a result with an earlier one, and of a ranking before and after the reranker.
"""

from harness.findings.changes import changed_table, reranked_table
from harness.findings.compared import Compared, Costs, compare_settings, leader_table
from harness.findings.label_sensitivity import LabelSensitivity, label_parts, label_sensitivity

__all__ = [
    "Compared",
    "Costs",
    "LabelSensitivity",
    "changed_table",
    "compare_settings",
    "label_parts",
    "label_sensitivity",
    "leader_table",
    "reranked_table",
]
