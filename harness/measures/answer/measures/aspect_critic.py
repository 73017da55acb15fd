"""Aspect critic: whether an answer meets a criterion in the user's words."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import ASPECT


class AspectCriticConfig(LlmMeasureConfig):
    """Whether an answer meets a criterion of your own, by the majority of an odd number of verdicts."""

    kind: Literal["aspect_critic"] = "aspect_critic"
    steps: ClassVar = (ASPECT,)
    aspect: str = Field(
        min_length=1, description="The criterion, such as `The answer names a date.`; set `name` with it."
    )
    samples: int = Field(1, ge=1, le=21, description="How often the model is asked; an odd number.")

    @field_validator("samples")
    @classmethod
    def _is_odd(cls, samples: int) -> int:
        if samples % 2 == 0:
            raise ValueError(f"{samples} verdicts may be a tie; take an odd number such as {samples + 1}")
        return samples


class AspectCritic(LlmMeasure[AspectCriticConfig]):
    """1 if most verdicts say that the criterion is met."""

    facts = MeasureFacts(
        about="whether the answer meets a criterion of your own",
        formula="1 if more than half of n verdicts are yes, else 0; n is odd",
        undefined="without an answer",
        source="ragas `AspectCritic`",
        needs=frozenset({"answer", "llm"}),
        compare="ragas 0.4.3 asks once, whatever its `strictness`, and shows the passages and the reference "
        "too; here n verdicts are asked for, of question and answer alone. An even number is refused, "
        "where ragas takes one more.",
    )

    def one(self, case: Case) -> Scoring:
        """Ask n times."""
        c = self.config
        item = (case.query.text, (c.aspect, case.answer or ""))
        yes = yield from ask(ASPECT, item, samples=c.samples)
        return self.score(case, float(2 * sum(yes) > len(yes)), {"verdicts": list(map(int, yes))})
