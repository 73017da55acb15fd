"""The cost of answering and of measuring answers, determined without any call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.running.answering.replies import Replies, answer_group, golden_of, groups_of, read_by
from harness.running.answering.scores import MeasuringTools, cases_of, pending_calls
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.search import Chunked, Searched, as_read
from harness.running.tools import RETRIEVE, RunTools
from harness.steps import ANSWERERS, AnswerReply, PendingCalls, PendingCallsError
from harness.values import Query, Ranking


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """The calls to language models: to answer, and then by measures of answers.

    ``about``: rankings or answers are not known yet, so texts of about the same length take their place.
    Measures that ask twice, such as for statements and then whether each is supported, are known up to what
    they ask first, so ``measuring`` is a lower bound.
    """

    answering: tuple[PendingCalls, ...] = ()
    measuring: tuple[PendingCalls, ...] = ()
    about: bool = False

    @property
    def missing(self) -> tuple[PendingCalls, ...]:
        """Both."""
        return (*self.answering, *self.measuring)


def plan_answers(
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
    *,
    about: bool = False,
) -> AnswerPlan:
    """The calls still to be made, given rankings; ``about``: these only approximate the real ones."""
    missing: list[PendingCalls] = []
    replied: list[Replies] = []
    for stage, ones in groups_of(searched):
        if not ANSWERERS.make(stage).asks:
            replied += [_placeholder_answers(one, corpus) for one in ones]
            continue
        try:
            replied += answer_group(stage, ones, corpus.queries.queries, RunTools(context))
        except PendingCallsError as error:
            missing += error.missing
            about = True
            replied += [_placeholder_answers(one, corpus) for one in ones]
    return AnswerPlan(tuple(missing), _measuring(replied, corpus, config, context), about)


def placeholder_rankings(points: Sequence[Chunked], queries: Sequence[Query]) -> list[Searched]:
    """Settings as if they had found chunks spread evenly over the corpus: about the length to be read."""
    found = []
    for point in points:
        ids = [chunk.chunk_id for chunk in point.chunking.chunks]
        depth = min(len(ids), 50)
        some = [ids[i] for i in np.linspace(0, len(ids) - 1, depth).astype(int).tolist()] if ids else []
        scores = tuple(-float(i) for i in range(len(some)))
        rankings = [Ranking(query.query_id, tuple(some), scores) for query in queries]
        found.append(as_read(Searched(point.setting, point.chunking, {RETRIEVE: rankings}, {})))
    return found


def _placeholder_answers(one: Searched, corpus: Corpus) -> Replies:
    """A setting as if it answered as the query file does; with the question where that has no answer."""
    queries = corpus.queries.queries
    read = read_by(one, queries)
    replies = {q.query_id: AnswerReply(next(iter(golden_of(corpus, q.query_id)), q.text)) for q in queries}
    return Replies(one.setting.name, "", read, replies)


def _measuring(
    replied: Sequence[Replies], corpus: Corpus, config: BenchConfig, context: Context
) -> tuple[PendingCalls, ...]:
    every = [case for one in replied for case in cases_of(one, corpus, {})]
    tools = MeasuringTools(config.answer_scoring, context)
    # the others cost nothing, and a plan embeds nothing
    asking = [one for one in config.answer_measures if every and "llm" in one.needs]
    return pending_calls(partial(one.run, every, tools) for one in asking)
