"""A prompt in words, as its file says it, and how such a file is read and checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import Field, PrivateAttr, ValidationError

from harness.models.llm.form import SLOT, TextForm, filled
from harness.values import ConfigError, CorpusError, StageConfig, problem_in, refuse_special

_MOST_BYTES = 1_000_000

P = TypeVar("P", bound=StageConfig)


def built_in(folder: Path) -> list[str]:
    """The names of the prompts in a folder of the harness."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def prompt_path(name: str, folder: Path) -> Path:
    """The path of a prompt: one of ``folder``, or a user's file when its name ends in ``.yaml``."""
    return Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"


def read_content(name: str, folder: Path, whose: str) -> bytes:
    """The content of a prompt file of ``whose``, such as ``a judge``; raises ConfigError."""
    try:
        path = prompt_path(name, folder)
        if path.exists():
            refuse_special(path, _MOST_BYTES)
        content = path.read_bytes()
    except CorpusError as error:
        raise ConfigError(f"The prompt of {whose}: {error}") from error
    except OSError as error:
        why = "its name does not end in .yaml" if Path(name).exists() else error.strerror
        raise ConfigError(
            f"The prompt {name!r} of {whose} cannot be read ({why}). Built in: "
            f"{', '.join(built_in(folder))}; or give the path of a .yaml file."
        ) from error
    # a checkout with other line ends is the same prompt
    return content.replace(b"\r\n", b"\n")


def parse(content: bytes, name: str, model: type[P], defaults: Mapping[str, Any]) -> P:
    """The prompt in the content of a file; ``defaults`` are fields that the file need not have.

    Raises ConfigError that says what is wrong with it.
    """
    try:
        fields = yaml.safe_load(content)
    except yaml.YAMLError as error:
        what = " ".join(str(error).split())
        raise ConfigError(
            f"The prompt file {name} cannot be read: {what}. Correct it, and save it as UTF-8 text."
        ) from error
    if not isinstance(fields, dict):
        raise ConfigError(f"The prompt file {name} is not a mapping of fields such as `user: …`.")
    try:
        return model.model_validate({**defaults, **fields})
    except ValidationError as error:
        raise ConfigError(
            f"The prompt file {name} cannot be used: {problem_in(error)}. Correct it."
        ) from error


def slots_of(*parts: str) -> set[str]:
    """The names that the parts of a prompt show as ``{{ name }}``."""
    return {name for part in parts for name in SLOT.findall(part)}


class Prompt(StageConfig):
    """A prompt file. Its words are its identity in the ledger, whatever it is called."""

    id: str = Field("", description="Its name; empty: that of the file.")
    version: int = Field(1, description="Which of its versions it is.")
    language: str = Field("", description="The language it is written in.")
    description: str = Field("", description="What it asks for.")
    system: str = Field("", description="The system message; may be empty.")
    user: str = Field(description="The user message.")
    _asked_for: str = PrivateAttr("")

    @property
    def asked_for(self) -> str:
        """The built-in name or the path by which a configuration names it."""
        return self._asked_for

    @property
    def name(self) -> str:
        """The name under which its answers are counted."""
        return f"{self.id} v{self.version}"

    def filled(self, **values: str) -> tuple[str, str]:
        """System and user message with these values for ``{{ name }}``."""
        return filled(self.system, values), filled(self.user, values)

    @property
    def form(self) -> TextForm:
        """How a call is worded that is answered in words."""
        return TextForm(self.system, self.user)


Own = TypeVar("Own", bound=Prompt)


def prompts_of(
    folder: Path, model: type[Own], whose: str, slots: Collection[str], also: Collection[str] = ()
) -> Callable[[str], Own]:
    """Reads a prompt by its name among those of ``folder``, or a user's file when it ends in ``.yaml``.

    ``whose`` says who is prompted by it, such as ``a rewriter``. It shows each of ``slots`` at least once,
    those of ``also`` where it likes, and no other. Raises ConfigError for a file that cannot be used.
    """

    def read(name: str) -> Own:
        defaults = {"id": prompt_path(name, folder).stem}
        prompt = parse(read_content(name, folder, whose), name, model, defaults)
        prompt._asked_for = name
        shown = slots_of(prompt.system, prompt.user)
        for slot in slots:
            if slot not in shown:
                lacks = f"has no {{{{ {slot} }}}}; {whose} needs it. Add it."
                raise ConfigError(f"The prompt file {name} {lacks}")
        for slot in sorted(shown - {*slots, *also}):
            raise ConfigError(
                f"The prompt file {name} has {{{{ {slot} }}}}, which {whose} cannot fill. Remove it."
            )
        return prompt

    return read
