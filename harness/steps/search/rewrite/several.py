"""A language model makes several questions of one, whose rankings are fused: other wordings, or parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from harness.models import prompts_of
from harness.steps.search.fuse.scores import reciprocal_ranks
from harness.steps.search.rewrite.prompted import FOLDER, PromptedConfig, RewritePrompt, ask_about, lines_of
from harness.steps.search.step import Identity, Rewriter
from harness.values import Query, Ranking, Run

# of reciprocal rank fusion
_K = 60.0


class ManyConfig(PromptedConfig):
    """Base of the configurations of rewriters that ask a language model for several questions."""

    gone: ClassVar = {
        **PromptedConfig.gone,
        **dict.fromkeys(("fuse", "rrf_k"), "this key was removed: what is found is fused by `rrf`, k: 60."),
    }
    load = prompts_of(FOLDER, RewritePrompt, "a rewriter", ("query",), ("n",))
    n: int
    with_question: bool = Field(True, description="Search the question as it is, too, as one more.")

    @property
    def most(self) -> int:
        """As many as are asked for, and the question."""
        return self.n + self.with_question


class ManyRewriter(Rewriter[ManyConfig]):
    """Asks for up to ``n`` questions in place of each, one a line.

    Wordings in other terms reach passages that share none with the question; parts suit questions whose
    answer takes several passages, such as a comparison of two years. Fusion forgives a bad one.
    """

    repeatable = True

    def identity(self) -> Identity:
        """The prompt with its number, the model, and the handling of the answers."""
        c = self.config
        form = c.prompt.form_for(c.n)
        request_facts = [form.sha256, [c.endpoint.model, c.endpoint.parameters()], c.on_failure]
        return [c.kind, request_facts, c.n, c.with_question, "rrf", _K]

    def phrasings(self, queries: Sequence[Query]) -> Run[list[tuple[Query, ...]]]:
        """The model's questions, after the user's own where it is asked too; LlmError as for `llm`."""
        form = self.config.prompt.form_for(self.config.n)
        phrasings = yield from ask_about(self.config, form, queries, lambda text: lines_of(text) or None)
        return [
            (query,) if lines is None else self._asked(query, lines)
            for query, lines in zip(queries, phrasings, strict=True)
        ]

    def fuse(self, rankings: Sequence[Ranking]) -> dict[str, float]:
        """The scores by ranks, all rankings counting alike."""
        return reciprocal_ranks(rankings, (1.0,) * len(rankings), _K)

    def _asked(self, query: Query, lines: Sequence[str]) -> tuple[Query, ...]:
        first = (query.text,) if self.config.with_question else ()
        return tuple(replace(query, text=text) for text in dict.fromkeys((*first, *lines[: self.config.n])))


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
