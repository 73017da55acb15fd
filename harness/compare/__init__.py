"""Compare settings by query: which is best, by how much, is it real, where is quality lost.

Everything starts from a ``ScoreMatrix``, settings × queries of one measure. docs/statistics.md says which
method is used for what, and how well it keeps its promises.
"""

from harness.compare.advice import Advice, advise
from harness.compare.best_set import BestSet, best_set
from harness.compare.comparable import ScoredOn, differences, join, joined_names, matrix_differences
from harness.compare.family import compare_all, compare_to, holm
from harness.compare.gate import Check, GateResult, gate, github_annotations, junit
from harness.compare.matrix import FINAL, ScoreMatrix, from_scores, from_table
from harness.compare.paired import Comparison, Options, compare_pair
from harness.compare.pareto import Step, front
from harness.compare.randomise import randomisation_test
from harness.compare.selection import CrossValidation, Estimate, Selection, cross_validate, select
from harness.compare.split import folds, split_queries
from harness.compare.waterfall import STAGES, Blame, Levels, Waterfall, blamed, waterfall, worst_queries

__all__ = [
    "FINAL",
    "STAGES",
    "Advice",
    "BestSet",
    "Blame",
    "Check",
    "Comparison",
    "CrossValidation",
    "Estimate",
    "GateResult",
    "Levels",
    "Options",
    "ScoreMatrix",
    "ScoredOn",
    "Selection",
    "Step",
    "Waterfall",
    "advise",
    "best_set",
    "blamed",
    "compare_all",
    "compare_pair",
    "compare_to",
    "cross_validate",
    "differences",
    "folds",
    "from_scores",
    "from_table",
    "front",
    "gate",
    "github_annotations",
    "holm",
    "join",
    "joined_names",
    "junit",
    "matrix_differences",
    "randomisation_test",
    "select",
    "split_queries",
    "waterfall",
    "worst_queries",
]
