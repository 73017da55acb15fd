"""Prompts of the steps around a search: their fields, and what they must and may show."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import Field

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm.prompt_files import SLOT, built_in, parse, prompt_path, read_content, slots_of

__all__ = ["SLOT", "Prompt", "built_in", "read_prompt"]


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


def read_prompt(name: str, folder: Path, what: str, slots: Collection[str]) -> Prompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``.

    ``what`` says whose prompt it is. Raises ConfigError for a file that cannot be used: it shows each of
    ``slots`` once at least, and no other.
    """
    known = {"id": prompt_path(name, folder).stem}
    prompt = parse(read_content(name, folder, what), name, Prompt, known)
    shown = slots_of(prompt.system, prompt.user)
    for slot in slots:
        if slot not in shown:
            raise ConfigError(f"The prompt file {name} has no {{{{ {slot} }}}}; a {what} needs it.")
    for slot in sorted(shown - set(slots)):
        raise ConfigError(f"The prompt file {name} has {{{{ {slot} }}}}, which a {what} cannot fill.")
    return prompt
