"""How far a judge agrees with people: on the labels of a corpus or a file of pairs, and on settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from harness.comparison import OrderAgreement, order_agreement
from harness.data import FaultsOfRows, Row, read_table, without_zeros
from harness.judge import (
    FEWEST,
    Agreement,
    Corrected,
    GradedPair,
    Pair,
    PoolJudgeConfig,
    corrected_difference,
    corrected_mean,
    match_judgments,
    measure_agreement,
)
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Scorers
from harness.running.judging.judges import make_judge
from harness.running.judging.pool import Judged, grade_all, judge_pool, judged_by_people
from harness.running.search import Searched
from harness.store import Ledger
from harness.values import MAX_GRADE, Chunk, Judgment, LabelError

# Values of one measure by query id, for each (setting, stage)
Values = dict[tuple[str, str], dict[str, float | None]]


@dataclass(frozen=True, slots=True)
class SettingsAgreement:
    """Settings under a judge and under people, by one measure.

    ``order`` compares their orders over the ``queries`` that both have a value for, None with fewer than two
    rankings or no such query; ``corrected`` is the judge-corrected mean of each (setting, stage), and
    ``differences`` the corrected mean of the highest of them minus that of each other one, paired by query;
    both are empty with too few labelled queries in which people find something relevant. Queries that are
    marked as unanswerable are left out of all of it.
    """

    measure: str
    queries: int
    order: OrderAgreement | None
    corrected: dict[tuple[str, str], Corrected]
    differences: dict[tuple[tuple[str, str], tuple[str, str]], Corrected]


def label_pairs(corpus: Corpus) -> list[Pair]:
    """The pairs that people have graded, each once, query by query; raises LabelError if there is none."""
    if not corpus.labels:
        raise LabelError("There are no human labels to compare with: name a label file under labels.")
    queries = {query.query_id: query for query in corpus.queries.queries}
    documents = {document.doc_id: document for document in corpus.documents}
    scored = sorted(
        (label for label in corpus.labels if label.grade is not None), key=lambda one: one.query_id
    )
    pairs = (
        Pair(queries[label.query_id], Chunk.of(documents[label.doc_id], label.start, label.end))
        for label in scored
    )
    return list({pair.key: pair for pair in pairs}.values())


def grade_agreement(corpus: Corpus, judge_config: PoolJudgeConfig, context: Context) -> Agreement:
    """Let the judge grade what people have graded, through the ledger, and compare."""
    with Ledger(context.cache.ledger) as ledger:
        judge = make_judge(judge_config, ledger, context, corpus)
        pairs = label_pairs(corpus)
        judgments: list[Judgment] = []
        grade_all(judge, pairs, len(pairs), lambda graded: judgments.append(graded.judgment), context)
    matched = match_judgments(corpus.labels, judgments)
    return measure_agreement(judge.name, matched, MAX_GRADE)


def settings_agreement(
    searched: Sequence[Searched], corpus: Corpus, config: BenchConfig, context: Context
) -> SettingsAgreement:
    """Score all settings under the judge's grades and under people's, by the first measure, and compare."""
    possible = {query.query_id for query in corpus.queries.queries if query.answerable}
    # Someone who has looked and found nothing gives grades of 0.
    looked = possible & {label.query_id for label in corpus.labels if label.grade is not None}
    pools = judge_pool(searched, corpus, config, context), judged_by_people(corpus, config)
    every, people = (_values(searched, pool, corpus, config, context) for pool in pools)
    judge, human = _of_queries(every, possible), _of_queries(people, looked)
    rows = [*human.values(), *judge.values()]
    shared = [query for query in sorted(next(iter(human.values()), {})) if _known(query, rows)]
    enough = len(shared) > 0 and len(human) > 1
    corrected = {}
    if sum(_known(query, human.values()) for query in looked) >= FEWEST:
        corrected = {name: corrected_mean(human[name], judge[name]) for name in human}
    orders = (
        np.array([[own[q] for q in shared] for own in of.values()], dtype=float) for of in (human, judge)
    )
    return SettingsAgreement(
        config.measures[0],
        len(shared),
        order_agreement(*orders) if enough else None,
        corrected,
        _from_the_best(corrected, human, judge),
    )


def _known(query: str, rows: Iterable[Mapping[str, float | None]]) -> bool:
    """Whether a query has a value under every setting."""
    return all(own[query] is not None for own in rows)


def _from_the_best(
    corrected: Mapping[tuple[str, str], Corrected], human: Values, judge: Values
) -> dict[tuple[tuple[str, str], tuple[str, str]], Corrected]:
    """The corrected difference of the highest mean to each other one."""
    if not corrected:
        return {}
    best = max(corrected, key=lambda name: corrected[name].value)
    return {
        (best, name): corrected_difference((human[best], human[name]), (judge[best], judge[name]))
        for name in corrected
        if name != best
    }


def _values(
    searched: Sequence[Searched], judged: Judged, corpus: Corpus, config: BenchConfig, context: Context
) -> Values:
    scorers, measure = Scorers(judged.judgments, corpus, config, context), config.measures[0]
    values: Values = {}
    for one in searched:
        for stage, rankings in one.rankings.items():
            table = scorers.of(one).score(rankings, [measure])
            values[one.setting.name, stage] = {
                query_id: None if np.isnan(value) else value
                for query_id, value in zip(table.query_ids, table.values[:, 0].tolist(), strict=True)
            }
    return values


def _of_queries(values: Values, queries: Collection[str]) -> Values:
    return {
        name: {query: value for query, value in its.items() if query in queries}
        for name, its in values.items()
    }


_COLUMNS = ("query_id", "human_grade", "llm_grade", "model")


def read_pairs(
    path: Path, max_grade: int, out_of_scale: Literal["reject", "clamp"] = "reject"
) -> tuple[dict[str, list[GradedPair]], dict[str, int]]:
    """Pairs by judge from a table with query_id, human_grade, llm_grade, model; its out-of-scale grades.

    A judge's grade outside 0..``max_grade`` is rejected (the pair counts as unscored) or clamped; it is
    counted either way. An empty llm_grade is unscored. Raises LabelError that names all lines at fault.
    """
    pairs: dict[str, list[GradedPair]] = {}
    odd: dict[str, int] = {}
    faults = FaultsOfRows(LabelError)
    for row in read_table(path, _COLUMNS, LabelError).rows:
        with faults.of_a_row():
            where = f"{path}, line {row.line}"
            human = _grade("human_grade", row, where)
            if human is None or not 0 <= human <= max_grade:
                shown = row.get("human_grade")
                raise LabelError(f"{where}: human_grade is {shown!r}. Write one of 0 to {max_grade}.")
            judge, model = _grade("llm_grade", row, where), row.get("model")
            odd.setdefault(model, 0)
            if judge is not None and not 0 <= judge <= max_grade:
                odd[model] += 1
                judge = None if out_of_scale == "reject" else min(max(judge, 0), max_grade)
            pairs.setdefault(model, []).append(GradedPair(row.get("query_id"), human, judge))
    faults.end()
    return pairs, odd


def _grade(column: str, row: Row, where: str) -> int | None:
    text = without_zeros(row.get(column))
    try:
        return int(text) if text else None
    except ValueError as error:
        raise LabelError(f"{where}: {column} is {text!r}, not a whole number. Correct it.") from error
