"""Answerers: a question and passages → an answer. One file per kind."""

from typing import Any

from harness.steps.answer.step import Answerer
from harness.values import KindAt, Kinds

ANSWERERS: Kinds[Answerer[Any]] = Kinds(
    "answer",
    KindAt("llm", "LlmAnswerConfig", "LlmAnswerer"),
    KindAt("extractive", "ExtractiveConfig", "ExtractiveAnswerer"),
    home=__name__,
)
