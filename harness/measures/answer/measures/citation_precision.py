"""Citation precision: how many of the passages that an answer cites hold labelled evidence."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.measures.answer.case import AnswerScore, Case
from harness.measures.answer.evidence import CitationConfig, facts_of, holdings
from harness.measures.answer.measure import MeasureFacts, PlainMeasure


class CitationPrecisionConfig(CitationConfig):
    """How many of the passages that an answer cites hold labelled evidence; no language model is asked."""

    kind: Literal["citation_precision"] = "citation_precision"
    unjudged: Literal["earns_nothing", "left_out"] = Field(
        "earns_nothing",
        description="An unjudged cited passage earns nothing, as in NDCG, or is left out. Either way the "
        "details have the share that is judged.",
    )


class CitationPrecision(PlainMeasure[CitationPrecisionConfig]):
    """Cited passages with evidence over cited passages; a passage cited twice counts once."""

    facts = MeasureFacts(
        about="the share of cited passages that contain labelled evidence",
        formula="|{p cited: p holds a span of grade ≥ rel}| / |{p cited}|",
        undefined="where nothing is cited, or no evidence is labelled for the query; with `unjudged: "
        "left_out` also where no cited passage is judged",
        source="the definition of Gao et al., Enabling large language models to generate text with "
        "citations, EMNLP 2023, with labelled spans in place of a model of entailment",
        needs=frozenset({"answer", "passages", "labels"}),
    )

    def one(self, case: Case) -> AnswerScore:
        """The share, and how many of the cited passages are judged."""
        c = self.config
        if not facts_of(case, c.rel):
            return self.unscored(case, "no evidence is labelled")
        cited = sorted(set(case.cited))
        if not cited:
            return self.unscored(case, "nothing is cited")
        held = holdings(case, c.rel, c.projection)
        judged = [place for place in cited if held[place].judged]
        good = [place for place in cited if held[place].facts]
        counted = cited if c.unjudged == "earns_nothing" else judged
        details = {"cited": cited, "with_evidence": good, "judged": len(judged) / len(cited)}
        if not counted:
            return self.unscored(case, "no cited passage is judged", details)
        return self.score(case, len(good) / len(counted), details)
