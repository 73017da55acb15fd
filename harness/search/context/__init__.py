"""Contexts: text that is indexed around a chunk but not read. One file per kind."""

from typing import Any

from harness.kinds import Kind, Kinds
from harness.search.context.document import DocumentConfig, DocumentContext
from harness.search.context.fields import FieldsConfig, FieldsContext
from harness.search.context.headings import HeadingsConfig, HeadingsContext
from harness.search.context.llm import LlmContext, LlmContextConfig
from harness.search.context.neighbours import NeighboursConfig, NeighboursContext
from harness.search.context.step import (
    ContextConfig,
    ContextText,
    Contextualizer,
    nested,
)

KINDS: Kinds[Contextualizer[Any]] = Kinds(
    "context",
    Kind(DocumentConfig, DocumentContext),
    Kind(FieldsConfig, FieldsContext),
    Kind(HeadingsConfig, HeadingsContext),
    Kind(NeighboursConfig, NeighboursContext),
    Kind(LlmContextConfig, LlmContext),
)
