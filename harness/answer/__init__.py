"""Answers to questions, and their quality: the passages read, the answers, and their measures."""

from harness.answer.case import AnswerScore, Case
from harness.answer.measure import AnswerMeasure, AnswerMeasureConfig, AnswerTools, MeasureFacts
