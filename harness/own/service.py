"""A service of the user's own: where it is asked, how hard, and what its answers look like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm.endpoint import names_of_secrets, plain_headers, plain_url, read_secret_headers
from harness.own.code import Version
from harness.own.template import names_in

SECRETS = "headers_env"


def _is_plain(url: str) -> str:
    return plain_url(url, SECRETS)


def _is_json(request: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot be written as JSON: {error}") from error
    return request


Url = Annotated[str, AfterValidator(_is_plain)]
Method = Literal["POST", "PUT", "GET"]
Request = Annotated[dict[str, Any], AfterValidator(_is_json)]


class ServiceConfig(StageConfig):
    """Base of the configurations of steps that ask a service over HTTP.

    Waiting for the rate limit, or as long as the service asks (Retry-After), counts towards neither
    ``timeout`` nor ``deadline``.
    """

    url: Url = Field(description="Where the service is asked, with http:// or https://.")
    method: Method = Field(
        "POST", description="`POST` and `PUT` send the request as JSON, `GET` as the query of the URL."
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="HTTP headers; nothing secret, for records keep them."
    )
    headers_env: dict[str, str] = Field(
        default_factory=dict,
        description="Headers whose value is secret, each with the *name* of the environment variable that "
        "holds it, such as `{Authorization: SEARCH_TOKEN}`.",
    )
    request: Request = Field(
        description="What is sent, with `{{ names }}` that are filled in (docs/own-steps.md lists them)."
    )
    response: str = Field(
        "@", description="Where the answer stands in the JSON that comes back: a JMESPath expression."
    )
    version: Version
    batch_size: int = Field(
        32, ge=1, description="How many items a request holds, where it asks for several at once."
    )
    timeout: float = Field(30, gt=0, description="Seconds for one try of a request.")
    deadline: float = Field(120, gt=0, description="Seconds for all tries of a request together.")
    longest_pause: float = Field(
        600, ge=0, description="Seconds for which the service may ask to wait (Retry-After)."
    )
    max_concurrency: int = Field(8, ge=1, description="Requests on their way at once.")
    requests_per_minute: float | None = Field(None, gt=0, description="The rate limit.")

    @field_validator("headers")
    @classmethod
    def _plain_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        return plain_headers(headers)

    @field_validator("headers_env")
    @classmethod
    def _names_not_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        return names_of_secrets(headers)

    @field_validator("response")
    @classmethod
    def _can_be_searched(cls, expression: str) -> str:
        compiled(expression)
        return expression

    @model_validator(mode="after")
    def _deadline_holds_a_try(self) -> ServiceConfig:
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline ({self.deadline:g} s) is shorter than one timeout ({self.timeout:g} s)"
            )
        return self

    def service_facts(self) -> list[Any]:
        """All that decides an answer besides what is filled in: what the user states, and the request."""
        return [self.url, self.method, self.headers, self.request, self.response, self.version]

    def problem(self) -> str:
        """What keeps the service from being asked, such as a secret that is not set; it is not asked."""
        try:
            read_secret_headers(self.headers_env)
        except ConfigError as error:
            return f"{self.url}: {error}"
        return ""


def one_of(request: Any, one: str, several: str, others: Sequence[str]) -> bool:
    """Whether a request asks for several items at once; raises ValueError for names it cannot have.

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
        raise ValueError(f"{expression!r} is no JMESPath expression: {reason}") from None
