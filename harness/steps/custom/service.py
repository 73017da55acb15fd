"""A user-defined service: its address, its request template, its limits, and how its answers are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from harness.models import HttpConfig, as_json, plain_url
from harness.steps.custom.code import Version

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
Method = Literal["POST", "PUT", "GET"]
Request = Annotated[dict[str, Any], AfterValidator(as_json)]


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


Url = Annotated[str, AfterValidator(partial(plain_url, secrets="headers_env"))]


class ServiceConfig(HttpConfig):
    """Base of the configurations of steps that ask a service over HTTP."""

    url: Url = Field(description="The URL of the service, with http:// or https://.")
    method: Method = Field(
        "POST", description="`POST` and `PUT` send the request as JSON, `GET` as the query of the URL."
    )
    request: Request = Field(
        description="The request, with `{{ names }}` that are filled in (docs/own-steps.md lists them)."
    )
    response: str = Field(
        "@", description="A JMESPath expression that extracts the answer from the returned JSON."
    )
    version: Version
    batch_size: int = Field(
        32, ge=1, description="How many items one request contains, if it can contain several."
    )
    timeout: float = Field(30, gt=0, description="Seconds for one try of a request.")
    deadline: float = Field(120, gt=0, description="Seconds for all tries of a request in total.")

    @field_validator("response")
    @classmethod
    def _can_be_searched(cls, expression: str) -> str:
        compiled(expression)
        return expression

    @property
    def asks_several(self) -> bool:
        """Whether a request holds several queries."""
        return "queries" in names_in(self.request)

    def service_facts(self) -> list[Any]:
        """Everything besides the filled-in values that decides an answer: user settings and request."""
        return [self.url, self.method, self.headers, self.request, self.response, self.version]

    def problem(self) -> str:
        """Why the service cannot be called, such as a secret that is not set; nothing is sent."""
        problem = super().problem()
        return problem and f"{self.url}: {problem}"


def one_of(request: Any, one: str, several: str, others: Sequence[str]) -> bool:
    """Whether a request holds several items; raises ValueError for names it cannot have.

    It has exactly one of the names ``one`` and ``several``, and of the ``others`` any.
    """
    names = names_in(request)
    unknown = sorted(names - {one, several, *others})
    known = ", ".join(f"{{{{ {name} }}}}" for name in (one, several, *others))
    if unknown:
        raise ValueError(f"the request names {{{{ {unknown[0]} }}}}; known are {known}")
    if (one in names) == (several in names):
        raise ValueError(f"the request must have one of {{{{ {one} }}}} and {{{{ {several} }}}}")
    return several in names


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
