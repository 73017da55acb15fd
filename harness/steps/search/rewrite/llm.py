"""Rewriters that ask a language model: their keys, the call, failures; for wordings, names, questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import Field

from harness.models import FailurePolicy, LlmStepConfig, Prompt, Request, TextForm, read_prompt, text_of
from harness.steps.search.fuse import Fusion
from harness.steps.search.fuse.scores import MinMax, MinMaxConfig, Rrf, RrfConfig
from harness.steps.search.rewrite.entities import NamingConfig, NamingRewriter
from harness.steps.search.step import Identity, Rewriter, RewriterConfig, SeveralRewriter
from harness.steps.search.tools import Tools
from harness.values import ConfigError, LlmCall, Query, Ranking

FOLDER = Path(__file__).parent / "prompts"
_COUNT = re.compile(r"\{\{ *n *\}\}")
_FAILING = FailurePolicy(
    "queries have no usable rewriting",
    ("rewrite", "as_asked"),
    "are searched as they are",
    "search with them as they are",
)

T = TypeVar("T")
# A bullet, or a number that ends in a mark and a blank: "3M" and "2.5 GHz" are not numbering.
_MARK = re.compile(r"^(?:[-*•–]\s+|[(（]?\d{1,2}(?:[.):]\s+|[、．）]\s*))")
_AROUND = {'"': '"', "“": "”", "「": "」", "'": "'"}
_FENCE = "```"
_NONE = frozenset({"none", "none.", "n/a", "无", "无。", "没有"})


@dataclass(frozen=True, slots=True)
class _ListForm(TextForm):
    """A prompt that is answered by ``count`` lines."""

    count: int = 1

    def shortest(self, call: LlmCall) -> str:
        """As many lines as are asked for, each as long as the query."""
        return "\n".join([TextForm.shortest(self, call)] * self.count)


class RewritePrompt(Prompt):
    """A prompt file of a rewriter, which shows the question as ``{{ query }}``."""

    @property
    def takes_number(self) -> bool:
        """Whether it says how many things are asked for."""
        return bool(_COUNT.search(self.system + self.user))

    def form_for(self, count: int) -> TextForm:
        """How a call is worded that asks for ``count`` things, which is what ``{{ n }}`` stands for."""
        return _ListForm(*self.filled(n=str(count)), count)


class PromptedConfig(LlmStepConfig, RewriterConfig):
    """Base of the configurations of rewriters that ask a language model about every query."""

    takes_number: ClassVar[bool] = False
    prompt: RewritePrompt
    on_failure: Literal["fail", "as_asked"] = Field(
        "fail",
        description="A question with no usable rewriting ends the run or is searched as it is (`as_asked`), "
        "and the run lists them.",
    )

    @classmethod
    def load(cls, name: str) -> RewritePrompt:
        """Read the prompt of this name; raises ConfigError for one that cannot be used."""
        prompt = read_prompt(name, FOLDER, RewritePrompt, "a rewriter", ("query",), ("n",))
        if prompt.takes_number and not cls.takes_number:
            raise ConfigError(
                f"the prompt {name} asks for {{{{ n }}}} things, one a line, as the kinds multi_query and "
                "decomposition read them"
            )
        return prompt


def identity_of(config: PromptedConfig, form: TextForm) -> Identity:
    """The prompt, the model and its parameters, and the handling of an answer that cannot be used."""
    return [form.sha256, [config.endpoint.model, config.endpoint.parameters()], config.on_failure]


def ask_about(
    config: PromptedConfig,
    form: TextForm,
    queries: Sequence[Query],
    tools: Tools,
    read: Callable[[str], T | None],
) -> list[T | None]:
    """The model's answer about each query as ``read`` parses it; None if it is unusable.

    Raises LlmError that names such queries, unless they are to be asked as they are.
    """
    about = [(query.text, ()) for query in queries]
    answers = tools.answers(Request(config, form, about, config.prompt.name, "rewriting"))
    words = [text_of(answer) for answer in answers]
    found = [None if text is None else read(text) for text in words]
    failed = {
        query.query_id: answer.reason or "no words"
        for query, answer, one in zip(queries, answers, found, strict=True)
        if one is None
    }
    _FAILING.report(config, failed, len(queries), tools.reporter)
    return found


def lines_of(text: str) -> list[str]:
    """The distinct lines of an answer in their order, without list marks, quotation marks and code fences."""
    found: dict[str, None] = {}
    for raw in text.splitlines():
        line = _MARK.sub("", raw.strip()).strip()
        if len(line) > 1 and _AROUND.get(line[0]) == line[-1]:
            line = line[1:-1].strip()
        if line and not line.startswith(_FENCE):
            found[line] = None
    return list(found)


class LlmRewriterConfig(PromptedConfig):
    """A language model rewrites every question; its answers are paid once and kept in the ledger."""

    kind: Literal["llm"] = "llm"
    prompt: RewritePrompt = Field(
        "declarative",
        validate_default=True,
        description="`declarative`, `declarative_zh` (a statement), `hyde`, `hyde_zh` (a hypothetical "
        "passage), or the path of your own file: it ends in `.yaml`, and its `user` part has `{{ query }}`.",
    )
    with_question: bool = Field(
        False, description="Search with the question too, on the line before its rewritten form."
    )


class LlmRewriter(Rewriter[LlmRewriterConfig]):
    """Gao et al., Precise zero-shot dense retrieval without relevance labels, ACL 2023, for `hyde`.

    With the question before the passage: Wang et al., Query2doc, EMNLP 2023.
    """

    repeatable = True

    def identity(self) -> Identity:
        """The prompt, the model and its parameters, and the handling of an answer."""
        c = self.config
        asked = [c.endpoint.model, c.endpoint.parameters()]
        return ["llm", c.prompt.form.sha256, asked, c.with_question, c.on_failure]

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """The model's words for every question; raises LlmError if one has none and that is a failure."""
        texts = ask_about(self.config, self.config.prompt.form, queries, tools, read=str)
        return [
            query if text is None else replace(query, text=self._asked(query.text, text))
            for query, text in zip(queries, texts, strict=True)
        ]

    def _asked(self, question: str, text: str) -> str:
        return f"{question}\n{text}" if self.config.with_question else text


class LlmEntitiesConfig(PromptedConfig, NamingConfig):
    """Asks for what a question names, as a language model finds it; meant for one of several routes."""

    kind: Literal["llm_entities"] = "llm_entities"
    prompt: RewritePrompt = Field(
        "entities",
        validate_default=True,
        description="`entities`, `entities_zh`, or the path of your own file; the model answers with one "
        "name per line, or `none`.",
    )


class LlmEntitiesRewriter(NamingRewriter[LlmEntitiesConfig]):
    """The names, one after the other, are the query; an answer of `none` is not a failure."""

    def identity(self) -> Identity:
        """The prompt, the model, and the handling of a question without names."""
        c = self.config
        return [c.kind, identity_of(c, c.prompt.form), c.without]

    def names(self, queries: Sequence[Query], tools: Tools) -> list[list[str] | None]:
        """The names that the model finds; raises LlmError as `llm` does."""
        return ask_about(self.config, self.config.prompt.form, queries, tools, names_of)


def names_of(text: str) -> list[str] | None:
    """The names in an answer, one a line, [] for an answer of none; None for no words."""
    lines = lines_of(text)
    return [line for line in lines if line.lower() not in _NONE] if lines else None


# Only the rule is used of a fusion, so that it needs no routes.
_FUSIONS: dict[str, Callable[[float], Fusion[Any]]] = {
    "rrf": lambda k: Rrf(RrfConfig.model_construct(routes=(), k=k)),
    "minmax": lambda k: MinMax(MinMaxConfig.model_construct(routes=())),
}


class ManyConfig(PromptedConfig):
    """Base of the configurations of rewriters that ask a language model for several questions."""

    takes_number: ClassVar[bool] = True
    n: int
    with_question: bool = Field(True, description="Search the question as it is, too, as one more.")
    fuse: Literal["rrf", "minmax"] = Field(
        "rrf",
        description="How what they find becomes one ranking: by the fusion of that name, all counting alike.",
    )
    rrf_k: float = Field(
        60.0, ge=0, description="For `fuse: rrf`: what is added to a rank: the larger, the flatter."
    )


class ManyRewriter(SeveralRewriter[ManyConfig]):
    """Asks for up to ``n`` questions in place of each, one a line.

    Wordings in other terms reach passages that share none with the question; parts suit questions whose
    answer takes several passages, such as a comparison of two years. Fusion forgives a bad one.
    """

    def identity(self) -> Identity:
        """The prompt with its number, the model, and the handling of the answers."""
        c = self.config
        form = c.prompt.form_for(c.n)
        return [c.kind, identity_of(c, form), c.n, c.with_question, c.fuse, c.rrf_k]

    def phrasings(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """The model's questions, after the user's own where it is asked too; LlmError as for `llm`."""
        form = self.config.prompt.form_for(self.config.n)
        found = ask_about(self.config, form, queries, tools, lambda text: lines_of(text) or None)
        return [
            (query,) if lines is None else self._asked(query, lines)
            for query, lines in zip(queries, found, strict=True)
        ]

    def fuse(self, rankings: Sequence[Ranking]) -> dict[str, float]:
        """The scores by the configured fusion."""
        return _FUSIONS[self.config.fuse](self.config.rrf_k).combine(rankings, (1.0,) * len(rankings))

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
