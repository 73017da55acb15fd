"""How a stage offers its variants: one frozen config per kind, and one table of kinds per stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from harness.errors import ConfigError
from harness.printable import quoted

LARGEST = 2**53
"""Larger integers are not kept exactly by all who read record.json."""
_LONGEST_NAME = 255
_LONGEST_PATH = 4095


class StageConfig(BaseModel):
    """Base of every configuration model: frozen, and an unknown key is an error.

    So is a value that no file, database or file system can hold, which would fail only when it is used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _can_be_kept(cls, value: Any) -> Any:
        _check(value)
        return value


def _check(value: Any) -> None:
    """Raise ValueError for a number, a text or a path that cannot be written down."""
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f"this number is too large; the largest is {LARGEST}")
    if isinstance(value, str | PurePath):
        text = str(value)
        if "\0" in text:
            raise ValueError("this text holds a NUL character, which no path or file of text may")
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError("this text holds half of a character (a lone surrogate)")
    if isinstance(value, PurePath):
        if any(len(part.encode()) > _LONGEST_NAME for part in value.parts):
            raise ValueError(f"a name in this path is longer than the {_LONGEST_NAME} bytes of file systems")
        if len(str(value).encode()) > _LONGEST_PATH:
            raise ValueError(f"this path is longer than the {_LONGEST_PATH} bytes that systems allow")
    for part in (
        value.items() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    ):
        _check(part)


@dataclass(frozen=True, slots=True)
class Kind:
    """One variant of a stage: the model of its configuration and the function or class that does the work."""

    config: type[StageConfig]
    make: Callable[..., Any]


def find_kind(stage: str, table: Mapping[str, Kind], name: object) -> Kind:
    """Look up a kind by its name; raises ConfigError that lists the known ones."""
    if isinstance(name, str) and name in table:
        return table[name]
    raise ConfigError(f"{stage}: there is no kind {quoted(name)}. Known kinds: {', '.join(sorted(table))}.")
