"""Contexts: text that is indexed around a chunk but not read. One file per kind."""

from typing import Any

from harness.steps.search.context.step import Contextualizer
from harness.values import KindAt, Kinds

KINDS: Kinds[Contextualizer[Any]] = Kinds(
    "context",
    KindAt("document", "DocumentConfig", "DocumentContext"),
    KindAt("fields", "FieldsConfig", "FieldsContext"),
    KindAt("headings", "HeadingsConfig", "HeadingsContext"),
    KindAt("neighbours", "NeighboursConfig", "NeighboursContext"),
    KindAt("llm", "LlmContextConfig", "LlmContext"),
    home=__name__,
)
