"""Answerers: a question and passages → an answer. One file per kind."""

from typing import Any

from harness.steps.answer.extractive import ExtractiveAnswerer, ExtractiveConfig
from harness.steps.answer.llm import LlmAnswerConfig, LlmAnswerer
from harness.steps.answer.step import AnswerConfig, Answerer, AnswerInput, Reply, passages_read
from harness.values import Kind, Kinds

ANSWERERS: Kinds[Answerer[Any]] = Kinds(
    "answer",
    Kind(LlmAnswerConfig, LlmAnswerer),
    Kind(ExtractiveConfig, ExtractiveAnswerer),
)
