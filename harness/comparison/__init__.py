"""Compare settings by query: which is best, by how much, is it real, where is quality lost.

Everything starts from a ``ScoreMatrix``, settings × queries of one measure. docs/statistics.md says which
method is used for what, and how well it keeps its promises.
"""

from harness.comparison.comparable import ScoredOn, join, joined_names
from harness.comparison.conclude import conclude
from harness.comparison.family import compare_changes
from harness.comparison.gate import gate, github_annotations, junit
from harness.comparison.matrix import ScoreMatrix, from_scores, from_table
from harness.comparison.means import mean_of
from harness.comparison.paired import Comparison, Options
from harness.comparison.pareto import Step, front
from harness.comparison.selection import cross_validate, select
from harness.comparison.verdict import (
    Costs,
    Holes,
    Trust,
    Turning,
    Verdict,
)
from harness.comparison.verdict_json import verdict_json
from harness.comparison.warned import warning_lines
from harness.comparison.words import finding_cell, sentences_of
