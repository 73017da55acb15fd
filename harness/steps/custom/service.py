"""A service of the user's as a step, asked over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from harness.models import Expression, HttpConfig, Method, Template, names_in, plain_url
from harness.steps.custom.code import Version, broken_contract
from harness.values import HarnessError

Url = Annotated[str, AfterValidator(partial(plain_url, secrets="headers_env"))]


class ServiceConfig(HttpConfig):
    """Base of the configurations of steps that ask a service over HTTP.

    A request has one of the names ``query`` and ``queries``, and any of the ``other_names``.
    """

    other_names: ClassVar[tuple[str, ...]] = ()

    url: Url = Field(description="The URL of the service, with http:// or https://.")
    method: Method = Field(
        "POST", description="`POST` and `PUT` send the request as JSON, `GET` as the query of the URL."
    )
    request: Template = Field(
        description="The request, with `{{ names }}` that are filled in (docs/own-steps.md lists them)."
    )
    response: Expression = Field(
        "@", description="A JMESPath expression that extracts the answer from the returned JSON."
    )
    version: Version
    batch_size: int = Field(
        32, ge=1, description="How many items one request contains, if it can contain several."
    )
    timeout: float = Field(30, gt=0, description="Seconds for one try of a request.")
    deadline: float = Field(120, gt=0, description="Seconds for all tries of a request in total.")

    @model_validator(mode="after")
    def _check_request(self) -> Self:
        names = known_names(self.request, ("query", "queries", *self.other_names))
        if len(names & {"query", "queries"}) != 1:
            raise ValueError("the request must have one of {{ query }} and {{ queries }}")
        return self

    @property
    def asks_several(self) -> bool:
        """Whether a request holds several queries."""
        return "queries" in names_in(self.request)

    def service_facts(self) -> list[Any]:
        """Everything besides the filled-in values that decides an answer: user settings and request."""
        return [self.url, self.method, self.headers, self.request, self.response, self.version]

    def broken(self, what: str) -> HarnessError:
        """The error for an answer of the service that breaks the contract."""
        return broken_contract(f"http: {self.url}", what)

    def problem(self) -> str:
        """Why the service cannot be called, such as a secret that is not set; nothing is sent."""
        problem = super().problem()
        return problem and f"{self.url}: {problem}"


def known_names(request: Any, allowed: Sequence[str]) -> set[str]:
    """The names that a request has; raises ValueError where one of them is not ``allowed``."""
    names = names_in(request)
    if unknown := sorted(names - {*allowed}):
        wrong, *right = (f"{{{{ {name} }}}}" for name in (unknown[0], *allowed))
        raise ValueError(f"the request names {wrong}; known are {', '.join(right)}")
    return names
