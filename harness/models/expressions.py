"""JMESPath expressions, which say where the JSON of others has what is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

_NAME = re.compile(r"[\w -]+")


@cache
def compiled(expression: str) -> Any:
    """A JMESPath expression, ready to search; raises ValueError for one that cannot be read.

    A name of words in any script, such as ``判断结果``, needs no quotes.
    """
    import jmespath
    from jmespath.exceptions import JMESPathError

    plain = expression.isascii() and expression.isidentifier()
    try:
        return jmespath.compile(
            f'"{expression}"' if not plain and _NAME.fullmatch(expression) else expression
        )
    except JMESPathError as error:
        # its message points at the place on a line of its own
        reason = " ".join(str(error).split())
        raise ValueError(f"{expression!r} is not a JMESPath expression: {reason}") from None


def match(expression: str, data: Any) -> Any:
    """What an expression finds in JSON, None for nothing; raises ValueError where it cannot be applied."""
    from jmespath.exceptions import JMESPathError

    try:
        return compiled(expression).search(data)
    except JMESPathError as error:
        raise ValueError(str(error)) from None


def fields_in(expression: str) -> frozenset[str]:
    """The names of fields that an expression looks for."""
    return frozenset(_fields(compiled(expression).parsed))


def _fields(node: Mapping[str, Any]) -> Iterator[str]:
    if node["type"] == "field":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, Mapping):
            yield from _fields(child)
