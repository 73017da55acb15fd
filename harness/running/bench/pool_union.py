"""Results of one judge whose pools differ, scored again on all that it has graded for any of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.comparison import Stored, names_of, read_stored
from harness.judge import Pair, PairGrade
from harness.measures import Scorer, SpanQrels, family_of
from harness.report import ScoringInputs, StoredResult, read_graded_spans, read_scoring_inputs
from harness.running.config.load import load_config
from harness.running.config.models import RelevanceConfig
from harness.running.context import Context
from harness.running.corpus import load_corpus
from harness.running.evaluate.evaluating import queries_to_score
from harness.running.judging.judged import pool_judge_config
from harness.running.judging.judges import make_judge
from harness.running.judging.pool import grade_all
from harness.store import Ledger
from harness.values import Chunk, HarnessError, Judgment, Reporter, counted

if TYPE_CHECKING:
    import pandas as pd


def read_united(
    folders: Sequence[Path], stage: str, measure: str | None, judge: Path | None, reporter: Reporter
) -> tuple[dict[Path, Stored], tuple[str, ...]]:
    """The scores of results at a stage, several of them united as `united` does, and what was done."""
    stored = {folder: read_stored(folder, stage) for folder in folders}
    if len({folder.resolve() for folder in folders}) < 2:
        return stored, ()
    names = dict(zip(folders, names_of(folders), strict=True))
    again, done = united(
        {folder: one.result for folder, one in stored.items()}, names, measure, judge, reporter
    )
    return {folder: Stored.of(again[folder], stage) for folder in stored}, done


Span = tuple[str, str, int, int, str]
"""A judged span: query, document, start, end, evidence."""
Grades = Mapping[Span, int | None]
"""The grade of every judged span; None where the judge has failed."""

_WHERE_ASKED = ("name", "base_url")


@dataclass(frozen=True, slots=True)
class UnitedPool:
    """The grades that a result was scored on, and the identity of the judge (see ``identity``)."""

    judge: Mapping[str, Any]
    grades: Grades


@dataclass(frozen=True, slots=True)
class Union:
    """The spans of all results with one grade each.

    ``added`` counts for every result the graded spans it did not have, ``changed`` those for which it had
    another grade; ``ungraded`` are the spans that have none in any result.
    """

    grades: dict[Span, int | None]
    added: dict[str, int]
    changed: dict[str, int]
    ungraded: tuple[Span, ...]


def identity(judge: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a judge: everything in the run record of a judge except its name and address."""
    return {key: value for key, value in judge.items() if key not in _WHERE_ASKED}


def unite(pools: Mapping[str, UnitedPool], judge: Mapping[str, Any], asked: Grades | None = None) -> Union:
    """Put the grades of one judge together; spans that only others have graded stay without a grade.

    If a span has two grades, that of the first result counts. ``asked`` holds grades that the judge has given
    besides, for spans that have none.
    """
    grades: dict[Span, int | None] = {}
    for pool in (*pools.values(), UnitedPool(judge, asked or {})):
        for span, grade in pool.grades.items():
            if grades.get(span) is None:
                grades[span] = grade if pool.judge == judge else None
    mine = {name: pool.grades if pool.judge == judge else {} for name, pool in pools.items()}
    graded = {span: grade for span, grade in grades.items() if grade is not None}
    return Union(
        grades,
        {name: sum(own.get(span) is None for span in graded) for name, own in mine.items()},
        {
            name: sum(grade is not None and grade != graded.get(span, grade) for span, grade in own.items())
            for name, own in mine.items()
        },
        tuple(span for span in grades if span not in graded),
    )


def united(
    results: Mapping[Path, StoredResult],
    names: Mapping[Path, str],
    measure: str | None,
    judge: Path | None,
    reporter: Reporter,
) -> tuple[dict[Path, StoredResult], tuple[str, ...]]:
    """The results, on the same judgments where only the pools of their judge differ, and what was done.

    ``judge`` names a configuration whose judge is asked for what it has not graded. Results that people have
    judged, and those that were scored alike, stay as they are. Raises HarnessError if the judges differ
    and none is named, where one is named and people have judged, and where a result lacks what it was scored
    from.
    """
    pooled = all(one.record.get("judge", {}).get("kind", "labels") != "labels" for one in results.values())
    alike = {json.dumps([one.judged, one.record["config"].get("relevance")]) for one in results.values()}
    if judge is not None and not pooled:
        raise HarnessError(
            f"--judge {judge}: people have judged the results, so there is nothing for a judge to grade."
        )
    if not pooled or (len(alike) == 1 and judge is None):
        return dict(results), ()
    pools = {
        names[folder]: UnitedPool(
            identity(one.record["judge"]),
            {(j.query_id, j.doc_id, j.start, j.end, j.evidence): j.grade for j in read_graded_spans(folder)},
        )
        for folder, one in results.items()
    }
    if judge is None:
        grader, asked = _one_judge(pools), None
    else:
        grader, asked = _asked(judge, pools, list(results.values()), reporter)
    union = unite(pools, grader, asked)
    judgments = [Judgment(*span[:4], grade=grade, evidence=span[4]) for span, grade in union.grades.items()]
    done = {folder: _again(folder, one, judgments, grader, measure) for folder, one in results.items()}
    return done, _sentences(union, pools, judge is not None)


def _one_judge(pools: Mapping[str, UnitedPool]) -> Mapping[str, Any]:
    """The judge of all pools; raises HarnessError if they have several."""
    (first, one), *others = pools.items()
    for name, other in others:
        differing = sorted(
            key for key in one.judge.keys() | other.judge.keys() if one.judge.get(key) != other.judge.get(key)
        )
        if differing:
            raise HarnessError(
                f"{first} and {name} were graded by different judges ({', '.join(differing)} differ), so "
                f"their values cannot be compared. --judge CONFIG asks the judge of a configuration for the "
                f"spans that it has not graded: {len(other.grades.keys() - one.grades.keys())} for the judge "
                f"of {first}, {len(one.grades.keys() - other.grades.keys())} for that of {name}."
            )
    return one.judge


def _asked(
    path: Path, pools: Mapping[str, UnitedPool], results: Sequence[StoredResult], reporter: Reporter
) -> tuple[Mapping[str, Any], Grades]:
    """The judge of a configuration and its grades for all spans that it has not graded in some result."""
    config = load_config(path)
    judge_config = pool_judge_config(config)
    if judge_config is None:
        raise HarnessError(f"{path} has no judge; configure relevance: {{judge: llm, …}}.")
    context = Context.at(config.cache, reporter, precision=config.precision)
    corpus = load_corpus(config, context)
    documents = {document.doc_id: document for document in corpus.documents}
    queries = {query.query_id: query for query in corpus.queries.queries}
    found: list[PairGrade] = []
    with Ledger(context.cache.ledger) as ledger:
        grading = make_judge(judge_config, ledger, context, corpus)
        grader = identity(json.loads(json.dumps(dict(grading.fingerprint))))
        missing = [span for span in unite(pools, grader).ungraded if span[0] in queries]
        for name in sorted({span[1] for span in missing}):
            text = documents[name].sha256 if name in documents else None
            if text is None or any(one.texts.get(name, text) != text for one in results):
                raise HarnessError(
                    f"{path} extracts a different text from the document {name} than the results were scored "
                    "on. Run the benchmarks again on the same documents."
                )
        pairs = [
            Pair(queries[query], Chunk.of(documents[document], start, end), number)
            for number, (query, document, start, end, _) in enumerate(missing)
        ]
        if pairs:
            grade_all(grading, pairs, len(pairs), found.append, context)
    return grader, {missing[graded.pair.number]: graded.judgment.grade for graded in found}


def _again(
    folder: Path,
    result: StoredResult,
    judgments: Sequence[Judgment],
    grader: Mapping[str, Any],
    measure: str | None,
) -> StoredResult:
    relevance = result.record["config"]["relevance"]
    wanted = measure or str(result.per_query["measure"].iloc[0])
    if not can_be_rescored(wanted):
        raise HarnessError(
            f"{wanted} cannot be scored again from {folder} on the judgments of all results. Compare by a "
            "measure of ranks or characters, such as ndcg_text@5000."
        )
    rules = {key: relevance.get(key) for key in SCORING_RULES} | {"judge": dict(grader)}
    spans = sorted((j.query_id, j.doc_id, j.start, j.end, j.evidence, repr(j.grade)) for j in judgments)
    return replace(
        result,
        per_query=rescored(result.per_query, read_scoring_inputs(folder), judgments, relevance),
        record={**result.record, "config": {**result.record["config"], "relevance": rules}},
        judged=hashlib.sha256(json.dumps(spans).encode()).hexdigest(),
    )


def _sentences(union: Union, pools: Mapping[str, UnitedPool], asked: bool) -> tuple[str, ...]:
    """Sentences on what was done, and what is still unknown."""
    each = "; ".join(
        f"{name} had {len(pool.grades)}, {union.added[name]} added" for name, pool in pools.items()
    )
    unknown = ", because the judge failed." if asked else "; --judge CONFIG has its judge grade them."
    return (
        f"Scored again on the {counted(len(union.grades), 'span')} judged for any of the results: {each}.",
        *(
            f"{counted(count, 'span')} of {name} had a different grade in {next(iter(pools))}, whose "
            "grades were used: the judge was asked twice and gave different answers."
            for name, count in union.changed.items()
            if count
        ),
        *(
            [f"{counted(len(union.ungraded), 'span')} have no grade in any of the results{unknown}"]
            if union.ungraded
            else []
        ),
    )


SCORING_RULES = ("rule", "span_share", "chunk_share", "unanswerable", "answerable_from")
"""The keys of ``relevance`` that say how judgments become values; the others say where they come from."""


def can_be_rescored(measure: str) -> bool:
    """Whether ranks, grades and offsets are enough for a column of per_query.csv."""
    family = family_of(measure)
    return family is not None and family.reads in ("ranks", "characters")


def rescored(
    per_query: pd.DataFrame,
    scored_from: ScoringInputs,
    judgments: Sequence[Judgment],
    relevance: Mapping[str, Any],
) -> pd.DataFrame:
    """The rows of per_query.csv with the values that ``judgments`` give.

    ``relevance`` is that of the run record. Measures that need more than the folder holds, such as those
    that count tokens, are left out.
    """
    rules = RelevanceConfig(**{key: relevance[key] for key in SCORING_RULES if key in relevance})
    queries = queries_to_score(scored_from.queries, judgments, rules)
    spans = SpanQrels.from_judgments(judgments)
    measures = [name for name in dict.fromkeys(per_query["measure"]) if can_be_rescored(name)]
    values: dict[tuple[str, str, str, str], str] = {}
    scorers = {
        setting: Scorer(
            queries,
            spans,
            chunks,
            projection=rules.projection,
            unanswerable=rules.without_relevant_text,
        )
        for setting, chunks in scored_from.chunks.items()
    }
    for (setting, stage), rankings in scored_from.rankings.items():
        table = scorers[setting].score(rankings, measures)
        for query, row in zip(table.query_ids, table.values.tolist(), strict=True):
            for measure, value in zip(measures, row, strict=True):
                values[setting, stage, query, measure] = "" if np.isnan(value) else repr(value)
    kept = per_query[per_query["measure"].isin(measures)].copy()
    keys = zip(*(kept[name] for name in ("setting", "stage", "query_id", "measure")), strict=True)
    kept["value"] = [values[key] for key in keys]
    return kept
