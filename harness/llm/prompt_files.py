"""Prompt files: those that come with the harness, by name, and a user's own, by their path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from harness.errors import ConfigError
from harness.kinds import StageConfig

SLOT = re.compile(r"\{\{ *(\w+) *\}\}")

P = TypeVar("P", bound=StageConfig)


def built_in(folder: Path) -> list[str]:
    """The names of the prompts in a folder of the harness."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def prompt_path(name: str, folder: Path) -> Path:
    """Where a prompt lies: one of ``folder``, or a user's file when its name ends in ``.yaml``."""
    return Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"


def read_content(name: str, folder: Path, whose: str) -> bytes:
    """The content of a prompt file of ``whose``, such as ``a judge``; raises ConfigError."""
    try:
        content = prompt_path(name, folder).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"The prompt {name!r} of {whose} cannot be read ({error.strerror}). Built in: "
            f"{', '.join(built_in(folder))}; or give the path of a .yaml file."
        ) from error
    # a checkout with other line ends is the same prompt
    return content.replace(b"\r\n", b"\n")


def parse(content: bytes, name: str, model: type[P], known: Mapping[str, Any]) -> P:
    """The prompt in the content of a file; ``known`` are fields that the file need not have.

    Raises ConfigError that says what is wrong with it.
    """
    try:
        fields = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"The prompt file {name} cannot be read: {error}") from error
    if not isinstance(fields, dict):
        raise ConfigError(f"The prompt file {name} is not a mapping of fields such as `user: …`.")
    try:
        return model.model_validate({**known, **fields})
    except ValidationError as error:
        raise ConfigError(f"The prompt file {name} cannot be used: {error}") from error


def slots_of(*parts: str) -> set[str]:
    """The names that the parts of a prompt show as ``{{ name }}``."""
    return {name for part in parts for name in SLOT.findall(part)}
