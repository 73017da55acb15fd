"""Answerers: a question and passages → an answer. One file per kind."""

from typing import Any

from harness.answer.stage.extractive import ExtractiveAnswerer, ExtractiveConfig
from harness.answer.stage.llm import LlmAnswerConfig, LlmAnswerer
from harness.answer.stage.step import AnswerConfig, Answerer, AnswerInput, Reply, passages_read
from harness.kinds import Kind, Kinds

ANSWERERS: Kinds[Answerer[Any]] = Kinds(
    "answer",
    Kind(LlmAnswerConfig, LlmAnswerer),
    Kind(ExtractiveConfig, ExtractiveAnswerer),
)
