"""A language model takes a question apart into simpler ones; each is searched, and all are fused."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.steps.search.rewrite.many import ManyConfig, ManyRewriter
from harness.steps.search.rewrite.prompted import RewritePrompt


class DecompositionConfig(ManyConfig):
    """A language model takes every question apart; the rankings of its parts are fused."""

    kind: Literal["decomposition"] = "decomposition"
    prompt: RewritePrompt = Field(
        "decomposition",
        validate_default=True,
        description="`decomposition`, `decomposition_zh`, or the path of your own file; `{{ n }}` in it is "
        "replaced by `n`, and the model answers with one question per line.",
    )
    n: int = Field(4, ge=1, le=20, description="The maximum number of parts requested; more are dropped.")


class DecompositionRewriter(ManyRewriter[DecompositionConfig]):
    """For questions whose answer takes several passages, such as a comparison of two years."""
