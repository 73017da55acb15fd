"""Filters: which documents a question names, by the fields of a table. One file per kind."""

from typing import Any

from harness.kinds import Kind, Kinds
from harness.search.filter.llm import LlmFilter, LlmFilterConfig
from harness.search.filter.rules import RulesConfig, RulesFilter
from harness.search.filter.step import Filter

KINDS: Kinds[Filter[Any]] = Kinds("filter", Kind(RulesConfig, RulesFilter), Kind(LlmFilterConfig, LlmFilter))
