"""Requests as the user words them: JSON with ``{{ names }}``, each filled in with a value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with every name replaced.

    A text that is one name and nothing else becomes the value itself, a list or a number as well; a name
    within a text becomes text, of anything but text its JSON.
    """
    if isinstance(template, str):
        whole = _NAME.fullmatch(template.strip())
        if whole:
            return values[whole[1]]
        return _NAME.sub(lambda found: _text(values[found[1]]), template)
    if isinstance(template, Mapping):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, values) for value in template]
    return template


def names_in(template: Any) -> set[str]:
    """The names that a template has."""
    if isinstance(template, str):
        return {found[1] for found in _NAME.finditer(template)}
    parts = (
        template.values()
        if isinstance(template, Mapping)
        else template
        if isinstance(template, list | tuple)
        else ()
    )
    return {name for part in parts for name in names_in(part)}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
