"""Answers to questions, and their quality: the passages read, the answers, and their measures."""

from harness.measures.answer.case import AnswerScore, Case
from harness.measures.answer.measure import AnswerMeasure, AnswerMeasureConfig, AnswerTools, MeasureFacts
