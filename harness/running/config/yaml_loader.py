"""YAML from untrusted sources: bounded in size and depth, and every fault names its line.

PyYAML builds what the file says; this loader adds the limits. An alias is shared and not copied, so ten lines
can stand for billions of values, on which any program would hang: an alias counts as all that it repeats.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import yaml

from harness.values import LARGEST, ConfigError

MOST_BYTES = 200_000
MOST_VALUES = 20_000
DEEPEST = 50

KeyPath = tuple[str | int, ...]


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
