"""Rewriters: the user's question → the queries of a retriever. One file per kind."""

from typing import Any

from harness.steps.search.step import Rewriter
from harness.values import KindAt, Kinds

KINDS: Kinds[Rewriter[Any]] = Kinds(
    "rewrite",
    KindAt("template", "TemplateConfig", "TemplateRewriter"),
    KindAt("entities", "EntitiesConfig", "EntitiesRewriter"),
    KindAt("llm", "LlmRewriterConfig", "LlmRewriter"),
    KindAt("multi_query", "MultiQueryConfig", "ManyRewriter", module="several"),
    KindAt("decomposition", "DecompositionConfig", "ManyRewriter", module="several"),
    KindAt("llm_entities", "LlmEntitiesConfig", "LlmEntitiesRewriter"),
    KindAt("python", "PythonRewriterConfig", "PythonRewriter", module="own"),
    KindAt("http", "HttpRewriterConfig", "HttpRewriter", module="own"),
    retired={"statement": "Use `llm`, whose prompt `declarative` turns questions into statements, or none."},
    home=__name__,
)
