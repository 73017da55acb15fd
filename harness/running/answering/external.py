"""Answers of runs and of other pipelines → the values of measures, beside those that people gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from harness import comparison, judge
from harness.comparison import Interval, mean_of
from harness.data import AnsweredQuery, Passage, input_table, read_rows
from harness.judge import FEWEST, corrected_mean, kendall_tau
from harness.measures import AGAINST_GOLDEN, EXPLAINING, AnswerMeasure, Case, in_tiers
from harness.report import PassageRow, QueryRow, ReplyPassageRow, ReplyRow, Table, read_any
from harness.running.answering.answer_scores import calls_of, scored
from harness.running.config.answer_measures import AnswerScoringConfig
from harness.running.evaluate.scoring import values_of
from harness.running.loop import Visitor
from harness.running.notes import RunNotes
from harness.running.planning import Planning
from harness.steps import PendingCalls
from harness.values import (
    Column,
    CorpusError,
    HarnessError,
    QueryScore,
    by_key,
    counted,
    golden_answers,
    golden_parts,
    guide,
    interval,
    number,
    suggestion,
)


@dataclass(frozen=True, slots=True)
class MeasureScores:
    """The scores of all questions by one measure, in their order, their mean, and how a panel voted."""

    measure: str
    scores: tuple[QueryScore, ...]
    mean: Interval
    less_is_better: bool
    panel: Mapping[str, Any] = field(default_factory=dict)


def score_external(
    exchanges: Sequence[AnsweredQuery], config: AnswerScoringConfig, visitor: Visitor, notes: RunNotes
) -> list[MeasureScores]:
    """Every measure over all questions; questions in the same words are one cluster of the intervals.

    Raises CorpusError if a measure needs passages whose text is not known, and LlmError where more calls
    have failed than ``answer_max_unscored`` allows.
    """
    clusters = [exchange.question for exchange in exchanges]
    places = {measure.label: place for place, measure in enumerate(in_tiers(config.answer_measures))}
    measured = [
        MeasureScores(
            measure.label,
            tuple(scores),
            mean_of(values_of(score.value for score in scores), clusters),
            measure.less_is_better,
            notes.panels.get(measure.label, {}),
        )
        for measure, scores in scored(_prepared(exchanges, config), config, visitor, notes)
    ]
    return sorted(measured, key=lambda scores: places[scores.measure])


def price_external(
    exchanges: Sequence[AnsweredQuery], config: AnswerScoringConfig, planning: Planning
) -> tuple[PendingCalls, ...]:
    """The calls that scoring would make, at most: what is asked about answers is as long as these may be.

    Raises CorpusError as ``score_external`` does.
    """
    return calls_of(_prepared(exchanges, config), config.answer_measures, config, planning)


def _prepared(exchanges: Sequence[AnsweredQuery], config: AnswerScoringConfig) -> list[Case]:
    _refuse_unknown_texts(exchanges, config.answer_measures)
    return [exchange.as_case() for exchange in exchanges]


def external_table(title: str, measured: Sequence[MeasureScores]) -> Table:
    """One row per measure: mean, interval, and how many questions count, failed and have no value."""
    rows, notes = [], []
    for scores in measured:
        missing = [score for score in scores.scores if score.value is None]
        failed = sum(score.failed for score in missing)
        name = f"{scores.measure} (less is better)" if scores.less_is_better else scores.measure
        bounds, n = interval(scores.mean.low, scores.mean.high, scores.mean.n), str(scores.mean.n)
        rows.append((name, number(scores.mean.value), bounds, n, str(failed), str(len(missing) - failed)))
        reasons = Counter(score.reason for score in missing).most_common(3)
        if reasons:
            counts = "; ".join(f"{reason} ({count})" for reason, count in reasons)
            notes.append(f"{scores.measure} has no value: {counts}.")
        if scores.panel.get("answers"):
            notes.append(f"{scores.measure}: {judge.votes_in_words(scores.panel)}")
    columns = ("measure", "mean", "95% interval", "n", "failed", "undefined")
    return Table(title, columns, tuple(rows), notes=tuple(notes))


def external_fault(name: str, scored_by: Sequence[MeasureScores], config: AnswerScoringConfig) -> str:
    """Where the fault of answers lies, by the measures that explain them; '' if too few are known.

    ``name`` says whose answers they are.
    """
    means = {scores.measure: scores.mean.value for scores in scored_by if scores.mean.n}
    labels = {measure.kind: measure.label for measure in config.answer_measures if measure.label in means}
    headline = next((labels[kind] for kind in AGAINST_GOLDEN if kind in labels), None)
    if headline is None:
        return ""
    explained = {kind: (labels[kind], means[labels[kind]]) for kind in EXPLAINING if kind in labels}
    fault = comparison.explained_alone(name, headline, means[headline], explained)
    return "" if fault is None else comparison.fault_sentence(fault)


def _refuse_unknown_texts(exchanges: Sequence[AnsweredQuery], measures: Sequence[AnswerMeasure]) -> None:
    reading = [measure.label for measure in measures if "passages" in measure.needs]
    unknown = [
        exchange for exchange in exchanges if any(not passage.text.strip() for passage in exchange.read)
    ]
    if reading and unknown:
        raise CorpusError(
            f"{unknown[0].where}: the text of a passage that was read is not known "
            f"({counted(len(unknown), 'query', 'queries')} in all), and {', '.join(reading)} would score "
            "what is left. Fill retrieved_contexts, or leave these measures out."
        )
    labelled = [measure.label for measure in measures if "labels" in measure.needs]
    if labelled:
        raise CorpusError(
            f"{', '.join(labelled)} needs labelled evidence, which a file of answers cannot hold. Leave it "
            "out here, or measure it in a benchmark with an `answer` section."
        )


def exported_answers(folder: Path, setting: str | None) -> list[AnsweredQuery]:
    """The answers of one setting; the only one where ``setting`` is None. Raises HarnessError."""
    replies = read_any(folder, ReplyRow)
    if not replies:
        raise HarnessError(
            f"{folder} holds no answers (replies.csv is missing or empty). Name the results of a benchmark "
            "with an `answer` section."
        )
    settings = list(dict.fromkeys(row.setting for row in replies))
    chosen = settings[0] if setting is None and len(settings) == 1 else setting
    if chosen not in settings:
        which = "has several settings" if chosen is None else f"has no setting {chosen!r} with answers"
        raise HarnessError(f"{folder} {which}. Name one of: {'; '.join(settings)}.")
    questions = {row.query_id: row for row in read_any(folder, QueryRow)}
    texts = {row.chunk_id: row.text for row in read_any(folder, PassageRow)}
    passages = sorted(read_any(folder, ReplyPassageRow), key=lambda one: one.place)
    read = by_key((passage.query_id, passage) for passage in passages if passage.setting == chosen)
    exchanges = []
    for row in (row for row in replies if row.setting == chosen):
        query, places = questions[row.query_id], read.get(row.query_id, [])
        exchanges.append(
            AnsweredQuery(
                row.query_id,
                query.text,
                tuple(
                    Passage(
                        place.text or texts.get(place.chunk_id, ""),
                        place.chunk_id.rpartition(":")[0],
                        place.chunk_id,
                    )
                    for place in places
                ),
                row.answer or None,
                row.reason,
                golden_answers(row.golden),
                query.answerable,
                tuple(number for number, place in enumerate(places) if place.cited),
                f"{folder}, query {row.query_id}",
                parts=golden_parts(row.golden),
            )
        )
    return exchanges


@input_table("values of people", "what people say of answers", CorpusError, key=("query_id", "measure"))
@dataclass(frozen=True, slots=True)
class PeopleRow:
    """The value that people give an answer by a measure."""

    query_id: Annotated[str, Column("the query")]
    measure: Annotated[str, Column("the measure")]
    value: Annotated[float, Column("a number on the scale of the measure")]


def read_values(path: Path, measures: Sequence[str], queries: Sequence[str]) -> dict[str, dict[str, float]]:
    """People's values by measure and query; see `PeopleRow`.

    The questions must be drawn at random, or the corrected mean is invalid. Raises CorpusError that names the
    lines at fault.
    """

    def fault(row: PeopleRow) -> str:
        if row.query_id not in queries:
            near = suggestion(row.query_id, queries)
            return f"there is no query {row.query_id!r}{near}. Correct the id."
        if row.measure in measures:
            return ""
        near = suggestion(row.measure, measures)
        return f"{row.measure!r} is not among the measures{near}. Correct the name, or measure it too."

    columns: dict[str, dict[str, float]] = {}
    for row in read_rows(path, PeopleRow, fault=fault):
        columns.setdefault(row.measure, {})[row.query_id] = row.value
    return columns


def people_table(results: Sequence[MeasureScores], human: Mapping[str, Mapping[str, float]]) -> Table:
    """The measures compared with people's values on the same answers, by measure and query.

    A measure that shares no query with a value with them has no row. Tau is Kendall's tau-b, which has no
    value if either side is constant; means are corrected by prediction-powered inference.
    """
    rows = []
    for scores in results:
        people = human.get(scores.measure, {})
        measured = {score.query_id: score.value for score in scores.scores if score.value is not None}
        if not (both := sorted(people.keys() & measured.keys())):
            continue
        of_people, ours = (np.array([of[query] for query in both]) for of in (people, measured))
        mean = interval_of_mean = "–"
        if len(both) >= FEWEST:
            corrected = corrected_mean({query: people[query] for query in both}, measured)
            mean = number(corrected.value)
            interval_of_mean = interval(corrected.low, corrected.high, len(both))
        difference, tau = f"{(ours - of_people).mean():+.3f}", number(kendall_tau(of_people, ours))
        rows.append((scores.measure, str(len(both)), difference, tau, mean, interval_of_mean))
    columns = ("measure", "n by people", "measure − people", "tau", "corrected mean", "95% interval")
    note = (
        "corrected mean: what people would give over all queries, from their values on a random sample and "
        f"the measure's on all ({guide('judge-agreement.md')}); from {FEWEST} queries on."
    )
    return Table("Agreement with people", columns, tuple(rows), notes=(note,))
