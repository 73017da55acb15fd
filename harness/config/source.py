"""A YAML file that remembers on which line every key stands."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.errors import ConfigError

KeyPath = tuple[str | int, ...]


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
                here: Any = self.data
                for key in at:
                    here = here[key]
                if here == value or (isinstance(here, list) and value in here):
                    found.append(at)
        return found

    def error(self, at: KeyPath, message: str) -> ConfigError:
        """A ConfigError that names file, line and key."""
        name = ".".join(str(part) for part in at if isinstance(part, str))
        return ConfigError(f"{self.where(at)}: {name + ': ' if name else ''}{message}")


def read_source(path: Path) -> Source:
    """Read a YAML file; raises ConfigError for one that is missing, malformed or no mapping."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"There is no configuration file {path}.{_neighbours(path)}") from None
    except IsADirectoryError:
        there = _yaml_files(path) or "no .yaml file"
        raise ConfigError(f"{path} is a folder, not a configuration file. It holds: {there}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: this is not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: this is not valid YAML: {error}") from error
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        raise ConfigError(
            f"{path}: a configuration is a mapping of keys to values, such as `name: quickstart`."
        )
    lines: dict[KeyPath, int] = {}
    _note_lines(path, node, (), lines)
    return Source(path, data, lines, hashlib.sha256(content).hexdigest())


def _note_lines(path: Path, node: yaml.Node, at: KeyPath, lines: dict[KeyPath, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = (*at, str(key.value))
            if name in lines:
                raise ConfigError(f"{path}:{key.start_mark.line + 1}: {key.value} is given twice.")
            lines[name] = key.start_mark.line + 1
            _note_lines(path, value, name, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*at, index)] = value.start_mark.line + 1
            _note_lines(path, value, (*at, index), lines)


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
