"""A service of the user's as a step, asked over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from harness.models import Expression, HttpConfig, Method, Template, names_in, plain_url
from harness.steps.custom.code import Version, broken_contract
from harness.values import HarnessError

Url = Annotated[str, AfterValidator(partial(plain_url, secrets="headers_env"))]


class ServiceConfig(HttpConfig):
    """Base of the configurations of steps that ask a service over HTTP."""

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
