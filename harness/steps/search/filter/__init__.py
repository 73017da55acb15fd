"""Filters: which documents a question names, by the fields of a table. One file per kind."""

from typing import Any

from harness.steps.search.filter.llm import LlmFilter, LlmFilterConfig
from harness.steps.search.filter.rules import RulesConfig, RulesFilter
from harness.steps.search.filter.step import Filter
from harness.values import Kind, Kinds

KINDS: Kinds[Filter[Any]] = Kinds("filter", Kind(RulesConfig, RulesFilter), Kind(LlmFilterConfig, LlmFilter))
