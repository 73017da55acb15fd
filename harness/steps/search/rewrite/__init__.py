"""Rewriters: the user's question → the queries of a retriever. One file per kind."""

from typing import Any

from harness.steps.search.query_steps import Rewriter
from harness.steps.search.rewrite.decomposition import DecompositionConfig, DecompositionRewriter
from harness.steps.search.rewrite.entities import EntitiesConfig, EntitiesRewriter
from harness.steps.search.rewrite.http import HttpRewriter, HttpRewriterConfig
from harness.steps.search.rewrite.llm import LlmRewriter, LlmRewriterConfig
from harness.steps.search.rewrite.llm_entities import LlmEntitiesConfig, LlmEntitiesRewriter
from harness.steps.search.rewrite.multi_query import MultiQueryConfig, MultiQueryRewriter
from harness.steps.search.rewrite.python import PythonRewriter, PythonRewriterConfig
from harness.steps.search.rewrite.template import TemplateConfig, TemplateRewriter
from harness.values import Kind, Kinds

KINDS: Kinds[Rewriter[Any]] = Kinds(
    "rewrite",
    Kind(TemplateConfig, TemplateRewriter),
    Kind(EntitiesConfig, EntitiesRewriter),
    Kind(LlmRewriterConfig, LlmRewriter),
    Kind(MultiQueryConfig, MultiQueryRewriter),
    Kind(DecompositionConfig, DecompositionRewriter),
    Kind(LlmEntitiesConfig, LlmEntitiesRewriter),
    Kind(PythonRewriterConfig, PythonRewriter),
    Kind(HttpRewriterConfig, HttpRewriter),
    retired={"statement": "Use `llm`, whose prompt `declarative` turns questions into statements, or none."},
)
