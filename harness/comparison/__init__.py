"""Compare settings by query: which is best, by how much, is it real, where is quality lost.

Everything starts from a ``ScoreMatrix``, settings × queries of one measure. docs/statistics.md says which
method is used for what, and how well it keeps its promises.
"""

from harness.comparison.comparable import ScoredOn, differences, join, joined_names, matrix_differences
from harness.comparison.conclude import conclude
from harness.comparison.family import compare_changes, compare_to
from harness.comparison.gate import Check, GateResult, gate, github_annotations, junit
from harness.comparison.holes import ENOUGH_JUDGED, Holes
from harness.comparison.labels import Turning
from harness.comparison.matrix import FINAL, ScoreMatrix, from_scores, from_table
from harness.comparison.means import Estimate, bounds_of_means, mean_of
from harness.comparison.paired import FEWEST_TO_CHOOSE, Comparison, Options, compare_pair
from harness.comparison.pareto import Step, front
from harness.comparison.selection import CrossValidation, Selection, cross_validate, select
from harness.comparison.split import folds
from harness.comparison.verdict import LABELS, Costs, Line, Standing, Trust, Verdict
from harness.comparison.verdict_json import verdict_json
from harness.comparison.waterfall import Level, Waterfall, waterfall
from harness.comparison.words import FEWEST_FOR_INTERVAL, lines_of, p_value, said, sentences_of
from harness.stats.units import Units, icc, units_of

__all__ = [
    "ENOUGH_JUDGED",
    "FEWEST_FOR_INTERVAL",
    "FEWEST_TO_CHOOSE",
    "FINAL",
    "LABELS",
    "Check",
    "Comparison",
    "Costs",
    "CrossValidation",
    "Estimate",
    "GateResult",
    "Holes",
    "Level",
    "Line",
    "Options",
    "ScoreMatrix",
    "ScoredOn",
    "Selection",
    "Standing",
    "Step",
    "Trust",
    "Turning",
    "Units",
    "Verdict",
    "Waterfall",
    "bounds_of_means",
    "compare_changes",
    "compare_pair",
    "compare_to",
    "conclude",
    "cross_validate",
    "differences",
    "folds",
    "from_scores",
    "from_table",
    "front",
    "gate",
    "github_annotations",
    "icc",
    "join",
    "joined_names",
    "junit",
    "lines_of",
    "matrix_differences",
    "mean_of",
    "p_value",
    "said",
    "select",
    "sentences_of",
    "units_of",
    "verdict_json",
    "waterfall",
]
