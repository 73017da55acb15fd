"""Refusal: whether an answer is refused where there is none, and only there."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.case import Case
from harness.measures.answer.evidence import facts_of, holdings
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask
from harness.measures.answer.measure import MeasureFacts, Need
from harness.measures.answer.steps import REFUSES
from harness.measures.answer.words import PHRASES, refuses
from harness.measures.projection import Projection


class RefusalConfig(LlmMeasureConfig):
    """Whether an answer is refused where there is none, and given where there is one."""

    kind: Literal["refusal"] = "refusal"
    steps: ClassVar = (REFUSES,)
    by: Literal["phrases", "llm"] = Field(
        "phrases",
        description="Whether a refusal is recognised by phrases in the answer, or by a language model.",
    )
    phrases: tuple[str, ...] = Field(
        PHRASES, description="Phrases by which an answer refuses, in lower case; English and Chinese."
    )
    right: Literal["unanswerable", "not_read"] = Field(
        "unanswerable",
        description="Refusing is right if the documents contain no answer (`answerable` in the queries), or "
        "also where no labelled evidence was read (`not_read`).",
    )
    of: Literal["all", "answerable", "unanswerable"] = Field(
        "all",
        description="All queries; or only those where an answer is right (1 minus the value is the rate of "
        "needless refusals), or a refusal is right (the value is the rate of rejection).",
    )


class Refusal(LlmMeasure[RefusalConfig]):
    """1 if the answer refuses exactly if it should."""

    facts = MeasureFacts(
        about="whether the answer refuses where there is no answer, and only there",
        formula="1 if refuses(answer) = (the query has no answer), else 0",
        undefined="without an answer; with `right: not_read` where no evidence is labelled for an "
        "answerable query; for queries that `of` leaves out",
        source="Chen et al., Benchmarking large language models in retrieval-augmented generation, AAAI "
        "2024, for the rejection rate; Rajpurkar et al., Know what you don't know, ACL 2018",
        needs=frozenset({"answer"}),
    )

    @property
    def needs(self) -> frozenset[Need]:
        """A model or labels, where they are asked for."""
        c, more = self.config, set[Need]()
        if c.by == "llm":
            more.add("llm")
        if c.right == "not_read":
            more.add("labels")
        return self.facts.needs | more

    def one(self, case: Case) -> Scoring:
        """No call, or one with ``by: llm``."""
        c, answer = self.config, case.answer or ""
        should = self._should_refuse(case)
        if should is None:
            return self.unscored(case, "no evidence is labelled")
        if c.of != "all" and should != (c.of == "unanswerable"):
            return self.unscored(case, "a refusal is right" if should else "an answer is right")
        if c.by == "llm":
            (refused,) = yield from ask(REFUSES, (case.query.text, (answer,)))
        else:
            refused = refuses(answer, c.phrases)
        return self.score(
            case, float(refused == should), {"refuses": int(refused), "should_refuse": int(should)}
        )

    def _should_refuse(self, case: Case) -> bool | None:
        """Whether a refusal is right; None if that is not known."""
        if not case.query.answerable:
            return True
        if self.config.right == "unanswerable":
            return False
        if not facts_of(case, 1):
            return None
        return not any(one.facts for one in holdings(case, 1, Projection()))
