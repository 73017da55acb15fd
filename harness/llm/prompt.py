"""A prompt in words, as its file says it, and how such a file is read and checked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm.form import TextForm
from harness.llm.prompt_files import parse, prompt_path, read_content, slots_of


class Prompt(StageConfig):
    """A prompt file. Its words are its identity in the ledger, whatever it is called."""

    id: str = Field("", description="Its name; empty: that of the file.")
    version: int = Field(1, description="Which of its versions it is.")
    language: str = Field("", description="The language it is written in.")
    description: str = Field("", description="What it asks for.")
    system: str = Field("", description="The system message; may be empty.")
    user: str = Field(description="The user message.")

    @property
    def name(self) -> str:
        """What it is called where its answers are counted."""
        return f"{self.id} v{self.version}"

    @property
    def form(self) -> TextForm:
        """How a call is worded that is answered in words."""
        return TextForm(self.system, self.user)


P = TypeVar("P", bound=Prompt)


def read_prompt(
    name: str, folder: Path, model: type[P], whose: str, slots: Collection[str], also: Collection[str] = ()
) -> P:
    """A prompt by its name among those of ``folder``, or a user's file when it ends in ``.yaml``.

    ``whose`` says who is prompted by it, such as ``a rewriter``. It shows each of ``slots`` at least once,
    those of ``also`` where it likes, and no other. Raises ConfigError for a file that cannot be used.
    """
    known = {"id": prompt_path(name, folder).stem}
    prompt = parse(read_content(name, folder, whose), name, model, known)
    shown = slots_of(prompt.system, prompt.user)
    for slot in slots:
        if slot not in shown:
            raise ConfigError(f"The prompt file {name} has no {{{{ {slot} }}}}; {whose} needs it.")
    for slot in sorted(shown - {*slots, *also}):
        raise ConfigError(f"The prompt file {name} has {{{{ {slot} }}}}, which {whose} cannot fill.")
    return prompt
