"""Measures: pure functions of rankings and graded spans, for all queries at once on arrays.

``score`` takes rankings of chunks, ``FAMILIES`` is the table of measures, and ``headline`` chooses the one
that settings are compared by. ``separation`` says how well scores tell answerable queries from others. Numpy
and the core types only; bad input is a ValueError.
"""

from harness.measures.answerability import Separation, Thresholds, separation, thresholds
from harness.measures.chunks import ChunkTable
from harness.measures.grading import UNJUDGED, RankedItems
from harness.measures.headline import across_chunkings, headline, trusted_for
from harness.measures.measure import Measure
from harness.measures.projection import ChunkGrades, Projection, project
from harness.measures.qrels import SpanQrels
from harness.measures.relabel import AS_LABELLED, Text, median_length, relabelled
from harness.measures.score import ScoreTable, compute, score
from harness.measures.table import (
    FAMILIES,
    KNOWN,
    about,
    is_quality,
    less_is_better,
    parse_measure,
    rank_cutoff,
)

__all__ = [
    "AS_LABELLED",
    "FAMILIES",
    "KNOWN",
    "UNJUDGED",
    "ChunkGrades",
    "ChunkTable",
    "Measure",
    "Projection",
    "RankedItems",
    "ScoreTable",
    "Separation",
    "SpanQrels",
    "Text",
    "Thresholds",
    "about",
    "across_chunkings",
    "compute",
    "headline",
    "is_quality",
    "less_is_better",
    "median_length",
    "parse_measure",
    "project",
    "rank_cutoff",
    "relabelled",
    "score",
    "separation",
    "thresholds",
    "trusted_for",
]
