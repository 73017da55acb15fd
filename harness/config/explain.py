"""Say in plain words what is wrong with a configuration, where, and what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from harness.config.source import Source
from harness.config.yaml_loader import KeyPath
from harness.errors import ConfigError
from harness.printable import quoted


def no_such_key(key: str, known: Iterable[str]) -> str:
    """An unknown key, with the nearest known one or all of them."""
    names = list(known)
    close = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(names)}."
    return f"there is no such key; {hint}"


def first_problem(error: ValidationError) -> Any:
    """What to tell first: an unknown key, for it explains why another one is missing."""
    problems = error.errors()
    return next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])


def _is(value: Any) -> str:
    """What a wrong value is, where it is short; a list or section stands at the line that is named."""
    return "" if isinstance(value, list | tuple | dict) else f" (it is {quoted(value)})"


def explain(
    source: Source,
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
        return source.error(path, "this key is missing; docs/configuration.md describes it.")
    if problem["type"] == "extra_forbidden":
        return source.error(path, no_such_key(str(problem["loc"][-1]), known))
    message = problem["msg"].removeprefix("Value error, ")
    if problem["input"] is None and problem["loc"]:
        return source.error(path, "its value is missing; docs/configuration.md describes this key.")
    if problem["loc"]:
        return source.error(path, f"{message.removesuffix('.')}{_is(problem['input'])}.")
    values = ", ".join(
        f"{key}={quoted(value) if isinstance(value, str) else value}" for key, value in (chosen or {}).items()
    )
    return source.error(path, f"{message}{f' (with {values})' if values else ''}")
