"""Every pair of settings compared, without the choice and the words that ``harness compare`` adds."""

from harness.comparison import Comparison, Options, ScoreMatrix
from harness.comparison.paired import all_pairs, compare_rows, usable
from harness.comparison.stats import units_of


def compare_all(matrix: ScoreMatrix, options: Options | None = None) -> list[Comparison]:
    """Every pair of settings, better against worse, over the queries for which the measure is defined."""
    defined = usable(matrix)
    units = units_of(defined.clusters, len(defined.query_ids))
    found, _ = compare_rows(defined.settings, defined.values, all_pairs(defined), units, options or Options())
    return found
