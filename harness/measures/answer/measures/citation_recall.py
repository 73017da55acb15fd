"""Citation recall: how much of the labelled evidence that was read an answer cites."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.measures.answer.case import AnswerScore, Case
from harness.measures.answer.evidence import CitationConfig, facts_of, holdings
from harness.measures.answer.measure import MeasureFacts, PlainMeasure


class CitationRecallConfig(CitationConfig):
    """How much of the labelled evidence an answer cites; no language model is asked."""

    kind: Literal["citation_recall"] = "citation_recall"
    of: Literal["read", "all"] = Field(
        "read",
        description="Of the evidence in the passages that were read, which is what an answer can cite; or "
        "of `all` evidence of the query, which also counts what retrieval has missed.",
    )


class CitationRecall(PlainMeasure[CitationRecallConfig]):
    """Facts cited over facts read; spans with one evidence name are one fact."""

    facts = MeasureFacts(
        about="the share of the labelled facts in the passages read that the answer cites",
        formula="|facts held by cited passages| / |facts held by the passages read|; with `of: all` / |facts "
        "labelled for the query|. Spans with one evidence name are one fact",
        undefined="where no evidence is labelled for the query, or none of it was read (with `of: read`)",
        source="as `citation_precision`; facts as in `recall`",
        needs=frozenset({"answer", "passages", "labels"}),
    )

    def one(self, case: Case) -> AnswerScore:
        """The share, with the numbers behind it."""
        c = self.config
        labelled = facts_of(case, c.rel)
        if not labelled:
            return self.unscored(case, "no evidence is labelled")
        held = holdings(case, c.rel, c.projection)
        read = frozenset().union(*(one.facts for one in held))
        cited = frozenset().union(*(held[place].facts for place in set(case.cited)))
        details = {"facts_cited": len(cited), "facts_read": len(read), "facts_labelled": len(labelled)}
        most = read if c.of == "read" else labelled
        if not most:
            return self.unscored(case, "no labelled evidence was read", details)
        return self.score(case, len(cited) / len(most), details)
