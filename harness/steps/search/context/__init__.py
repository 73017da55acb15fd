"""Contexts: text that is indexed around a chunk but not read. One file per kind."""

from typing import Any

from harness.steps.search.context.document import DocumentConfig, DocumentContext
from harness.steps.search.context.fields import FieldsConfig, FieldsContext
from harness.steps.search.context.headings import HeadingsConfig, HeadingsContext
from harness.steps.search.context.llm import LlmContext, LlmContextConfig
from harness.steps.search.context.neighbours import NeighboursConfig, NeighboursContext
from harness.steps.search.context.step import (
    ContextConfig,
    ContextText,
    Contextualizer,
    nested,
)
from harness.values import Kind, Kinds

KINDS: Kinds[Contextualizer[Any]] = Kinds(
    "context",
    Kind(DocumentConfig, DocumentContext),
    Kind(FieldsConfig, FieldsContext),
    Kind(HeadingsConfig, HeadingsContext),
    Kind(NeighboursConfig, NeighboursContext),
    Kind(LlmContextConfig, LlmContext),
)
