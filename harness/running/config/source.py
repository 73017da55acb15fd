"""A YAML file with the line of every key, for errors that name their place."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.running.config.yaml_loader import MOST_BYTES, KeyPath, load_yaml
from harness.values import ConfigError, printable, quoted

# Sections that go to a service as they are, and names of what decides who may ask.
_SECRET = re.compile(
    r"(?i)header|request|extra_body|auth|cookie|credential|password|secret|token$|(^|[-_])key$"
)


@dataclass(frozen=True, slots=True)
class Source:
    """The content of a configuration file, the 1-based line of every key path in it, and its hash."""

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]
    sha256: str = ""

    def where(self, at: KeyPath) -> str:
        """``file:line`` of a key, or of the nearest enclosing one that the file has."""
        while at and at not in self.lines:
            at = at[:-1]
        return f"{self.path}:{self.lines.get(at, 1)}"

    def keys(self, name: str, value: Any) -> list[KeyPath]:
        """Where a key of this name has this value, or a list with it."""
        found = []
        for at in self.lines:
            if at[-1] == name:
                here = self._value(at)
                if here == value or (isinstance(here, list) and value in here):
                    found.append(at)
        return found

    def _value(self, at: KeyPath) -> Any:
        here: Any = self.data
        for key in at:
            # a key may be a number or a truth value in the file; paths hold its text
            here = (
                next(its for name, its in here.items() if str(name) == key)
                if isinstance(key, str)
                else here[key]
            )
        return here

    def error(self, at: KeyPath, message: str) -> ConfigError:
        """A ConfigError that names file, line and key."""
        name = printable(".".join(part for part in at if isinstance(part, str)))
        return ConfigError(f"{self.where(at)}: {name + ': ' if name else ''}{message}")

    def explain(
        self,
        at: KeyPath,
        error: ValidationError,
        chosen: Mapping[str, Any] | None = None,
        known: Iterable[str] = (),
    ) -> ConfigError:
        """The first problem that pydantic found, as a ConfigError with file, line and key.

        ``chosen`` are the values of one point of a sweep, named where the problem lies in their combination.
        """
        problem = first_problem(error)
        path = (*at, *problem["loc"])
        if problem["type"] == "missing":
            return self.error(path, "this key is missing; docs/configuration.md describes it.")
        if problem["type"] == "extra_forbidden":
            return self.error(path, no_such_key(str(problem["loc"][-1]), known))
        message = problem["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
        message = message.replace("Tuple should", "it should")
        if problem["input"] is None and problem["loc"]:
            return self.error(path, "its value is missing; docs/configuration.md describes this key.")
        if problem["loc"]:
            value = problem["input"]
            # a list or section is at the line that is named
            hidden = isinstance(value, list | tuple | dict) or _may_hold_secrets(path)
            shown = "" if hidden else f" (it is {quoted(value)})"
            return self.error(path, f"{message.removesuffix('.')}{shown}.")
        values = ", ".join(f"{key}={_shown(key, value)}" for key, value in (chosen or {}).items())
        return self.error(path, f"{message}{f' (with {values})' if values else ''}")


def _may_hold_secrets(path: Iterable[object]) -> bool:
    """Whether a key, or a section around it, may hold a password or a token that somebody wrote there."""
    return any(_SECRET.search(str(key)) for key in path)


def _shown(key: str, value: Any) -> str:
    """A value in a message: sections and what may be secret are named without their content."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: …" for name in value) + "}"
    if _may_hold_secrets([key]):
        return "…"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shown(key, part) for part in value) + "]"
    return quoted(value) if isinstance(value, str) else str(value)


def no_such_key(key: str, known: Iterable[str]) -> str:
    """An unknown key, with the nearest known one or all of them."""
    names = list(known)
    close = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(names)}."
    return f"there is no such key; {hint}"


def first_problem(error: ValidationError) -> Any:
    """The problem to report first: an unknown key, because it explains why another one is missing."""
    problems = error.errors()
    return next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])


def read_source(path: Path) -> Source:
    """Read a YAML file; raises ConfigError for one that is missing, malformed, too large or no mapping."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        near = _neighbours(path) or " Correct the name, or begin with `harness init`."
        raise ConfigError(f"There is no configuration file {path}.{near}") from None
    except IsADirectoryError:
        there = _yaml_files(path) or "no .yaml file"
        raise ConfigError(
            f"{path} is a folder, not a configuration file. Name one. It holds: {there}."
        ) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{path} is not a configuration: it has more than {MOST_BYTES:,} bytes.")
    data, lines = load_yaml(path, content)
    if not isinstance(data, dict):
        raise ConfigError(
            f"{path}:1: a configuration is a mapping of keys to values, such as `name: quickstart`."
        )
    return Source(path, data, lines, hashlib.sha256(content).hexdigest())


def _neighbours(path: Path) -> str:
    """The configuration files next to a missing one, and those of ``configs``."""
    folders = dict.fromkeys([path.parent, Path("configs")])
    found = {folder: names for folder in folders if (names := _yaml_files(folder))}
    return "".join(
        f" {'This folder' if folder == Path() else folder} holds: {names}." for folder, names in found.items()
    )


def _yaml_files(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.yaml") if not path.name.startswith("."))
    return ", ".join(names)
