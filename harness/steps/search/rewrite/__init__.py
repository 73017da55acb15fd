"""Rewriters: the user's question → the queries of a retriever. One file per kind."""

from typing import Any

from harness.steps.search.step import Rewriter
from harness.values import KindAt, Kinds

KINDS: Kinds[Rewriter[Any]] = Kinds(
    "rewrite",
    KindAt("template", "TemplateConfig", "TemplateRewriter", words="put into a template"),
    KindAt("statement", "StatementConfig", "StatementRewriter", words="put as statements"),
    KindAt("llm", "LlmRewriterConfig", "LlmRewriter", words="rewritten by a language model"),
    KindAt("multi_query", "MultiQueryConfig", "ManyRewriter", module="several", words="in several wordings"),
    KindAt(
        "decomposition", "DecompositionConfig", "ManyRewriter", module="several", words="split into parts"
    ),
    KindAt(
        "python", "PythonRewriterConfig", "PythonRewriter", module="own", words="rewritten by own function"
    ),
    KindAt("http", "HttpRewriterConfig", "HttpRewriter", module="own", words="rewritten by own service"),
    retired={
        **dict.fromkeys(
            ("entities", "llm_entities"),
            "Give the route a field instead, such as {kind: exact, field: entities}.",
        ),
    },
    home=__name__,
)
