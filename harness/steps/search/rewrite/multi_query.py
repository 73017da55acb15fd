"""A language model rewords every question several times; each wording is searched, and all are fused."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.steps.search.rewrite.many import ManyConfig, ManyRewriter
from harness.steps.search.rewrite.prompted import RewritePrompt


class MultiQueryConfig(ManyConfig):
    """A language model words every question several times; the rankings of all wordings are fused."""

    kind: Literal["multi_query"] = "multi_query"
    prompt: RewritePrompt = Field(
        "multi_query",
        validate_default=True,
        description="`multi_query`, `multi_query_zh`, or the path of your own file; `{{ n }}` in it is "
        "replaced by `n`, and the model answers with one wording per line.",
    )
    n: int = Field(3, ge=1, le=20, description="How many wordings are requested; more are dropped.")


class MultiQueryRewriter(ManyRewriter[MultiQueryConfig]):
    """Wordings in other terms reach passages that share none with the question; fusion forgives a bad one."""
