"""Filters: which documents a question names, by the fields of a table. One file per kind."""

from typing import Any

from harness.steps.search.filter.step import Filter
from harness.values import KindAt, Kinds

KINDS: Kinds[Filter[Any]] = Kinds(
    "filter",
    KindAt("rules", "RulesConfig", "RulesFilter"),
    KindAt("llm", "LlmFilterConfig", "LlmFilter"),
    home=__name__,
)
