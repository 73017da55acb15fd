"""The judge that asks a language model: pairs in, judgments out, every answer in the ledger.

Several samples of one judgment, or the probabilities of its tokens, become one grade.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice
from math import floor
from typing import Any

from harness.judge.config import Combine, LlmConfig
from harness.judge.pair_grades import JudgeTools, Pair, PairGrade, Sink, Summary
from harness.judge.prompting import Example, Examples, GradingForm, JudgePrompt, load_prompt
from harness.models import Estimate, Inquiry, Job, Model, ask, one_line
from harness.store import Ledger
from harness.values import ConfigError, JudgeError, LlmAnswer, LlmCall, Reporter, most_frequent

QueryPairs = tuple[Pair, ...]
"""The pairs of one query that are graded in one call, in their own order."""

# Why a pair has no grade whose answers can be read and not weighted.
NO_LOGPROBS = "no_logprobs"


class LlmJudge:
    """Grades pairs by asking ``config.endpoint``; holds no key and opens no connection until it has to.

    ``candidates`` are what people have graded, from which ``config.examples`` are shown.
    """

    def __init__(self, config: LlmConfig, ledger: Ledger, candidates: Sequence[Example] = ()) -> None:
        self.config = config
        self.name = config.title
        self.prompt = load_prompt(config.prompt)
        if config.combine == "expected" and self.prompt.answer != "grade":
            raise ConfigError(
                f"combine: expected needs a prompt that asks for one grade; {config.prompt} does not. Use "
                "pointwise, or combine: mean."
            )
        if isinstance(self.prompt.reply, dict) and (config.examples or config.combine == "expected"):
            raise ConfigError(
                f"{config.prompt} has a reply of its own shape, where examples and combine: expected do not "
                "know the grade. Use majority or mean, and write examples into the prompt."
            )
        examples = Examples(candidates, config.examples) if config.examples else None
        if examples is not None and not candidates:
            raise ConfigError("examples: there is no label of a train query to show. Name a label file.")
        if examples is not None and (self.prompt.answer != "grade" or self.prompt.aspects):
            raise ConfigError(f"examples need a prompt for one grade, not {config.prompt}. Use pointwise.")
        self.examples = examples
        self.form = GradingForm(self.prompt, config.endpoint.structured, examples)
        # a form that the endpoint cannot be asked for is refused before anything is paid for
        _ = self.form.response_format
        self.model = Model(config, self.form, ledger)

    @classmethod
    def of(cls, config: LlmConfig, tools: JudgeTools) -> LlmJudge:
        """The judge of a run; people's labels serve it as examples where it shows any."""
        return cls(config, tools.ledger, candidates=tools.people_graded() if config.examples else ())

    @property
    def fingerprint(self) -> dict[str, object]:
        """The facts about the judge in a run record: model, address, parameters, prompt; no secret."""
        endpoint = self.config.endpoint
        return {
            "kind": "llm",
            "model": endpoint.model,
            "base_url": endpoint.address,
            "parameters": endpoint.parameters(),
            "prompt": f"{self.prompt.id} v{self.prompt.version}",
            "prompt_sha256": self.prompt.sha256,
            "samples": self.config.samples,
            "combine": self.config.combine,
        } | ({} if self.examples is None else {"examples_sha256": self.examples.sha256})

    def estimate(self, pairs: Iterable[Pair]) -> Estimate:
        """Estimate the cost of grading, without a call; reads the pairs once."""
        return self.model.estimate(self.jobs(pairs), noun="pairs")

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """The cost of grading, under the name of the judge."""
        return [(self.name, self.estimate(pairs))]

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, each handed to ``sink`` as soon as it is graded (in no set order).

        Pairs are read as they are needed, so a generator of any length takes constant memory. ``total`` is
        their number, for the progress bar and for stopping as soon as ``max_unscored`` cannot be met any
        more. Raises LlmError where it cannot go on, or JudgeError when too many pairs have no grade; in
        each case all answers are in the ledger and the next run goes on from there.
        """
        summary = Summary(judge=self.name)
        inquiry = self.inquiry(pairs, sink, summary, total)
        ask([inquiry], reporter=reporter, name="judging", total=total or 0)
        summary.check_unscored(self.config.max_unscored, summary.pairs)
        return summary

    def inquiry(
        self, pairs: Iterable[Pair], sink: Sink, summary: Summary, total: int | None
    ) -> Inquiry[QueryPairs]:
        """What ``grade`` asks, counted in ``summary``; for judges that are asked at the same time."""

        def hand_on(item: QueryPairs, answers: Sequence[LlmAnswer]) -> None:
            for graded in self._graded(item, answers):
                summary.note(graded)
                sink(graded)
            if total:
                summary.check_unscored(self.config.max_unscored, total)

        return Inquiry(self.model, self.jobs(pairs), hand_on, summary)

    def jobs(self, pairs: Iterable[Pair]) -> Iterator[Job[QueryPairs]]:
        """The calls for all samples of each item, in order."""
        for item in items_of(pairs, self.prompt):
            yield Job(item, tuple(self.calls(item)), len(item))

    def calls(self, item: QueryPairs) -> list[LlmCall]:
        """The call for each sample of an item."""
        query, passages = item[0].query.text, tuple(pair.passage.text for pair in item)
        return [self.model.call(query, passages, n) for n in range(self.config.samples)]

    def _graded(self, item: QueryPairs, answers: Sequence[LlmAnswer]) -> list[PairGrade]:
        """Combine the samples of an item; a pair is scored when more than half of its samples are."""
        cost = self.model.cost(self.calls(item))
        each = None if cost is None else cost / len(item)
        source = f"ledger:{self.model.ledger.key(answers[0])[:16]}"
        return [self._pair_grade(pair, at, answers, each, source) for at, pair in enumerate(item)]

    def _pair_grade(
        self, pair: Pair, at: int, answers: Sequence[LlmAnswer], cost: float | None, source: str
    ) -> PairGrade:
        samples = tuple(answer.grades[at] for answer in answers if answer.grades is not None)
        enough = 2 * len(samples) > len(answers)
        grade = self._combined(at, answers, samples) if enough else None
        failed = [answer for answer in answers if answer.grades is None]
        reason, detail = ("", "") if enough else (failed[0].reason, one_line(failed[0].raw))
        if enough and grade is None:
            reason, detail = NO_LOGPROBS, one_line(answers[0].raw)
        judgment = pair.judgment(grade, self.name, source, answers[0].prompt_sha)
        explanation = "" if grade is None else self._explanation(at, answers, grade)
        return PairGrade(pair, judgment, samples, spread_of(samples), reason, cost, detail, explanation)

    def _explanation(self, at: int, answers: Sequence[LlmAnswer], grade: int) -> str:
        """The reason of the first sample that gave ``grade``, else of the first that gave any grade."""
        if not self.prompt.explains:
            return ""
        graded = sorted(
            (answer for answer in answers if answer.grades is not None),
            key=lambda answer: answer.grades is not None and answer.grades[at] != grade,
        )
        return self.form.reasons(graded[0], graded[0].raw)[at]

    def _combined(self, at: int, answers: Sequence[LlmAnswer], samples: Sequence[int]) -> int | None:
        """The grade of a pair; None if it should be weighted and half of the answers have no weights."""
        if self.config.combine != "expected":
            return combine_grades(samples, self.config.combine)
        weighted = [
            expected_grade(answer.grades[at], answer.logprobs, self.prompt.max_grade)
            for answer in answers
            if answer.grades is not None
        ]
        usable = [value for value in weighted if value is not None]
        return rounded_mean(usable) if 2 * len(usable) > len(answers) else None


def items_of(pairs: Iterable[Pair], prompt: JudgePrompt) -> Iterator[QueryPairs]:
    """Group pairs for a prompt, lazily; the pairs of a query must follow one another."""
    if not prompt.listwise:
        yield from ((pair,) for pair in pairs)
        return
    seen: set[str] = set()
    for query_id, group in groupby(pairs, key=lambda pair: pair.query.query_id):
        if query_id in seen:
            raise JudgeError(f"The pairs of query {query_id} are not consecutive, as a list prompt needs.")
        seen.add(query_id)
        while chunk := tuple(islice(group, prompt.list_size)):
            yield chunk


# Below this share of the probability in the alternatives named, too much is unknown.
LEAST_KNOWN = 0.5
_DIGIT = re.compile(r"\d")


def combine_grades(grades: Sequence[int], how: Combine) -> int:
    """One grade out of several: the most frequent (of equals the lower), or the mean rounded, halves down.

    Doubt goes to the lower grade, as the prompts ask of a single answer.
    """
    return most_frequent(grades) if how == "majority" else rounded_mean(grades)


def rounded_mean(values: Sequence[float]) -> int:
    """The mean as a grade, halves down."""
    mean = sum(values) / len(values)
    return floor(mean) if mean - floor(mean) <= 0.5 else floor(mean) + 1


def spread_of(grades: Sequence[int]) -> int:
    """The range of the samples: highest less lowest; 0 for one sample."""
    return max(grades) - min(grades) if grades else 0


_GRADE_FIELD = re.compile(r'(?<!\\)"grade"\s*:\s*"?(?=\d)')


def _tokens_of_grade(logprobs: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The tokens that may say the grade, the likeliest first: that of the field, else all from the end."""
    ends = list(accumulate(len(str(token.get("token", ""))) for token in logprobs))
    # the last one: thoughts before the answer may have the field too
    fields = list(_GRADE_FIELD.finditer("".join(str(token.get("token", "")) for token in logprobs)))
    return [logprobs[bisect_right(ends, fields[-1].end())]] if fields else list(reversed(logprobs))


def expected_grade(grade: int, logprobs: Sequence[Mapping[str, Any]] | None, max_grade: int) -> float | None:
    """The mean of the grades 0..``max_grade``, weighted by their probabilities where ``grade`` was written.

    ``logprobs`` are the tokens of the answer with their alternatives, as the chat-completions protocol writes
    them. The token of the field ``grade`` is the one, whatever a reason behind it says; in an answer without
    that field the last token that says ``grade``. What the alternatives spread over other words is left out,
    and the rest adds up to 1 (Liu et al., EMNLP 2023, weight the scores of an evaluation in this way). None
    if no token says the grade by itself, or the grades named hold less than half of the probability.
    """
    for token in _tokens_of_grade(logprobs or ()):
        text = str(token.get("token", ""))
        if _DIGIT.findall(text) != [str(grade)] or text.strip("\"'`*. \n\t:}") != str(grade):
            continue
        # what an alternative would have written in its place
        spellings = {text.replace(str(grade), str(value), 1): value for value in range(max_grade + 1)}
        probabilities: dict[int, float] = {}
        for other in (token, *(token.get("top_logprobs") or ())):
            value = spellings.get(str(other.get("token", "")))
            if value is not None and isinstance(other.get("logprob"), int | float):
                # an endpoint may list the token that it has chosen among the alternatives, or not
                probabilities[value] = max(
                    probabilities.get(value, 0.0), math.exp(min(0.0, other["logprob"]))
                )
        total = sum(probabilities.values())
        if total < LEAST_KNOWN:
            return None
        return sum(value * share for value, share in probabilities.items()) / total
    return None
