"""Cases and tools for the tests of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.measures import Case
from harness.models import Malformed
from harness.running import Loop, Visitor
from harness.values import Chunk, Judgment, LlmAnswer, Query, under_way


def case(
    answer: str | None = None,
    reference: str | None = None,
    *,
    question: str = "What is it?",
    passages: Sequence[str] = (),
    cited: Sequence[int] = (),
    judgments: Sequence[Judgment] = (),
    answerable: bool = True,
    reason: str = "",
    query_id: str = "q",
) -> Case:
    """A case; passage i is document ``d{i}`` from its first character on."""
    shown = [Chunk(f"d{i}:0-{len(text)}", f"d{i}", 0, len(text), text) for i, text in enumerate(passages)]
    query = Query(query_id, question, "train", answerable)
    references = () if reference is None else (reference,)
    reason = reason or ("" if answer is not None else "timeout")
    return Case(query, tuple(shown), answer, reason, references, tuple(cited), tuple(judgments))


class NoNeeds(Visitor):
    """Drives steps that need nothing."""

    def give(self, wanted):
        raise AssertionError(wanted)

    def meet(self, wanted):
        raise AssertionError(wanted)


@dataclass
class ToyTools:
    """Answers by a function of (prompt name, query, passages, sample); counts what it was asked."""

    reply: Callable[[str, str, tuple[str, ...], int], str | None] = lambda *_: None
    vector_of: Callable[[str], Sequence[float]] = lambda text: [1.0]
    score_of: Callable[[str, str], float] = lambda answer, golden: 0.0
    asked: list[tuple[str, str, tuple[str, ...], int]] = field(default_factory=list)

    def score(self, measure, cases):
        """The scores of cases by a measure."""
        return Loop(NoNeeds()).run({"0": measure.run(cases, self)})["0"]

    def ask(self, form, texts, name, samples=1, voters=()):
        return under_way(self.said(form, texts, name, samples, voters))

    def said(self, form, texts, name, samples=1, voters=()):
        found = []
        # a voter is heard by its number among the samples
        for sample in range(samples * max(1, len(voters))):
            found += [self._answer(form, query, passages, name, sample) for query, passages in texts]
        return found

    def _answer(self, form, query, passages, name, sample):
        self.asked.append((name, query, tuple(passages), sample))
        raw = self.reply(name, query, tuple(passages), sample)
        one = LlmAnswer(
                query, tuple(passages), form.sha_of(query), "toy", {}, sample,
                True, None, "" if raw is not None else "timeout", raw or "", 1, 1, 0.0, 0.0, "", "toy",
            )  # fmt: skip
        read = form.read(one, raw) if raw is not None else None
        if isinstance(read, Malformed):
            one = LlmAnswer(
                    query, tuple(passages), form.sha_of(query), "toy", {}, sample,
                    True, None, read.reason, raw or "", 1, 1, 0.0, 0.0, "", "toy",
                )  # fmt: skip
        return one

    def vectors(self, texts):
        return under_way(np.array([self.vector_of(text) for text in texts], dtype=np.float32))

    def pair_scores(self, pairs, model):
        return under_way([self.score_of(*pair) for pair in pairs])


NO_TOOLS = ToyTools()
