"""How far a judge agrees with people: on the labels of a corpus or a file of pairs, and on settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from harness import judge
from harness.data import input_table, read_rows
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Scorers
from harness.running.judging.judged import GradedQueries, Judged, judged_by_people
from harness.running.judging.pool import grade_all, make_judge
from harness.running.loop import Visitor
from harness.running.notes import RunNotes
from harness.running.run_models import RunModels
from harness.running.search import Searched
from harness.store import Ledger
from harness.values import MAX_GRADE, Chunk, Column, Judgment, LabelError, whole

Stage = tuple[str, str]
"""A setting and its step."""
Values = dict[Stage, dict[str, float | None]]
"""Values of one measure by query id."""


@dataclass(frozen=True, slots=True)
class SettingsAgreement:
    """Settings under a judge and under people, by one measure.

    Queries that are marked as unanswerable are left out of all of it.
    """

    measure: str
    # how many have a value under both
    queries: int
    # over these queries; None with fewer than two rankings or no such query
    order: judge.OrderAgreement | None
    # judge-corrected means; empty with too few labelled queries in which people find something relevant
    corrected: dict[Stage, judge.Corrected]
    # the highest of these means minus each other one, paired by query
    differences: dict[tuple[Stage, Stage], judge.Corrected]


def label_pairs(corpus: Corpus) -> list[judge.Pair]:
    """The pairs that people have graded, each once, query by query; raises LabelError if there is none."""
    graded = corpus.anchored.judgments
    if not graded:
        raise LabelError("There are no human labels to compare with: name a label file under labels.")
    queries = {query.query_id: query for query in corpus.queries.queries}
    documents = corpus.by_id
    pairs = (
        judge.Pair(queries[label.query_id], Chunk.of(documents[label.doc_id], label.start, label.end))
        for label in sorted(graded, key=lambda label: label.query_id)
    )
    return list({pair.key: pair for pair in pairs}.values())


def grade_agreement(
    corpus: Corpus, judge_config: judge.PoolJudgeConfig, ledger: Path, visitor: Visitor, notes: RunNotes
) -> judge.Agreement:
    """Let the judge grade what people have graded, through the ledger, and compare.

    ``visitor`` meets what the judge needs.
    """
    with Ledger(ledger) as answers_kept:
        grader = make_judge(judge_config, answers_kept, corpus, visitor)
        pairs = label_pairs(corpus)
        judgments: list[Judgment] = []
        grade_all(grader, pairs, len(pairs), lambda graded: judgments.append(graded.judgment), notes)
    return judge.measure_agreement(
        grader.name, judge.match_judgments(corpus.anchored.judgments, judgments), MAX_GRADE
    )


def settings_agreement(
    searched: Sequence[Searched], corpus: Corpus, config: BenchConfig, by_judge: Judged, models: RunModels
) -> SettingsAgreement:
    """Score all settings under the judge's grades and under people's, by the first measure, and compare."""
    possible = {query.query_id for query in corpus.queries.queries if query.answerable}
    # Someone who has looked and found nothing gives grades of 0.
    looked = possible & {label.query_id for label in corpus.labels}
    model, human = (
        _values(searched, judged, corpus, config, models, queries)
        for judged, queries in (
            (by_judge, possible),
            (judged_by_people(corpus, config), looked),
        )
    )
    rows = [*human.values(), *model.values()]
    shared = [query for query in sorted(next(iter(human.values()), {})) if _known(query, rows)]
    order = None
    if shared and len(human) > 1:
        order = judge.order_agreement(
            *(
                np.array([[scores[q] for q in shared] for scores in of.values()], float)
                for of in (human, model)
            )
        )
    corrected: dict[Stage, judge.Corrected] = {}
    differences: dict[tuple[Stage, Stage], judge.Corrected] = {}
    if sum(_known(query, human.values()) for query in looked) >= judge.FEWEST:
        corrected = {name: judge.corrected_mean(human[name], model[name]) for name in human}
        best = max(corrected, key=lambda name: corrected[name].value)
        differences = {
            (best, name): judge.corrected_difference((human[best], human[name]), (model[best], model[name]))
            for name in corrected
            if name != best
        }
    return SettingsAgreement(config.measures[0], len(shared), order, corrected, differences)


def _known(query: str, rows: Iterable[Mapping[str, float | None]]) -> bool:
    """Whether a query has a value under every setting."""
    return all(row[query] is not None for row in rows)


def _values(
    searched: Sequence[Searched],
    judged: Judged,
    corpus: Corpus,
    config: BenchConfig,
    models: RunModels,
    queries: Collection[str],
) -> Values:
    graded = GradedQueries(corpus.queries.queries, judged.judgments, config.relevance)
    scorers, measure = Scorers(graded, corpus, models), config.measures[0]
    values: Values = {}
    for result in searched:
        for stage, rankings in result.rankings.items():
            table = scorers.of(result).score(rankings, [measure])
            values[result.setting.name, stage] = {
                query_id: None if np.isnan(value) else value
                for query_id, value in zip(table.query_ids, table.values[:, 0].tolist(), strict=True)
                if query_id in queries
            }
    return values


@input_table("graded pairs", "grades of people and of a model, from elsewhere", LabelError)
@dataclass(frozen=True, slots=True)
class PairRow:
    """One pair that a person and a model have graded."""

    query_id: Annotated[str, Column("the query")]
    human_grade: Annotated[int, Column("the grade of a person", read=whole)]
    llm_grade: Annotated[int | None, Column("that of the model; empty: it gave none", read=whole)]
    model: Annotated[str, Column("the name of the model")]


def read_pairs(
    path: Path, max_grade: int, out_of_scale: Literal["reject", "clamp"] = "reject"
) -> tuple[dict[str, list[judge.GradedPair]], dict[str, int]]:
    """Pairs by judge from a table with query_id, human_grade, llm_grade, model; its out-of-scale grades.

    A judge's grade outside 0..``max_grade`` is rejected (the pair counts as unscored) or clamped; it is
    counted either way. An empty llm_grade is unscored. Raises LabelError that names all lines at fault.
    """

    def fault(row: PairRow) -> str:
        if 0 <= row.human_grade <= max_grade:
            return ""
        return f"human_grade is '{row.human_grade}'. Write one of 0 to {max_grade}."

    pairs: dict[str, list[judge.GradedPair]] = {}
    odd: dict[str, int] = {}
    for row in read_rows(path, PairRow, fault=fault):
        grade, outside = row.llm_grade, False
        if grade is not None and (outside := not 0 <= grade <= max_grade):
            grade = None if out_of_scale == "reject" else min(max(grade, 0), max_grade)
        odd[row.model] = odd.get(row.model, 0) + outside
        pairs.setdefault(row.model, []).append(judge.GradedPair(row.query_id, row.human_grade, grade))
    return pairs, odd
