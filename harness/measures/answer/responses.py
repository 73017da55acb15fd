"""An answer as a response to its question: refused where it should be, to the point, as a user wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from harness.measures.answer.llm_measure import LlmMeasure, ask
from harness.measures.answer.measure import Case, MeasureFacts, Need, Scoring, TextPairs
from harness.measures.answer.steps import ASPECT, QUESTION, REFUSES
from harness.models import Malformed, ModelConfig
from harness.values import QueryScore, on_one_line, sentence_spans, vote_of

PHRASES = tuple((Path(__file__).parent / "assets" / "refusals.txt").read_text(encoding="utf-8").splitlines())
"""Phrases by which an answer refuses, in lower case."""


def refuses(answer: str, phrases: Sequence[str] = PHRASES) -> bool:
    """Whether the first sentence of an answer holds one of the phrases, which are in lower case.

    Later sentences do not count: an answer may add what is not known. Typographic apostrophes are read as
    plain ones.
    """
    spans = sentence_spans(answer)
    first = answer[slice(*spans[0])] if spans else ""
    plain = on_one_line(first).lower().replace("’", "'")
    return any(phrase in plain for phrase in phrases)


class Refusal(LlmMeasure):
    """Whether an answer is refused where there is none, and given where there is one."""

    gone: ClassVar = {"right": "this key was removed: refusing is right where the documents hold no answer."}
    kind: Literal["refusal"] = "refusal"
    steps: ClassVar = (REFUSES,)
    by: Literal["phrases", "llm"] = Field(
        "phrases",
        description="Whether a refusal is recognised by phrases in the answer, or by a language model.",
    )
    phrases: tuple[str, ...] = Field(
        PHRASES, description="Phrases by which an answer refuses, in lower case; English and Chinese."
    )
    of: Literal["all", "answerable", "unanswerable"] = Field(
        "all",
        description="All queries; or only those that the documents answer (1 minus the value is the rate of "
        "needless refusals), or do not (the value is the rate of rejection).",
    )
    facts: ClassVar = MeasureFacts(
        about="whether the answer refuses where there is no answer, and only there",
        formula="1 if refuses(answer) = (the query has no answer), else 0",
        undefined="without an answer; for queries that `of` leaves out",
        source="Chen et al., Benchmarking large language models in retrieval-augmented generation, AAAI "
        "2024, for the rejection rate; Rajpurkar et al., Know what you don't know, ACL 2018",
        needs=frozenset({"answer"}),
    )

    @property
    def needs(self) -> frozenset[Need]:
        """A model, where it is asked for."""
        return self.facts.needs | ({"llm"} if self.by == "llm" else set())

    def one(self, case: Case) -> Scoring:
        """No call, or one with ``by: llm``."""
        answer = case.answer or ""
        should = not case.query.answerable
        if self.of != "all" and should != (self.of == "unanswerable"):
            return self.unscored(case, "a refusal is right" if should else "an answer is right")
        if self.by == "llm":
            (refused,) = yield from ask(REFUSES, (case.query.text, (answer,)))
        else:
            refused = refuses(answer, self.phrases)
        return self.score(
            case, float(refused == should), {"refuses": int(refused), "should_refuse": int(should)}
        )


class AnswerRelevancy(LlmMeasure):
    """How similar the questions that an answer would answer are to the one that was asked."""

    kind: Literal["answer_relevancy"] = "answer_relevancy"
    steps: ClassVar = (QUESTION,)
    questions: int = Field(3, ge=1, le=20, description="How many questions are generated for an answer.")
    facts: ClassVar = MeasureFacts(
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
        back = yield from ask(QUESTION, ("", (case.answer or "",)), samples=self.questions)
        cosines = yield TextPairs(tuple((case.query.text, one.question) for one in back))
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


class AspectCritic(LlmMeasure):
    """Whether an answer meets a criterion of your own, by the majority of an odd number of verdicts.

    With a panel each model has one vote, which is the majority of its own verdicts.
    """

    kind: Literal["aspect_critic"] = "aspect_critic"
    steps: ClassVar = (ASPECT,)
    aspect: str = Field(
        min_length=1, description="The criterion, such as `The answer names a date.`; set `name` with it."
    )
    samples: int = Field(1, ge=1, le=21, description="How often each model is asked; an odd number.")
    panel: tuple[ModelConfig, ...] = Field(
        (),
        description="Models that vote in place of `answer_judge`, each with its keys; two or more, all "
        "different.",
    )
    facts: ClassVar = MeasureFacts(
        about="whether the answer meets a criterion of your own",
        formula="1 if more than half of n verdicts are yes, else 0; n is odd. With a `panel` each model "
        "votes so, and the value is 1 if more votes say yes than no; in a tie 0, and the reason says so",
        undefined="without an answer; with a `panel`, unless more than half of its models have voted, for "
        "which a model needs more than half of its verdicts",
        source="ragas `AspectCritic`",
        needs=frozenset({"answer", "llm"}),
        compare="ragas 0.4.3 asks once, whatever its `strictness`, and shows the passages and the reference "
        "too; here n verdicts are asked for, of question and answer alone. An even number is refused, "
        "where ragas takes one more. ragas has no panel.",
    )

    @field_validator("samples")
    @classmethod
    def _is_odd(cls, samples: int) -> int:
        if samples % 2 == 0:
            raise ValueError(f"{samples} verdicts may be a tie; take an odd number such as {samples + 1}")
        return samples

    @field_validator("panel")
    @classmethod
    def _differ(cls, panel: tuple[ModelConfig, ...]) -> tuple[ModelConfig, ...]:
        names = [one.asked_model for one in panel]
        if len(panel) == 1:
            raise ValueError("a panel of one model: name it in `answer_judge`, or add another")
        if len(set(names)) < len(names):
            raise ValueError("two models of the panel are the same; use samples to ask one several times")
        return panel

    @property
    def needs(self) -> frozenset[Need]:
        """No model but those of the panel, where there is one."""
        return self.facts.needs - ({"llm"} if self.panel else set())

    @property
    def voters(self) -> tuple[ModelConfig, ...]:
        """The panel."""
        return self.panel

    def one(self, case: Case) -> Scoring:
        """Ask n times, each model of a panel."""
        item = (case.query.text, (self.aspect, case.answer or ""))
        yes = yield from ask(ASPECT, item, samples=self.samples)
        if self.panel:
            return self._voted(case, yes)
        return self.score(case, float(2 * sum(yes) > len(yes)), {"verdicts": list(map(int, yes))})

    def _voted(self, case: Case, replies: Sequence[bool | Malformed]) -> QueryScore:
        """The majority of the panel; ``replies`` are all of the first model, then of the next."""
        votes: dict[str, int | None] = {}
        faults: list[str] = []
        for place, model in enumerate(self.panel):
            own = replies[place * self.samples : (place + 1) * self.samples]
            verdicts = [None if isinstance(one, Malformed) else int(one) for one in own]
            votes[model.asked_model] = vote = vote_of(verdicts)
            if vote is None:
                reasons = sorted({one.reason for one in own if isinstance(one, Malformed)})
                faults.append(f"no vote of {model.asked_model} ({', '.join(reasons)})")
        cast = [vote for vote in votes.values() if vote is not None]
        value, tie = vote_of(list(votes.values())), 2 * sum(cast) == len(cast) > 0
        if value is None:
            return self.unscored(case, "; ".join(faults), {"votes": votes}, failed=True)
        told = [f"a tie of {sum(cast)} to {sum(cast)}, which counts as no"] if tie else []
        details: dict[str, Any] = {"votes": votes, **({"tie": 1} if tie else {})}
        return replace(self.score(case, float(value), details), reason="; ".join([*told, *faults]))
