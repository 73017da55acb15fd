"""Search only for the names in a question: a route that finds the right company, year or product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, Literal, TypeVar

from pydantic import Field

from harness.steps.search.rewrite.names import NAMES_VERSION, names_in
from harness.steps.search.step import Identity, RewriterConfig, SeveralRewriter
from harness.steps.search.tools import Tools
from harness.values import Query


class NamingConfig(RewriterConfig):
    """Base of the configurations of rewriters that ask for names."""

    without: Literal["nothing", "as_asked"] = Field(
        "nothing",
        description="For a question that names nothing: search nothing, so that this route finds nothing, or "
        "search with the question itself (`as_asked`). The run reports how many there are.",
    )


Naming = TypeVar("Naming", bound=NamingConfig)


class NamingRewriter(SeveralRewriter[Naming], Generic[Naming]):
    """One query of all names, one after the other, or none at all."""

    @abstractmethod
    def names(self, queries: Sequence[Query], tools: Tools) -> list[list[str] | None]:
        """The names in each query; None: it is searched as it is, whatever the configuration says of none."""

    def phrasings(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """The names of each query as one text."""
        found = self.names(queries, tools)
        nothing = sum(names == [] for names in found)
        if nothing:
            becomes = "are searched as they are" if self.config.without == "as_asked" else "ask nothing"
            tools.reporter.note(
                f"{nothing} of {len(queries)} queries name nothing by `{self.config.kind}` and {becomes}."
            )
        kept = self.config.without == "as_asked"
        return [
            (replace(query, text=" ".join(names)),) if names else (query,) if kept or names is None else ()
            for query, names in zip(queries, found, strict=True)
        ]


class EntitiesConfig(NamingConfig):
    """Asks for the names, figures and quotations in a question, by rules; meant for one of several routes."""

    kind: Literal["entities"] = "entities"


class EntitiesRewriter(NamingRewriter[EntitiesConfig]):
    """English by capitals and figures, Chinese by titles, figures, endings and places."""

    def identity(self) -> Identity:
        """The rules."""
        return ["entities", NAMES_VERSION, self.config.without]

    def names(self, queries: Sequence[Query], tools: Tools) -> list[list[str] | None]:
        """The names that the rules find."""
        return [names_in(query.text) for query in queries]
