"""An answer as a response to its question: refused where it should be, to the point, as a user wants it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from harness.measures.answer.citations import facts_of, holdings
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask, similarities
from harness.measures.answer.measure import Case, MeasureFacts, Need
from harness.measures.answer.steps import ASPECT, QUESTION, REFUSES
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


class AnswerRelevancyConfig(LlmMeasureConfig):
    """How similar the questions that an answer would answer are to the one that was asked."""

    kind: Literal["answer_relevancy"] = "answer_relevancy"
    steps: ClassVar = (QUESTION,)
    questions: int = Field(3, ge=1, le=20, description="How many questions are generated for an answer.")


class AnswerRelevancy(LlmMeasure[AnswerRelevancyConfig]):
    """The mean cosine of generated questions and the question; 0 if all find the answer noncommittal."""

    facts = MeasureFacts(
        about="how similar questions generated from the answer are to the question asked",
        formula="1/n Σ cos(v(question), v(question_i)), 0 where all n calls find the answer noncommittal",
        range="-1 to 1",
        undefined="without an answer, or if a vector is zero",
        source="Es et al., RAGAS, EACL 2024 (demonstrations); ragas `answer_relevancy`",
        needs=frozenset({"answer", "llm", "vectors"}),
        compare="ragas takes the mean of the questions that came back; here all n must.",
    )

    def one(self, case: Case) -> Scoring:
        """Ask n times, and embed all questions."""
        back = yield from ask(QUESTION, ("", (case.answer or "",)), samples=self.config.questions)
        cosines = yield from similarities(*((case.query.text, one.question) for one in back))
        details = {
            "questions": [
                {"question": one.question, "cosine": cosine, "noncommittal": int(one.noncommittal)}
                for one, cosine in zip(back, cosines, strict=True)
            ]
        }
        if all(one.noncommittal for one in back):
            return self.score(case, 0.0, details)
        known = [one for one in cosines if one is not None]
        if len(known) < len(back):
            return self.unscored(case, "a vector is zero", details)
        return self.score(case, sum(known) / len(known), details)


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
