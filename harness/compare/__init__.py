"""Compare settings by query: which is best, by how much, is it real, where is quality lost.

Everything starts from a ``ScoreMatrix``, settings × queries of one measure. docs/statistics.md says which
method is used for what, and how well it keeps its promises.
"""

from harness.compare.comparable import ScoredOn, differences, join, joined_names, matrix_differences
from harness.compare.conclude import conclude
from harness.compare.family import compare_all, compare_changes, compare_to
from harness.compare.gate import Check, GateResult, gate, github_annotations, junit
from harness.compare.holes import ENOUGH_JUDGED, Holes
from harness.compare.labels import Turning
from harness.compare.matrix import FINAL, ScoreMatrix, from_scores, from_table
from harness.compare.means import Estimate, bounds_of_means, mean_of
from harness.compare.paired import FEWEST_TO_CHOOSE, Comparison, Options, compare_pair
from harness.compare.pareto import Step, front
from harness.compare.selection import CrossValidation, Selection, cross_validate, select
from harness.compare.split import folds
from harness.compare.verdict import LABELS, Costs, Line, Standing, Trust, Verdict
from harness.compare.verdict_json import verdict_json
from harness.compare.waterfall import Level, Waterfall, waterfall
from harness.compare.words import FEWEST_FOR_INTERVAL, lines_of, p_value, said, sentences_of
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
    "compare_all",
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
