"""Rewriters: the user's question → the queries of a retriever. One file per kind."""

from typing import Any

from harness.steps.search.step import Rewriter
from harness.values import KindAt, Kinds

KINDS: Kinds[Rewriter[Any]] = Kinds(
    "rewrite",
    KindAt("template", "TemplateConfig", "TemplateRewriter"),
    KindAt("llm", "LlmRewriterConfig", "LlmRewriter"),
    KindAt("multi_query", "MultiQueryConfig", "ManyRewriter", module="several"),
    KindAt("decomposition", "DecompositionConfig", "ManyRewriter", module="several"),
    KindAt("python", "PythonRewriterConfig", "PythonRewriter", module="own"),
    KindAt("http", "HttpRewriterConfig", "HttpRewriter", module="own"),
    retired={
        "statement": "Use `llm`, whose prompt `declarative` turns questions into statements, or none.",
        **dict.fromkeys(
            ("entities", "llm_entities"),
            "Use `llm` with a prompt of your own that asks for what the question names, or a `filter` of "
            "documents.",
        ),
    },
    home=__name__,
)
