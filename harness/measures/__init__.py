"""Measures: pure functions of rankings and graded spans, vectorised over all queries.

A ``Scorer`` takes rankings of the chunks of one chunking. ``FAMILIES`` is the table of measures, and
``headline`` chooses the one that settings are compared by. ``separation`` says how well scores tell
answerable queries from others. Numpy and the core types only; bad input is a ValueError.
"""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.measures.answer.answer_measure import AnswerMeasure, Case, PairModel
    from harness.measures.answer.aspects import ASPECTS
    from harness.measures.answer.citations import Fact, fact_of, holds
    from harness.measures.answer.llm_measure import LlmMeasure
    from harness.measures.answer.measures import AGAINST_GOLDEN, ANSWER_MEASURES, EXPLAINING, in_tiers
    from harness.measures.answer.responses import refuses
    from harness.measures.answer.similarity import words_of
    from harness.measures.answerability import separation, thresholds
    from harness.measures.documents import CONVENTIONS, Convention, find_convention, grade_documents
    from harness.measures.evidence_ndcg import HALF, discount, stretch_of
    from harness.measures.measure import Family, Measure, arguments
    from harness.measures.order import rank_grouped, rank_rows, tie_groups
    from harness.measures.projection import ChunkTable, Projection, overlapping, project
    from harness.measures.qrels import (
        AS_LABELLED,
        SpanQrels,
        Text,
        in_sentences,
        median_length,
        padded,
        relabelled,
        trimmed,
    )
    from harness.measures.ragged import AnyArray, Bools, Floats, Ints, before, offsets_of, owners, slices
    from harness.measures.ranked import Graded, dcg, gain_exp, gain_lin, seed_ratio
    from harness.measures.scorer import UNJUDGED, Scorer, ScoreTable, compute
    from harness.measures.table import (
        FAMILIES,
        across_chunkings,
        across_parsers,
        family_of,
        headline,
        is_quality,
        judged_share,
        less_is_better,
        parse_measure,
        rank_cutoff,
        reading_depth,
        trusted_for,
        upper_of,
    )
    from harness.measures.text_ndcg import Depth, RankedTokens, paid_up_to, tokens_to
    from harness.measures.trail import TokenBoundaries, Trail, Unit
else:
    __getattr__ = door(
        __name__,
        {
            "harness.measures.answer.answer_measure": "AnswerMeasure Case PairModel",
            "harness.measures.answer.aspects": "ASPECTS",
            "harness.measures.answer.citations": "Fact fact_of holds",
            "harness.measures.answer.llm_measure": "LlmMeasure",
            "harness.measures.answer.measures": "AGAINST_GOLDEN ANSWER_MEASURES EXPLAINING in_tiers",
            "harness.measures.answer.responses": "refuses",
            "harness.measures.answer.similarity": "words_of",
            "harness.measures.answerability": "separation thresholds",
            "harness.measures.documents": "CONVENTIONS Convention find_convention grade_documents",
            "harness.measures.evidence_ndcg": "HALF discount stretch_of",
            "harness.measures.measure": "Family Measure arguments",
            "harness.measures.order": "rank_grouped rank_rows tie_groups",
            "harness.measures.projection": "ChunkTable Projection overlapping project",
            "harness.measures.qrels": (
                "AS_LABELLED SpanQrels Text in_sentences median_length padded relabelled trimmed"
            ),
            "harness.measures.ragged": "AnyArray Bools Floats Ints before offsets_of owners slices",
            "harness.measures.ranked": "Graded dcg gain_exp gain_lin seed_ratio",
            "harness.measures.scorer": "ScoreTable Scorer UNJUDGED compute",
            "harness.measures.table": (
                "FAMILIES across_chunkings across_parsers family_of headline is_quality judged_share "
                "less_is_better parse_measure rank_cutoff reading_depth trusted_for upper_of"
            ),
            "harness.measures.text_ndcg": "Depth RankedTokens paid_up_to tokens_to",
            "harness.measures.trail": "TokenBoundaries Trail Unit",
        },
    )
