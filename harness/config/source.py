"""A YAML file that remembers on which line every key stands."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.config.yaml_loader import MOST_BYTES, KeyPath, load_yaml
from harness.errors import ConfigError
from harness.printable import printable


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


def read_source(path: Path) -> Source:
    """Read a YAML file; raises ConfigError for one that is missing, malformed, too large or no mapping."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"There is no configuration file {path}.{_neighbours(path)}") from None
    except IsADirectoryError:
        there = _yaml_files(path) or "no .yaml file"
        raise ConfigError(f"{path} is a folder, not a configuration file. It holds: {there}.") from None
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
    """The configuration files beside a missing one, and those of ``configs``."""
    folders = dict.fromkeys([path.parent, Path("configs")])
    found = {folder: names for folder in folders if (names := _yaml_files(folder))}
    return "".join(
        f" {'This folder' if folder == Path() else folder} holds: {names}." for folder, names in found.items()
    )


def _yaml_files(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.yaml") if not path.name.startswith("."))
    return ", ".join(names)
