"""Prompt files of rewriters: those that come with the harness, and a user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.llm import TextForm
from harness.llm.prompt import Prompt, read_prompt
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
    """A prompt file of a rewriter, which shows the question as ``{{ query }}``."""

    @property
    def takes_number(self) -> bool:
        """Whether it says how many things are asked for."""
        return bool(_COUNT.search(self.system + self.user))

    def form_for(self, count: int) -> TextForm:
        """How a call is worded that asks for ``count`` things, which is what ``{{ n }}`` stands for."""
        system, user = (_COUNT.sub(str(count), part) for part in (self.system, self.user))
        return _ListForm(system, user, count)


def load_prompt(name: str) -> RewritePrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    return read_prompt(name, FOLDER, RewritePrompt, "a rewriter", ("query",), ("n",))
