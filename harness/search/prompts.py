"""Prompts of the steps around a search: their fields, and what they must and may show."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from harness.errors import ConfigError
from harness.llm.prompt import Prompt
from harness.llm.prompt_files import SLOT, built_in, parse, prompt_path, read_content, slots_of

__all__ = ["SLOT", "Prompt", "built_in", "read_prompt"]


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
