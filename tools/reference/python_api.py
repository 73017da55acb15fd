"""docs/api.md, written from the docstrings of what ``import harness`` offers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Any

import harness

_INTRO = """\
# Python reference

Everything that `import harness` offers. Begin with [`evaluate`](#evaluate), which scores a retriever of your
own, or with [`run`](#run), which runs a benchmark; both return [`Results`](#results). `make docs` writes this
page from the docstrings.
"""
# in the order in which people meet them
_ORDER = (
    "evaluate",
    "score_hits",
    "Collection",
    "run",
    "load_config",
    "read_results",
    "Results",
    "compare",
    "Comparison",
    "assert_ndcg",
    "score",
    "ndcg",
)
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


def api_reference() -> str:
    """The page; raises ValueError where ``harness`` offers a name that has no place in the order."""
    if set(_ORDER) != set(harness.__all__):
        raise ValueError(f"_ORDER and harness.__all__ differ: {sorted(set(_ORDER) ^ set(harness.__all__))}")
    listed = [
        f"| [`{name}`](#{name.lower()}) | {_first_sentence(getattr(harness, name))} |" for name in _ORDER
    ]
    parts = [_INTRO, "| name | what it does |", "|---|---|", *listed]
    for name in _ORDER:
        parts += ["", *_entry(name, getattr(harness, name))]
    return "\n".join(parts) + "\n"


def _entry(name: str, thing: Any) -> list[str]:
    """The section of a function or class, with the methods of a class below it."""
    lines = [f"## {name}", "", *_signature(name, thing), "", _prose(thing)]
    for member, value in _members(thing):
        described = value.func if isinstance(value, cached_property) else getattr(value, "fget", value)
        lines += ["", f"### {name}.{member}", ""]
        if inspect.isfunction(value):
            lines += [*_signature(f"{name}.{member}", value), ""]
        lines.append(_prose(described))
    return lines


def _members(thing: Any) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class itself defines."""
    if inspect.isclass(thing):
        for name, value in vars(thing).items():
            shown = isinstance(value, property | cached_property) or inspect.isfunction(value)
            if shown and not name.startswith("_"):
                yield name, value


def _signature(name: str, thing: Any) -> list[str]:
    """A call with its arguments and their defaults, folded where it is long."""
    parameters = [
        # annotations name modules of ours, which tell readers less than the text below
        parameter.replace(annotation=inspect.Parameter.empty, default=_plain(parameter.default))
        for parameter in inspect.signature(thing).parameters.values()
        if parameter.name != "self"
    ]
    shown = [str(parameter).replace("'", '"') for parameter in parameters]
    first_by_name = next(
        (at for at, parameter in enumerate(parameters) if parameter.kind is parameter.KEYWORD_ONLY), None
    )
    if first_by_name is not None and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
        shown.insert(first_by_name, "*")
    called = f"{name}({', '.join(shown)})"
    if not name[0].isupper() and "." not in name:
        called = f"harness.{called}"
    # as the formatter of the repository, which reads blocks of Markdown too, would have it
    if len(called) > 110:
        head, together = called.partition("(")[0], ", ".join(shown)
        lines = [together] if len(together) <= 106 else [f"{argument}," for argument in shown]
        called = "\n".join([f"{head}(", *(f"    {line}" for line in lines), ")"])
    return ["```python", called, "```"]


def _plain(default: Any) -> Any:
    """A default as people type it: a path as its text, which is accepted too."""
    return default.as_posix() if isinstance(default, PurePath) else default


def _prose(thing: Any) -> str:
    """A docstring as Markdown: code in single quotes, examples as blocks, pages of the docs as links."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"(?<!`)``(?!`)", "`", text)
    text = _EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", text)
    return re.sub(r"\bdocs/([\w-]+)\.md\b", r"[\1](\1.md)", text)


def _first_sentence(thing: Any) -> str:
    """The first line of a docstring, for a row of a table."""
    return _prose(thing).partition("\n")[0]
