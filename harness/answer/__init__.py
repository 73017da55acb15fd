"""Answers to questions, and how good they are: what was read, what was said, what is measured of it."""

from harness.answer.case import AnswerScore, Case
from harness.answer.measure import AnswerMeasure, AnswerMeasureConfig, AnswerTools, Facts, Need
