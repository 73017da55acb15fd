"""What the measures of citations share: their keys, and what a label must be to count."""

from __future__ import annotations

from pydantic import Field

from harness.answer.measure import AnswerMeasureConfig
from harness.measures.projection import Projection, Rule


class CitationConfig(AnswerMeasureConfig):
    """Base of the configurations of measures of citations."""

    rel: int = Field(1, ge=1, le=4, description="The lowest grade of a span that counts as evidence.")
    rule: Rule = Field(
        "half_of_span_or_chunk",
        description="When a passage holds a labelled span: that of `measures.projection`; where the label "
        "names the words that answer, the passage must hold all of them.",
    )

    @property
    def projection(self) -> Projection:
        """When a passage holds a span."""
        return Projection(self.rule)
