"""A YAML file with the line of every key, for errors that name their place.

The loader is PyYAML's with limits on size and depth, as files may be untrusted. An alias is shared and not
copied, so ten lines can stand for billions of values, on which any program would hang: an alias counts as all
that it repeats.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from harness.running.config.tune_keys import Range, is_range
from harness.values import (
    LARGEST,
    LOOKS_SECRET,
    ConfigError,
    Kinds,
    StageConfig,
    abridged,
    guide,
    no_such_key,
    plain_problem,
    printable,
    quoted,
    secret_in,
)

MOST_BYTES = 200_000
MOST_VALUES = 20_000
DEEPEST = 50

KeyPath = tuple[str | int, ...]
Model = TypeVar("Model", bound=StageConfig)

# Sections that go to a service as they are, and names of what decides who may ask.
_SECRET = re.compile(
    r"(?i)header|request|extra_body|auth|cookie|credential|password|secret|token$|(^|[-_])key$"
)
# Keys of earlier versions, and what to write in their place.
_MOVED = {
    "parser": "the parser is now a step of every setting: write it as a section such as "
    "parse: {kind: pypdfium2}.",
    "embed": "an embedding model now belongs to its retriever: move its keys into each section of retrieve, "
    "such as retrieve: {kind: chroma, model: …}.",
}


def _grid(at: KeyPath, span: Range) -> Sequence[float]:
    """The fixed values of a range, for any key."""
    return span.grid()


@dataclass(frozen=True, slots=True)
class Source:
    """The content of a configuration file, the 1-based line of every key path in it, and its hash.

    ``of_range`` gives the values that stand for the range of a key.
    """

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]
    sha256: str = ""
    # of docs/, which describes its keys
    page: str = "configuration.md"
    of_range: Callable[[KeyPath, Range], Sequence[float]] = field(default=_grid, compare=False)

    def where(self, at: KeyPath) -> str:
        """``file:line`` of a key, or of the nearest one around it; without a file no line."""
        if not self.sha256:
            return str(self.path)
        while at and at not in self.lines:
            at = at[:-1]
        return f"{self.path}:{self.lines.get(at, 1)}"

    def error(self, at: KeyPath, message: str) -> ConfigError:
        """A ConfigError that names file, line and key."""
        name = printable(".".join(part for part in at if isinstance(part, str) and part != "[key]"))
        return ConfigError(f"{self.where(at)}: {abridged(f'{name}: {message}' if name else message)}")

    def refuse_unknown(
        self,
        section: Mapping[Any, Any],
        allowed: Collection[str],
        at: KeyPath = (),
        gone: Mapping[str, str] = _MOVED,
    ) -> None:
        """Raise ConfigError where a section has a key that is not ``known``.

        ``gone`` are keys of earlier versions, with what to use; by default those of the top level.
        """
        for key in section:
            if key not in allowed:
                raise self.error((*at, str(key)), gone.get(key) or no_such_key(str(key), allowed))

    def kind(self, kinds: Kinds[Any], name: object, at: KeyPath) -> type[StageConfig]:
        """The model of the configuration of a kind; raises ConfigError where there is none."""
        try:
            return kinds.find(name).config
        except ConfigError as error:
            raise ConfigError(f"{self.where((*at, 'kind'))}: {abridged(str(error))}") from None

    def validated(
        self, model: type[Model], section: Any, at: KeyPath = (), chosen: Mapping[str, Any] | None = None
    ) -> Model:
        """A section as its model; raises ConfigError with file, line and key of the first problem.

        ``chosen`` are the values of one point of a sweep, named where the problem lies in their combination.
        """
        try:
            return model.model_validate(section)
        except ValidationError as error:
            raise self._explained(error.errors()[0], at, chosen or {}) from None
        except ConfigError as error:
            # raised where the value must not be repeated: it may be a key
            raise ConfigError(f"{self.where(at)}: {error}") from None

    def _explained(self, problem: Any, at: KeyPath, chosen: Mapping[str, Any]) -> ConfigError:
        path = (*at, *problem["loc"])
        value = problem["input"]
        # a list or section is at the line that is named
        secret = _may_hold_secrets(path)
        message = plain_problem(problem, hidden=secret)
        if problem["type"] == "unknown_key":
            return self.error(path, message)
        if problem["type"] == "missing":
            return self.error(path, f"this key is missing; {guide(self.page)} describes it.")
        if not problem["loc"]:
            values = ", ".join(f"{key}={_shown(key, part)}" for key, part in chosen.items())
            return self.error(path, f"{message}{f' (with {values})' if values else ''}")
        if problem["type"] == "string_pattern_mismatch":
            message = f"it may not be written so; {guide(self.page)} describes this key"
        if is_range(value):
            return self.error(
                path, "no range can stand here: ranges are for keys of steps that take a number."
            )
        if value is None:
            return self.error(path, f"its value is missing; {guide(self.page)} describes this key.")
        # some sentences begin with the value
        told = message.startswith((f"{value} ", f"{quoted(value)} "))
        hidden = secret or told or isinstance(value, list | tuple | dict)
        shown = "" if hidden else f" (it is {quoted(value)})"
        return self.error(path, f"{message.removesuffix('.')}{shown}.")


def _may_hold_secrets(path: Iterable[object]) -> bool:
    """Whether a key, or a section around it, may hold a password or a token that somebody wrote there."""
    return any(_SECRET.search(str(key)) for key in path)


def _shown(key: str, value: Any) -> str:
    """A value in a message: sections and what may be secret are named without their content."""
    if isinstance(value, BaseModel):
        return f"{{kind: {getattr(value, 'kind', '…')}, …}}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: …" for name in value) + "}"
    if _may_hold_secrets([key]):
        return "…"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shown(key, part) for part in value) + "]"
    return quoted(value) if isinstance(value, str) else str(value)


def read_source(path: Path, page: str = "configuration.md") -> Source:
    """Read a YAML file; raises ConfigError for one that is missing, malformed, too large or no mapping.

    ``page`` of docs/ describes its keys.
    """
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
    source = Source(path, data, lines, hashlib.sha256(content).hexdigest(), page)
    return _without_secrets(source)


def source_of(mapping: Mapping[Any, Any]) -> Source:
    """A configuration that Python code holds, as if it had been read; raises ConfigError for other values."""
    source = Source(Path("configuration"), {}, {})
    source.data.update(_plain(mapping, source, ()))
    return _without_secrets(source)


def _without_secrets(source: Source) -> Source:
    """The same; raises ConfigError, which does not repeat it, where a key or a value looks like a secret."""
    if (path := secret_in(source.data)) is not None:
        raise source.error(path, LOOKS_SECRET)
    return source


def _plain(value: Any, source: Source, at: KeyPath) -> Any:
    """A value as a file would give it: paths as text, tuples as lists, numbers of numpy as Python's."""
    if len(at) > DEEPEST:
        raise source.error(at[:1], f"this is nested deeper than {DEEPEST} levels.")
    if isinstance(value, Mapping):
        return {str(key): _plain(part, source, (*at, str(key))) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, source, (*at, index)) for index, part in enumerate(value)]
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, StageConfig):
        return value.model_dump(mode="json")
    if value is None or isinstance(value, str | int | float | date):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    raise source.error(
        at, f"this cannot be {type(value).__name__}; give text, numbers, lists, mappings or None."
    )


def _neighbours(path: Path) -> str:
    """The configuration files next to a missing one, and those of ``configs``."""
    folders = dict.fromkeys([path.parent, Path("configs")])
    files_of = {folder: names for folder in folders if (names := _yaml_files(folder))}
    return "".join(
        f" {'This folder' if folder == Path() else folder} holds: {names}."
        for folder, names in files_of.items()
    )


def _yaml_files(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.yaml") if not path.name.startswith("."))
    return ", ".join(names)


def load_yaml(path: Path, content: bytes) -> tuple[Any, dict[KeyPath, int]]:
    """The data of a YAML file and the 1-based line of every key and list entry in it.

    Keys that a merge (``<<``) brings in have the line where they are written. Raises ConfigError that names
    the line of the fault.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: this is not UTF-8 text; save the file as UTF-8.") from None
    try:
        loader = _Loader(path, text)
        node = loader.get_single_node()
        data = loader.construct_document(node) if node is not None else None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"the character {chr(error.character)!a} is not allowed"
        raise ConfigError(f"{path}:{line}: this is not valid YAML: {problem}. Remove it.") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: this is not valid YAML: {error.problem}. Correct it.") from None
    lines: dict[KeyPath, int] = {}
    if node is not None:
        _note_lines(loader, node, (), lines)
    return data, lines


class _Loader(yaml.SafeLoader):
    """The safe loader of PyYAML with limits; an alias counts as all that it repeats."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(text)
        self._path = path
        self._depth = 0
        self._values = 0
        self._open: set[str] = set()
        self._size: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Build one node, unless it is too deep, too large or part of itself."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        anchor = event.anchor
        if isinstance(event, yaml.AliasEvent):
            if anchor in self._open:
                self._fail(event, f"*{anchor} refers to itself.")
            self._count(event, self._size.get(anchor, 0))
            return super().compose_node(parent, index)
        if self._depth == DEEPEST:
            self._fail(event, f"this is nested deeper than {DEEPEST} levels.")
        before = self._values
        self._count(event, 1)
        self._depth += 1
        self._open |= {anchor} - {None}
        node = super().compose_node(parent, index)
        self._open -= {anchor}
        self._depth -= 1
        if anchor is not None:
            self._size[anchor] = self._values - before
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Build a mapping, unless a key is given twice. Remove one."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    self._fail(key, f"{key.value} is given twice. Remove one.")
                seen.add((key.tag, key.value))
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Build a value, unless it is a number or a date that cannot be."""
        try:
            value = super().construct_object(node, deep)
        except (ValueError, OverflowError):
            kind = node.tag.rpartition(":")[2]
            self._fail(node, f"this is not a valid {kind}; put it in quotes if it is text.")
        if isinstance(value, int) and abs(value) > LARGEST:
            self._fail(node, f"this number is too large; the largest is {LARGEST}.")
        return value

    def _count(self, event: yaml.Event, values: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            self._fail(event, f"with its aliases this file holds more than {MOST_VALUES:,} values.")

    def _fail(self, at: yaml.Event | yaml.Node, problem: str) -> NoReturn:
        raise ConfigError(f"{self._path}:{_line(at)}: {problem}")


def _note_lines(loader: _Loader, node: yaml.Node, at: KeyPath, lines: dict[KeyPath, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        # merges are resolved by now: what they bring in is first, and the mapping's own keys prevail
        for key, value in node.value:
            name = (*at, str(loader.construct_object(key, deep=True)))
            lines[name] = _line(key)
            _note_lines(loader, value, name, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*at, index)] = _line(value)
            _note_lines(loader, value, (*at, index), lines)


def _line(at: yaml.Event | yaml.Node) -> int:
    return at.start_mark.line + 1 if at.start_mark else 1
