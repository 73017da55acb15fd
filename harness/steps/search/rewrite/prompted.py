"""What rewriters that ask a language model share: their prompts and keys, the call, failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from harness.models import FailurePolicy, LlmStepConfig, Prompt, Request, TextForm, prompts_of
from harness.steps.search.needs import Warned, answers_of
from harness.steps.search.search_wordings import FAILURES
from harness.steps.search.step import RewriterConfig
from harness.values import LlmCall, Query, Run, Silent

FOLDER = Path(__file__).parent / "prompts"
_FAILING = FailurePolicy(FAILURES, "rewrite", "as_asked")

T = TypeVar("T")
# A bullet, or a number that ends in a mark and a blank: "3M" and "2.5 GHz" are not numbering.
_MARK = re.compile(r"^(?:[-*•–]\s+|[(（]?\d{1,2}(?:[.):]\s+|[、．）]\s*))")
_AROUND = {'"': '"', "“": "”", "「": "」", "'": "'"}
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class _ListForm(TextForm):
    """A prompt that is answered by ``count`` lines."""

    count: int = 1

    def shortest(self, call: LlmCall) -> str:
        """As many lines as are asked for, each as long as the query."""
        return "\n".join([TextForm.shortest(self, call)] * self.count)


class RewritePrompt(Prompt):
    """A prompt file of a rewriter, which shows the question as ``{{ query }}``."""

    def form_for(self, count: int) -> TextForm:
        """How a call is worded that asks for ``count`` things, which is what ``{{ n }}`` stands for."""
        return _ListForm(*self.filled(n=str(count)), count)


class PromptedConfig(LlmStepConfig, RewriterConfig):
    """Base of the configurations of rewriters that ask a language model about every query."""

    load = prompts_of(FOLDER, RewritePrompt, "a rewriter of this kind", ("query",))
    prompt: RewritePrompt
    on_failure: Literal["fail", "as_asked"] = Field(
        "fail",
        description="A question with no usable rewriting ends the run or is searched as it is (`as_asked`), "
        "and the run lists them.",
    )

    @property
    def longest(self) -> int:
        """A whole answer."""
        return self.endpoint.longest_answer


def ask_about(
    config: PromptedConfig,
    form: TextForm,
    queries: Sequence[Query],
    read: Callable[[str], T | None],
) -> Run[list[T | None]]:
    """The model's answer about each query as ``read`` parses it; None if it is unusable.

    Raises LlmError that names such queries, unless they are to be asked as they are.
    """
    about = [(query.text, ()) for query in queries]
    answers = yield from answers_of(Request(config, form, about, config.prompt.name, "rewriting"))
    names, heard = (query.query_id for query in queries), Silent()
    usable = _FAILING.usable(config, names, answers, read, heard)
    yield Warned(heard.warnings)
    return usable


def lines_of(text: str) -> list[str]:
    """The distinct lines of an answer in their order, without list marks, quotation marks and code fences."""
    lines: dict[str, None] = {}
    for raw in text.splitlines():
        line = _MARK.sub("", raw.strip()).strip()
        if len(line) > 1 and _AROUND.get(line[0]) == line[-1]:
            line = line[1:-1].strip()
        if line and not line.startswith(_FENCE):
            lines[line] = None
    return list(lines)
