"""Prompt files of rewriters: those that come with the harness, and a user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError
from harness.llm import TextForm
from harness.llm.prompt_files import built_in, parse, prompt_path, read_content, slots_of
from harness.search.prompts import Prompt
from harness.types import Asked

FOLDER = Path(__file__).parent / "prompts"
_COUNT = re.compile(r"\{\{ *n *\}\}")


@dataclass(frozen=True, slots=True)
class _ListForm(TextForm):
    """A prompt that is answered by ``count`` lines."""

    count: int = 1

    def shortest(self, asked: Asked) -> str:
        """As many lines as are asked for, each as long as the query."""
        return "\n".join([TextForm.shortest(self, asked)] * self.count)


class RewritePrompt(Prompt):
    """A prompt file of a rewriter, whose user message shows the question as ``{{ query }}``."""

    @property
    def form(self) -> TextForm:
        """How a call is worded."""
        return TextForm(self.system, self.user)

    @property
    def takes_number(self) -> bool:
        """Whether it says how many things are asked for."""
        return bool(_COUNT.search(self.system + self.user))

    def form_for(self, count: int) -> TextForm:
        """How a call is worded that asks for ``count`` things, which is what ``{{ n }}`` stands for."""
        system, user = (_COUNT.sub(str(count), part) for part in (self.system, self.user))
        return _ListForm(system, user, count)


def built_in_prompts() -> list[str]:
    """The names of the prompts that come with the harness."""
    return built_in(FOLDER)


def load_prompt(name: str) -> RewritePrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    known = {"id": prompt_path(name, FOLDER).stem}
    prompt = parse(read_content(name, FOLDER, "rewriter"), name, RewritePrompt, known)
    if "query" not in slots_of(prompt.user):
        raise ConfigError(f"The prompt file {name} has no {{{{ query }}}} in its user part.")
    if "passages" in slots_of(prompt.system, prompt.user):
        raise ConfigError(f"The prompt file {name} shows passages, and a rewriter is given none.")
    return prompt
