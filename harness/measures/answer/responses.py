"""An answer as a response to its question: refused where it should be, to the point, as a user wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from harness.measures.answer.answer_calls import ASPECT, QUESTION, REFUSES
from harness.measures.answer.answer_measure import Case, MeasureFacts, Need, Scoring, TextPairs
from harness.measures.answer.aspects import ASPECTS
from harness.measures.answer.citations import holds
from harness.measures.answer.llm_measure import LlmMeasure, ask, reasons_of
from harness.measures.answer.shapes import Reasoned
from harness.measures.projection import Projection
from harness.models import Malformed, ModelConfig
from harness.values import QueryScore, on_one_line, sentence_spans, vote_of, wording_pattern

PHRASES = tuple((Path(__file__).parent / "assets" / "refusals.txt").read_text(encoding="utf-8").splitlines())
"""Phrases by which an answer refuses, in lower case."""


def refuses(answer: str, phrases: Sequence[str] = PHRASES, *, anywhere: bool = False) -> bool:
    """Whether the first sentence of an answer holds one of the phrases, which are in lower case.

    Later sentences do not count, unless ``anywhere``: an answer may add what is not known. Typographic
    apostrophes are read as plain ones.
    """
    spans = sentence_spans(answer)
    first = answer[slice(*spans[0])] if spans else ""
    plain = on_one_line(answer if anywhere else first).lower().replace("’", "'")
    return any(phrase in plain for phrase in phrases)


def was_read(case: Case) -> bool:
    """Whether a passage that was read holds labelled evidence, or a wording of the golden answer.

    True where no evidence is labelled: then nothing says that the answer is missing.
    """
    relevant = [label for label in case.judgments if label.grade]
    if not relevant:
        return True
    # as `read: {kind: noise}` looks for it, so that what it leaves out was not read: `62` is not in `8,622`
    wording = wording_pattern(text for part in case.parts or (case.references,) for text in part)
    return any(
        wording.search(passage.text) or any(holds(passage, label, _COVERS) for label in relevant)
        for passage in case.passages
    )


_COVERS = Projection()


class Refusal(LlmMeasure):
    """Whether an answer is refused where there is none, and given where there is one."""

    gone: ClassVar = {"right": "this key was removed: answer_in says where an answer is looked for."}
    kind: Literal["refusal"] = "refusal"
    steps: ClassVar = (REFUSES,)
    by: Literal["phrases", "llm"] = Field(
        "phrases",
        description="Whether a refusal is recognised by phrases in the answer, or by a language model.",
    )
    phrases: tuple[str, ...] = Field(
        PHRASES, description="Phrases by which an answer refuses, in lower case; English and Chinese."
    )
    where: Literal["first_sentence", "anywhere"] = Field(
        "first_sentence",
        description="Where the phrases are looked for. Later sentences may add what is not known; RGB looks "
        "`anywhere`.",
    )
    answer_in: Literal["passages", "documents"] = Field(
        "passages",
        description="A refusal is right where the answer is not in the `passages` that were read, by the "
        "labels and the golden answer; where no evidence is labelled, and with `documents`, the query file "
        "decides (`answerable`).",
    )
    of: Literal["all", "answerable", "unanswerable"] = Field(
        "all",
        description="All queries; or only those whose answer is there (1 minus the value is the rate of "
        "needless refusals), or is not (the value is the rate of rejection).",
    )
    facts: ClassVar = MeasureFacts(
        about="whether the answer refuses where what was read holds no answer, and only there",
        formula="1 if refuses(answer) = (no passage read holds relevant text or the golden answer), else 0",
        undefined="without an answer; for queries that `of` leaves out; where a fact in what was read was "
        "replaced (`read: {kind: counterfactual}`)",
        source="Chen et al., Benchmarking large language models in retrieval-augmented generation, AAAI "
        "2024, for the rejection rate; Rajpurkar et al., Know what you don't know, ACL 2018",
        needs=frozenset({"answer"}),
    )

    @property
    def needs(self) -> frozenset[Need]:
        """A model, where it is asked for."""
        return self.facts.needs | ({"llm"} if self.by == "llm" else set())

    def score_case(self, case: Case) -> Scoring:
        """No call, or one with ``by: llm``."""
        answer = case.answer or ""
        if case.changed:
            return self.unscored(case, "a fact that was read is false")
        should = not case.query.answerable or (self.answer_in == "passages" and not was_read(case))
        if self.of != "all" and should != (self.of == "unanswerable"):
            return self.unscored(case, "a refusal is right" if should else "an answer is right")
        if self.by == "llm":
            (refused,) = yield from ask(REFUSES, (case.query.text, (answer,)))
        else:
            refused = Reasoned(refuses(answer, self.phrases, anywhere=self.where == "anywhere"))
        details = {"refuses": int(refused), "should_refuse": int(should), **reasons_of([refused])}
        return self.score(case, float(bool(refused) == should), details)


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

    def score_case(self, case: Case) -> Scoring:
        """Ask n times, and embed all questions."""
        back = yield from ask(QUESTION, ("", (case.answer or "",)), samples=self.questions)
        cosines = yield TextPairs(tuple((case.query.text, question.question) for question in back))
        details = {
            "questions": [
                {"question": question.question, "cosine": cosine, "noncommittal": int(question.noncommittal)}
                for question, cosine in zip(back, cosines, strict=True)
            ]
        }
        if all(question.noncommittal for question in back):
            return self.score(case, 0.0, details)
        defined = [cosine for cosine in cosines if cosine is not None]
        if len(defined) < len(back):
            return self.unscored(case, "a vector is zero", details)
        return self.score(case, sum(defined) / len(defined), details)


class AspectCritic(LlmMeasure):
    """Whether an answer meets a criterion of your own, by the majority of an odd number of verdicts.

    With a panel each model has one vote, which is the majority of its own verdicts.
    """

    kind: Literal["aspect_critic"] = "aspect_critic"
    steps: ClassVar = (ASPECT,)
    aspect: str = Field(
        min_length=1,
        description="The criterion, such as `The answer names a date.`, with a `name`; or the name of a "
        f"built-in one: {', '.join(f'`{name}`' for name in ASPECTS)}.",
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
        source="ragas `AspectCritic`; the built-in aspects are `SUPPORTED_ASPECTS` of ragas 0.1 in our "
        "words, and their names are kinds too: `answer_measures: [harmfulness]`",
        needs=frozenset({"answer", "llm"}),
        compare="ragas 0.4.3 asks once, whatever its `strictness`, and shows the passages and the reference "
        "too; here n verdicts are asked for, of question and answer alone. An even number is refused, "
        "where ragas takes one more. ragas has no panel. Of `harmfulness` and `maliciousness` less is "
        "better.",
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
        names = [model.asked_model for model in panel]
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
    def label(self) -> str:
        """Its name; without one, that of the built-in aspect."""
        return self.name or (self.aspect if self.aspect in ASPECTS else self.kind)

    @property
    def less_is_better(self) -> bool:
        """Whether the built-in aspect is a fault."""
        return self.aspect in ASPECTS and ASPECTS[self.aspect].less_is_better

    @property
    def criterion(self) -> str:
        """What the models are asked about."""
        return ASPECTS[self.aspect].criterion(self.language) if self.aspect in ASPECTS else self.aspect

    @property
    def voters(self) -> tuple[ModelConfig, ...]:
        """The panel."""
        return self.panel

    def score_case(self, case: Case) -> Scoring:
        """Ask n times, each model of a panel."""
        item = (case.query.text, (self.criterion, case.answer or ""))
        yes = yield from ask(ASPECT, item, samples=self.samples)
        if self.panel:
            return self._voted(case, yes)
        details = {"verdicts": list(map(int, yes)), **reasons_of(yes)}
        return self.score(case, float(2 * sum(yes) > len(yes)), details)

    def _voted(self, case: Case, replies: Sequence[Reasoned | Malformed]) -> QueryScore:
        """The majority of the panel; ``replies`` are all of the first model, then of the next."""
        votes: dict[str, int | None] = {}
        faults: list[str] = []
        explained: dict[str, list[str]] = {}
        for place, model in enumerate(self.panel):
            model_replies = replies[place * self.samples : (place + 1) * self.samples]
            verdicts = [None if isinstance(reply, Malformed) else int(reply) for reply in model_replies]
            votes[model.asked_model] = vote = vote_of(verdicts)
            if reasons := [
                reply.reason for reply in model_replies if isinstance(reply, Reasoned) and reply.reason
            ]:
                explained[model.asked_model] = reasons
            if vote is None:
                why = sorted({reply.reason for reply in model_replies if isinstance(reply, Malformed)})
                faults.append(f"no vote of {model.asked_model} ({', '.join(why)})")
        cast = [vote for vote in votes.values() if vote is not None]
        value, tie = vote_of(list(votes.values())), 2 * sum(cast) == len(cast) > 0
        if value is None:
            return self.unscored(case, "; ".join(faults), {"votes": votes}, failed=True)
        tied = [f"a tie of {sum(cast)} to {sum(cast)}, which counts as no"] if tie else []
        details: dict[str, Any] = {"votes": votes, **({"tie": 1} if tie else {})}
        details |= {"reasons": explained} if explained else {}
        return replace(self.score(case, float(value), details), reason="; ".join([*tied, *faults]))
