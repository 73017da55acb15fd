"""Measures: pure functions of rankings and graded spans, vectorised over all queries.

``score`` takes rankings of chunks; a ``Scorer`` takes many rankings of the same chunks. ``FAMILIES`` is the
table of measures, and ``headline`` chooses the one that settings are compared by. ``separation`` says how
well scores tell answerable queries from others. Numpy and the core types only; bad input is a ValueError.
"""

from harness.measures.answerability import separation, thresholds
from harness.measures.chunks import ChunkTable
from harness.measures.headline import across_chunkings, across_parsers, headline, trusted_for
from harness.measures.measure import Measure
from harness.measures.projection import Projection, project
from harness.measures.qrels import SpanQrels, Text, median_length, relabelled
from harness.measures.score import UNJUDGED, Scorer, ScoreTable, compute, score
from harness.measures.table import (
    FAMILIES,
    about,
    family_of,
    is_quality,
    less_is_better,
    parse_measure,
    rank_cutoff,
    reading_depth,
)
