"""Requests as templates with {{ names }}, and expressions that find the answer in a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from harness.models.llm.endpoint import as_json

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
Method = Literal["POST", "PUT", "GET"]
Template = Annotated[dict[str, Any], AfterValidator(as_json)]


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with every name replaced.

    A text that is one name and nothing else becomes the value itself, a list or a number as well; a name
    within a text becomes text, of anything but text its JSON.
    """
    if isinstance(template, str):
        whole = _NAME.fullmatch(template.strip())
        if whole:
            return values[whole[1]]
        return _NAME.sub(lambda found: as_text(values[found[1]]), template)
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


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def carried(method: Method, body: Any) -> dict[str, Any]:
    """How a body goes, as an argument of httpx: as JSON, or by GET as the query of the URL."""
    if method == "GET":
        return {"params": {name: as_text(value) for name, value in body.items()}}
    return {"json": body}


@cache
def compiled(expression: str) -> Any:
    """A JMESPath expression, ready to search; raises ValueError for one that cannot be read."""
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        return jmespath.compile(expression)
    except JMESPathError as error:
        # its message points at the place on a line of its own
        reason = " ".join(str(error).split())
        raise ValueError(f"{expression!r} is not a JMESPath expression: {reason}") from None


def _can_be_searched(expression: str) -> str:
    compiled(expression)
    return expression


Expression = Annotated[str, AfterValidator(_can_be_searched)]
