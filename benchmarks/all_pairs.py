"""Every pair of settings compared, without the choice and the words that ``harness compare`` adds."""

from harness.comparison import Comparison, Options, ScoreMatrix
from harness.comparison.family import all_pairs, usable
from harness.comparison.paired import compare_rows
from harness.comparison.stats.units import units_of


def compare_all(matrix: ScoreMatrix, options: Options | None = None) -> list[Comparison]:
    """Every pair of settings, better against worse, over the queries for which the measure is defined."""
    defined = usable(matrix)
    units = units_of(defined.clusters, len(defined.query_ids))
    found, _ = compare_rows(defined.settings, defined.values, all_pairs(defined), units, options or Options())
    return found
