"""What pydantic finds wrong with a value, in plain words: what it should be, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from harness.values.text.characters import quoted, suggestion
from harness.values.text.numbers import counted

WORDS: Mapping[str, str] = {
    "bool_parsing": "{subject} should be yes or no",
    "bool_type": "{subject} should be yes or no",
    "dict_type": "{subject} should be a mapping, such as {{key: value}}",
    "finite_number": "{subject} should be a number that is not infinite",
    "float_parsing": "{subject} should be a number",
    "float_type": "{subject} should be a number",
    "greater_than": "{subject} should be greater than {gt}",
    "greater_than_equal": "{subject} should be at least {ge}",
    "int_from_float": "{subject} should be a whole number, without a fraction",
    "int_parsing": "{subject} should be a whole number",
    "int_type": "{subject} should be a whole number",
    "less_than": "{subject} should be less than {lt}",
    "less_than_equal": "{subject} should be at most {le}",
    "literal_error": "{subject} should be {expected}",
    "missing": "{subject} is missing",
    "model_attributes_type": "{subject} should be a section: a mapping of keys to values",
    "model_type": "{subject} should be a section: a mapping of keys to values",
    "path_type": "{subject} should be the path of a file or a folder",
    "string_pattern_mismatch": "{subject} may not be written so",
    "string_too_long": "{subject} should have at most {max_length}",
    "string_too_short": "{subject} should have at least {min_length}",
    "string_type": "{subject} should be text",
    "too_long": "the list has {actual_length} and should have at most {max_length}",
    "too_short": "the list has {actual_length} and should have at least {min_length}",
    "tuple_type": "{subject} should be a list",
    "union_tag_invalid": "there is no kind {tag}; known kinds: {expected_tags}",
    "union_tag_not_found": "the section should say its kind: {{{discriminator}: …}}",
}
"""By the type of an error of pydantic, what it means. ``{subject}`` is the value, or the entry of a list."""

EXAMPLES: Mapping[str, str] = {
    "bool_parsing": ": write true or false",
    "bool_type": ": write true or false",
    "float_parsing": ", such as 0.5",
    "float_type": ", such as 0.5",
    "int_parsing": ", such as 10",
    "int_type": ", such as 10",
    "path_type": ": put it in quotes",
    "string_type": ": put it in quotes",
    "tuple_type": ", such as [first, second]",
}
"""What is said of a single value with such an error, where it does not tell what was meant."""

OWN = frozenset({"assertion_error", "unknown_key", "unlike", "value_error"})
"""Types of errors whose words are ours already."""

_PLAIN = re.compile(r"[\w@.-]+", re.ASCII)


def problem_in(error: ValidationError) -> str:
    """The first problem that pydantic found, with its place, on one line and without a full stop."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return (f"{place}: " if place else "") + plain_problem(first, hidden=False)


def plain_problem(problem: Any, *, hidden: bool) -> str:
    """One problem in plain words, on one line and without a full stop.

    ``problem`` is an entry of ``ValidationError.errors()``. ``hidden``: the value may be a secret, so nothing
    that would repeat it is said.
    """
    kind, value = problem["type"], problem["input"]
    if kind not in WORDS:
        return str(problem["msg"]).removeprefix("Value error, ").removesuffix(".")
    context = dict(problem.get("ctx", {}))
    nouns = ("entry", "entries") if kind.startswith("too_") else ("character", "characters")
    for name, part in context.items():
        if name in ("actual_length", "max_length", "min_length"):
            context[name] = counted(part, *nouns)
        elif name in ("ge", "gt", "le", "lt"):
            context[name] = f"{part:,g}" if abs(part) < 1e6 else f"{part:,}"
        elif name == "tag":
            context[name] = quoted(part)
        elif name == "discriminator":
            context[name] = part.strip("'")
    words = WORDS[kind].format(subject=_subject(problem["loc"]), **context)
    if isinstance(value, list | tuple | dict):
        return words + _not_many(kind, value)
    return words + (("" if hidden else _instead(kind, value, context)) or EXAMPLES.get(kind, ""))


def _subject(place: tuple[str | int, ...]) -> str:
    """What is wrong: the value of a key, a key itself, or an entry of a list, counted from 1."""
    if place and place[-1] == "[key]":
        return f"the key {quoted(place[-2])}"
    return f"entry {place[-1] + 1} of the list" if place and isinstance(place[-1], int) else "this"


def _instead(kind: str, value: Any, context: Mapping[str, Any]) -> str:
    """What to write instead, where the value tells what was meant."""
    if kind == "int_parsing" and isinstance(value, str):
        number = _number(value)
        # YAML reads 5e2 as text
        return f": write {number:.0f}" if number is not None and number.is_integer() else ""
    if kind == "float_parsing" and isinstance(value, str):
        number = _number(value.replace(",", "."))
        return f": write {number:g}" if number is not None else ""
    if kind == "literal_error" and isinstance(value, str):
        return suggestion(value, re.findall(r"'([^']*)'", str(context["expected"])))
    if kind == "tuple_type" and isinstance(value, str):
        return f": write [{value if _PLAIN.fullmatch(value) else quoted(value)}]"
    return ""


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None


def _not_many(kind: str, value: Any) -> str:
    """That a list or a section stands where a single value should, or a section for a list."""
    if isinstance(value, list | tuple) and kind in _SINGLE:
        return ", not a list"
    return ", not a section" if isinstance(value, dict) and kind in {*_SINGLE, "tuple_type"} else ""


_SINGLE = frozenset({"bool_type", "float_type", "int_type", "literal_error", "path_type", "string_type"})
