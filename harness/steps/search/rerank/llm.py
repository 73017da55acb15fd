"""Reranking by a language model: passage by passage, by windows of a list, or by the best of a few."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from harness import models
from harness.models import Malformed
from harness.steps.search.needs import Prompts, Warned
from harness.steps.search.rerank import ListScorer, Scored, hashed, sorting
from harness.steps.search.search_wordings import FAILURES, SEARCH
from harness.steps.search.step import RerankerConfig
from harness.values import MAX_GRADE, LlmAnswer, LlmCall, LlmError, Run, Silent, worded

FOLDER = Path(__file__).parent / "prompts"
_FAILING = models.FailurePolicy(FAILURES, "rerank", "as_ranked")
_YES = {"yes": True, "是": True, "no": False, "否": False, "不": False}
_ANSWERS = {"pointwise": "grade", "listwise": "order", "setwise": "best"}
_KEYS = {
    "pointwise": ("score", "max_grade"),
    "listwise": ("window", "stride"),
    "setwise": ("set_size", "first"),
}


class RerankPrompt(models.Prompt):
    """A prompt file of a reranker, which shows the question and the passages, each with its number."""

    answer: Literal["grade", "yes_no", "order", "best"] = Field(
        description="What it asks for: the `grade` of a single passage, `yes_no` for it, the `order` of all "
        "passages as [2] > [1], or the number of the `best` one."
    )


class LlmRerankerConfig(models.LlmStepConfig, RerankerConfig):
    """A language model reranks; its answers are paid once and kept in the ledger."""

    load = models.prompts_of(
        FOLDER, RerankPrompt, "a reranker", ("query", "passages"), ("count", "max_grade")
    )
    kind: Literal["llm"] = "llm"
    by: Literal["pointwise", "listwise", "setwise"] = Field(
        "pointwise",
        description="`pointwise`: a call for each passage; `listwise`: calls that put windows of the ranking "
        "in order, from the last to the first; `setwise`: a sort by calls that name the best of a few.",
    )
    prompt: RerankPrompt = Field(
        "",
        validate_default=True,
        description="Empty: `grade` for `pointwise`, `yes_no` for `score: logprob`, `order` for `listwise`, "
        "`best` for `setwise`; each is there in Chinese too, such as `grade_zh`. Or the path of your own "
        "file: it ends in `.yaml`, has `{{ query }}` and `{{ passages }}`, and says which `answer` it asks "
        "for: `grade`, `yes_no`, `order` or `best`.",
    )
    score: Literal["grade", "logprob"] = Field(
        "grade",
        description="For `pointwise`: a grade from 0 to `max_grade`, or the probability that the answer "
        "begins with yes and not with no (`logprob`), which needs `endpoint.top_logprobs`.",
    )
    max_grade: int = Field(MAX_GRADE, ge=1, le=100, description="The highest grade.")
    window: int = Field(20, ge=2, le=100, description="For `listwise`: passages in a call.")
    stride: int = Field(10, ge=1, description="For `listwise`: the step from one window to the next.")
    set_size: int = Field(4, ge=2, le=50, description="For `setwise`: passages in a call.")
    first: int = Field(
        10, ge=1, description="For `setwise`: how many places are sorted; the others keep their order."
    )
    on_failure: Literal["fail", "as_ranked"] = Field(
        "fail",
        description="A query with an answer that cannot be used ends the run or keeps its order "
        "(`as_ranked`), and the run lists them.",
    )

    @model_validator(mode="before")
    @classmethod
    def _has_a_prompt(cls, fields: Any) -> Any:
        if not isinstance(fields, dict) or fields.get("prompt"):
            return fields
        prompt_kind = (
            "yes_no" if fields.get("score") == "logprob" else _ANSWERS.get(str(fields.get("by")), "grade")
        )
        usual = cls.load(prompt_kind)
        # written as it was given, so that settings do not differ in it
        usual._asked_for = ""
        return {**fields, "prompt": usual}

    @model_validator(mode="after")
    def _fits_together(self) -> LlmRerankerConfig:
        for by, keys in _KEYS.items():
            changed = [key for key in keys if getattr(self, key) != type(self).model_fields[key].default]
            if changed and by != self.by:
                raise ValueError(f"{changed[0]} belongs to by: {by}; give each way its own section")
        read = "yes_no" if self.score == "logprob" else _ANSWERS[self.by]
        if self.prompt.answer != read:
            raise ValueError(f"the prompt has answer: {self.prompt.answer}; name one that has {read}")
        if read == "yes_no" and not self.endpoint.top_logprobs:
            raise ValueError("score: logprob needs endpoint.top_logprobs: set it, to 5 or more")
        if read == "yes_no" and self.endpoint.max_tokens == 1:
            raise ValueError(
                "score: logprob needs endpoint.max_tokens of 2 or more: cut answers are not used"
            )
        if self.stride > self.window:
            raise ValueError(
                f"a stride of {self.stride} leaves out passages between windows; keep it within the window"
            )
        return self

    @property
    def model_name(self) -> str:
        """The model's name."""
        return self.endpoint.model


@dataclass(frozen=True, slots=True)
class _Form(models.TextForm):
    """A prompt that is answered as its file says; ``most`` is the highest grade."""

    answer: str = "grade"
    most: int = MAX_GRADE

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed for anything but what the prompt asks for, such as one number of the scale."""
        if self.answer == "grade":
            value: object = self.grade(text)
        elif self.answer == "yes_no":
            value = models.TextForm.read(self, call, text)
        else:
            value = sorting.named_in(text, len(call.passages), self.answer == "order")
        return value if isinstance(value, Malformed) else None

    def grade(self, text: str) -> float | Malformed:
        """The number that an answer is, or the one in ``{"grade": 3}``."""
        value: Any = models.number_in(text)
        if value is None:
            holder = models.object_in(text, ("grade",), models.fields_named(self.system, self.user))
            value = None if isinstance(holder, Malformed) else holder["grade"]
        valid = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
        return float(value) if valid and 0 <= value <= self.most else Malformed("no_grade")

    def shortest(self, call: LlmCall) -> str:
        """The numbers that it asks for."""
        count = len(call.passages) if self.answer == "order" else 1
        return " > ".join(f"[{number}]" for number in range(1, count + 1))


def probability_of_yes(answer: LlmAnswer) -> float | Malformed:
    """The share of yes in the probability of yes and no as the first token that is not blank.

    As Nogueira et al., Document ranking with a pretrained sequence-to-sequence model, 2020 (monoT5), score
    true and false. Raises LlmError for an answer without log probabilities.
    """
    if not answer.logprobs:
        raise LlmError(
            f"score: logprob needs log probabilities, and {answer.model} gave none with its answer. Name an "
            "endpoint that returns top_logprobs, or use score: grade."
        )
    first = next((logprob for logprob in answer.logprobs if str(logprob.get("token", "")).strip()), {})
    listed = first.get("top_logprobs")
    sums = {True: 0.0, False: 0.0}
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("logprob"), int | float):
            token = str(entry.get("token")).strip().casefold()
            if token in _YES:
                sums[_YES[token]] += math.exp(min(0.0, entry["logprob"]))
    both = sums[True] + sums[False]
    return sums[True] / both if both else Malformed("no_yes_or_no")


class LlmScorer(ListScorer):
    """Asks for the score of each passage, or sorts by answers about several; equal scores keep the order."""

    def __init__(self, config: LlmRerankerConfig) -> None:
        super().__init__(config)
        prompt, most = config.prompt, config.max_grade
        self._form = _Form(*prompt.filled(max_grade=str(most)), prompt.answer, most)

    @property
    def fingerprint(self) -> str:
        """The prompt, the model and its parameters, and the sort."""
        c = self.config
        sort = [c.by, c.window, c.stride, c.set_size, c.first, c.on_failure]
        facts = [self._form.sha256, c.prompt.answer, c.endpoint.model, c.endpoint.parameters(), sort]
        return hashed("llm", facts)

    def run(self, lists: Sequence[Sequence[str]]) -> Run[list[Scored]]:
        """The scores of each list; one with an answer that cannot be used keeps its order, or LlmError."""
        c, prompt = self.config, self.config.prompt.name
        about = [
            [(query, (passage,)) for passage in passages]
            if c.by == "pointwise"
            else [(query, tuple(passages))]
            for query, *passages in lists
        ]
        distinct = list(dict.fromkeys(need for requests_of in about for need in requests_of))
        request = models.Request(c, self._form, distinct, prompt, "reranking", talk=self._talk)
        talks = yield Prompts(request, self.fingerprint)
        results = {
            request: (models.outcome(self._talk(request), talk.answers), talk)
            for request, talk in zip(distinct, talks, strict=True)
        }
        if repaired := sum(end.repaired for end, _ in results.values()):
            answered = sum(len(talk.answers) for talk in talks)
            named = {"model": c.model_name, "prompt": prompt}
            yield Warned([worded(SEARCH, "rerank.repaired", repaired=repaired, answered=answered, **named)])
        ranked: list[Scored] = []
        failed: dict[str, str] = {}
        for (query, *passages), requests in zip(lists, about, strict=True):
            scores = [score for need in requests for score in results[need][0].scores]
            if why := next((results[need][0].failed for need in requests if results[need][0].failed), ""):
                failed[repr(query[:60])] = why
                scores = [0.0] * len(passages)
            ranked.append((scores, models.sum_of(results[need][1].cost for need in set(requests))))
        heard = Silent()
        _FAILING.report(c, failed, len({query for query, *_ in lists}), heard)
        yield Warned(heard.warnings)
        return ranked

    def _talk(self, about: models.About) -> models.Talk[sorting.Ranked]:
        c, count = self.config, len(about[1])
        if c.by == "listwise":
            return sorting.sorted_by(about, sorting.by_windows(count, c.window, c.stride))
        if c.by == "setwise":
            return sorting.sorted_by(about, sorting.by_heap(count, c.set_size, c.first))
        return sorting.scored(about, self._score)

    def _score(self, answer: LlmAnswer) -> float | Malformed:
        return probability_of_yes(answer) if self._form.answer == "yes_no" else self._form.grade(answer.raw)
