"""Answers → scores by the measures that a configuration asks for → rows: values and means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import judge
from harness.measures import AnswerMeasure, Case, PairModel
from harness.models import Form, ModelConfig, Request
from harness.report import AnswerScoreRow, AnswerSummaryRow
from harness.running.answering.replies import Replies, counted_reasons, golden_of
from harness.running.config.answers import AnswerScoringConfig, reranker_of
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.scoring import means_by_split, values_of
from harness.running.passes import pair_scores
from harness.running.tools import RunTools, pending_calls
from harness.steps import Pair, PendingCallsError, words_of
from harness.values import ConfigError, Judgment, LlmAnswer, LlmError, QueryScore, by_key, finite


@dataclass(frozen=True, slots=True)
class MeasuringTools:
    """``AnswerTools`` over a run: the model and the encoder that the configuration names."""

    config: AnswerScoringConfig
    context: Context

    def ask(
        self,
        form: Form,
        texts: Sequence[tuple[str, tuple[str, ...]]],
        name: str,
        samples: int = 1,
        voters: Sequence[ModelConfig] = (),
    ) -> list[LlmAnswer]:
        """The models' answers, from the ledger first; raises ConfigError if no model is named.

        Raises PendingCallsError with the missing calls of all voters where the run may not ask.
        """
        tools = RunTools(self.context)
        answers: list[LlmAnswer] = []

        def ask(model: ModelConfig) -> None:
            answers.extend(tools.answers(Request(model, form, texts, name, "measuring", samples)))

        models = voters or ((self.config.answer_judge,) if self.config.answer_judge else ())
        if not models:
            raise ConfigError(f"{name} asks a language model: name it in `answer_judge: {{endpoint: …}}`.")
        if missing := pending_calls(partial(ask, model) for model in models):
            raise PendingCallsError(*missing.values())
        return answers

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""
        return RunTools(self.context).vectors(texts, self.config.answer_embedding)

    def pair_scores(self, pairs: Sequence[Pair], model: PairModel) -> list[float]:
        """The scores of pairs of texts, from the cache where they are known, else computed or bought."""
        return pair_scores(pairs, reranker_of(model), self.context)


@dataclass(frozen=True, slots=True)
class Measured:
    """The answers of one setting as measures saw them, and their scores by measure, one a case each."""

    setting: str
    cases: tuple[Case, ...]
    scores: Mapping[str, tuple[QueryScore, ...]]


def cases_of(
    replied: Replies, corpus: Corpus, judgments: Mapping[str, Sequence[Judgment]]
) -> tuple[Case, ...]:
    """The cases for measures, by query. What it cites is kept apart from the text."""
    cases = []
    for query in corpus.queries.queries:
        reply = replied.replies[query.query_id]
        cases.append(
            Case(
                query=query,
                passages=tuple(chunk for _, chunk in replied.read[query.query_id]),
                answer=words_of(reply.text, cites=bool(reply.cited or reply.bad_citations)),
                reason=reply.reason,
                references=golden_of(corpus, query.query_id),
                cited=reply.cited,
                judgments=tuple(judgments.get(query.query_id, ())),
            )
        )
    return tuple(cases)


def measure_all(
    replied: Sequence[Replies],
    corpus: Corpus,
    judgments: Iterable[Judgment],
    config: AnswerScoringConfig,
    context: Context,
) -> list[Measured]:
    """The scores of all settings; each measure gets all cases together, so that equal ones are asked once.

    Raises LlmError if more calls of a measure have failed than ``answer_max_unscored`` allows.
    """
    own = by_key((judgment.query_id, judgment) for judgment in judgments)
    cases = [cases_of(one, corpus, own) for one in replied]
    every = [case for some in cases for case in some]
    scores: list[dict[str, tuple[QueryScore, ...]]] = [{} for _ in replied]
    with context.timed("measure answers"):
        for measure, found in scored(every, config, context):
            each = iter(found)
            for one, its, some in zip(replied, scores, cases, strict=True):
                its[measure.label] = tuple(replace(next(each), setting=one.setting) for _ in some)
    return [Measured(one.setting, some, its) for one, some, its in zip(replied, cases, scores, strict=True)]


def scored(
    cases: Sequence[Case], config: AnswerScoringConfig, context: Context
) -> Iterator[tuple[AnswerMeasure, Sequence[QueryScore]]]:
    """The scores of all cases by every measure.

    Raises LlmError if more than the share ``answer_max_unscored`` of the cases that could be scored have
    failed. A case that lacks what the measure looks at, such as an answer, could not be scored. A measure
    that is undefined for a case has not failed.
    """
    tools = MeasuringTools(config, context)
    for measure in config.answer_measures:
        scores = measure.run(cases, tools)
        if [one.query_id for one in scores] != [case.query.query_id for case in cases]:
            raise ValueError(f"{measure.label} did not give one score for each case, in their order")
        could = [score for case, score in zip(cases, scores, strict=True) if not measure.missing(case)]
        failed = [score.reason for score in could if score.failed]
        if len(failed) > config.answer_max_unscored * len(could):
            raise LlmError(
                f"{measure.label}: {len(failed)} of {len(could)} answers could not be scored "
                f"({counted_reasons(failed, ', ')}); answer_max_unscored allows "
                f"{config.answer_max_unscored:.0%}. What was answered is in the ledger. Set "
                f"`{'panel' if measure.voters else 'answer_judge'}.ask_again: true` to ask the failed calls "
                "again, name another model, or raise the limit."
            )
        if measure.voters:
            context.panels[measure.label] = panel_facts(scores)
        yield measure, scores


def panel_facts(scores: Sequence[QueryScore]) -> dict[str, Any]:
    """How the models of a panel voted on answers: ties, missing votes by model, and how far they agree."""
    votes = [score.details["votes"] for score in scores if "votes" in score.details]
    table = np.array([list(own.values()) for own in votes], dtype=float)
    return {
        "answers": len(votes),
        "ties": sum(bool(score.details.get("tie")) for score in scores),
        "no_vote": {name: sum(own[name] is None for own in votes) for name in votes[0]} if votes else {},
        **(judge.panel_agreement(list(votes[0]), table.T) if votes else {}),
    }


def answer_rows(
    measured: Sequence[Measured], clusters: Mapping[str, str], config: BenchConfig
) -> Iterator[Any]:
    """The rows of answer_scores.csv and answer_summary.csv."""
    for one in measured:
        queries = [case.query for case in one.cases]
        for measure, scores in one.scores.items():
            for query, score in zip(queries, scores, strict=True):
                yield AnswerScoreRow(
                    setting=one.setting,
                    query_id=query.query_id,
                    split=query.split,
                    cluster=clusters.get(query.query_id, ""),
                    measure=measure,
                    value=score.value,
                    reason=score.reason,
                    details=json.dumps(dict(score.details), ensure_ascii=False, sort_keys=True),
                )
            values = {measure: values_of(score.value for score in scores)}
            level = config.bootstrap.level
            for split, _, rows, mean in means_by_split(values, queries, clusters, level):
                reasons = [scores[i].reason for i in rows if scores[i].value is None]
                yield AnswerSummaryRow(
                    setting=one.setting,
                    split=split,
                    measure=measure,
                    mean=finite(mean.value),
                    ci_low=mean.low,
                    ci_high=mean.high,
                    n_queries=mean.n,
                    n_not_scored=len(reasons),
                    reasons=counted_reasons(reasons, "; "),
                )
