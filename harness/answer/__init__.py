"""Answers to questions, and how good they are: what was read, what was said, what is measured of it."""

from harness.answer.case import (
    AnswerMeasure,
    AnswerMeasureConfig,
    AnswerScore,
    AnswerTools,
    Case,
    Facts,
    Need,
    Shown,
)

__all__ = [
    "AnswerMeasure",
    "AnswerMeasureConfig",
    "AnswerScore",
    "AnswerTools",
    "Case",
    "Facts",
    "Need",
    "Shown",
]
