"""Prompt files of rewriters: those that come with the harness, and a user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm import TextForm
from harness.types import Asked

FOLDER = Path(__file__).parent / "prompts"
_COUNT = re.compile(r"\{\{ *n *\}\}")
_SLOT = re.compile(r"\{\{ *(\w+) *\}\}")


@dataclass(frozen=True, slots=True)
class _ListForm(TextForm):
    """A prompt that is answered by ``count`` lines."""

    count: int = 1

    def shortest(self, asked: Asked) -> str:
        """As many lines as are asked for, each as long as the query."""
        return "\n".join([TextForm.shortest(self, asked)] * self.count)


class RewritePrompt(StageConfig):
    """A prompt file. Its words are its identity in the ledger, whatever it is called."""

    id: str = Field("", description="Its name; empty: that of the file.")
    version: int = Field(1, description="Which of its versions it is.")
    language: str = Field("", description="The language it is written in.")
    description: str = Field("", description="What it asks for.")
    system: str = Field("", description="The system message; may be empty.")
    user: str = Field(description="The user message; `{{ query }}` stands for the question, between fences.")

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
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_prompt(name: str) -> RewritePrompt:
    """A prompt by built-in name, or a user's file when it ends in ``.yaml``; raises ConfigError."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    try:
        # a checkout with other line ends is the same prompt
        fields = yaml.safe_load(path.read_bytes().replace(b"\r\n", b"\n"))
    except OSError as error:
        raise ConfigError(
            f"The prompt {name!r} of a rewriter cannot be read ({error.strerror}). Built in: "
            f"{', '.join(built_in_prompts())}; or give the path of a .yaml file."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"The prompt file {name} cannot be read: {error}") from error
    if not isinstance(fields, dict):
        raise ConfigError(f"The prompt file {name} is not a mapping of fields such as `user: …`.")
    try:
        prompt = RewritePrompt.model_validate({"id": path.stem, **fields})
    except ValidationError as error:
        raise ConfigError(f"The prompt file {name} cannot be used: {error}") from error
    if _SLOT.findall(prompt.user).count("query") == 0:
        raise ConfigError(f"The prompt file {name} has no {{{{ query }}}} in its user part.")
    if "passages" in _SLOT.findall(prompt.system + prompt.user):
        raise ConfigError(f"The prompt file {name} shows passages, and a rewriter is given none.")
    return prompt
