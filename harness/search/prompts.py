"""Prompt files of the steps before a search: those that come with the harness, and a user's own."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from harness.errors import ConfigError
from harness.kinds import StageConfig

SLOT = re.compile(r"\{\{ *(\w+) *\}\}")


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


def built_in(folder: Path) -> list[str]:
    """The names of the prompts in a folder of the harness."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read_prompt(name: str, folder: Path, what: str, slots: Collection[str]) -> Prompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``.

    ``what`` says whose prompt it is. Raises ConfigError for a file that cannot be used: it shows each of
    ``slots`` once at least, and no other.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    try:
        # a checkout with other line ends is the same prompt
        fields = yaml.safe_load(path.read_bytes().replace(b"\r\n", b"\n"))
    except OSError as error:
        raise ConfigError(
            f"The prompt {name!r} of a {what} cannot be read ({error.strerror}). Built in: "
            f"{', '.join(built_in(folder))}; or give the path of a .yaml file."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"The prompt file {name} cannot be read: {error}") from error
    if not isinstance(fields, dict):
        raise ConfigError(f"The prompt file {name} is not a mapping of fields such as `user: …`.")
    try:
        prompt = Prompt.model_validate({"id": path.stem, **fields})
    except ValidationError as error:
        raise ConfigError(f"The prompt file {name} cannot be used: {error}") from error
    shown = set(SLOT.findall(prompt.system + prompt.user))
    for slot in slots:
        if slot not in shown:
            raise ConfigError(f"The prompt file {name} has no {{{{ {slot} }}}}; a {what} needs it.")
    for slot in sorted(shown - set(slots)):
        raise ConfigError(f"The prompt file {name} has {{{{ {slot} }}}}, which a {what} cannot fill.")
    return prompt
