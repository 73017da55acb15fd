"""Answers to questions, and how good they are: what was read, what was answered, how it is measured."""

from harness.answer.case import AnswerScore, Case
from harness.answer.measure import AnswerMeasure, AnswerMeasureConfig, AnswerTools, MeasureFacts, Need
