"""Results of one judge whose pools differ, scored again on all that it has graded for any of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from harness.comparison import Stored, names_of, read_stored
from harness.measures import Scorer, family_of
from harness.report import Row, ScoringInputs, StoredResult, read_graded_spans, read_scoring_inputs
from harness.running.config.models import RelevanceConfig
from harness.running.judging.judged import GradedQueries
from harness.values import HarnessError, Judgment, Query, counted


def read_united(
    folders: Sequence[Path], stage: str, measure: str | None, baseline: Path | None = None
) -> dict[Path, Stored]:
    """The scores of results at a stage, several of them united as `united` does.

    If a span has two grades, that of the ``baseline`` counts, else that of the oldest result.
    """
    stored = {folder: read_stored(folder, stage) for folder in folders}
    if len({folder.resolve() for folder in folders}) < 2:
        return stored
    names = dict(zip(folders, names_of(folders), strict=True))
    results = {folder: one.result for folder, one in stored.items()}
    # so that the order in which results are named decides nothing
    dates = {folder: (one.record.get("date", ""), str(folder.resolve())) for folder, one in results.items()}
    oldest = sorted(results, key=lambda folder: (folder != baseline, dates[folder]))
    again, done = united({folder: results[folder] for folder in oldest}, names, measure)
    if not done:
        return stored
    return {at: Stored.of(at, again[at], one.tables, stage, done) for at, one in stored.items()}


Span = tuple[str, str, int, int, str]
"""A judged span: query, document, start, end, evidence."""
Grades = Mapping[Span, int | None]
"""The grade of every judged span; None where the judge has failed."""


def united(
    results: Mapping[Path, StoredResult], names: Mapping[Path, str], measure: str | None
) -> tuple[dict[Path, StoredResult], tuple[str, ...]]:
    """The results, on the same judgments where only the pools of their judge differ, and what was done.

    Results that people have judged, and those that were scored alike, stay as they are. Raises HarnessError
    if the judges differ, and where a result lacks what it was scored from.
    """
    pooled = all(one.record.get("judge", {}).get("kind", "labels") != "labels" for one in results.values())
    alike = {json.dumps([one.judged, one.record["config"].get("relevance")]) for one in results.values()}
    if not pooled or len(alike) == 1:
        return dict(results), ()
    judge = _one_judge({names[folder]: one.record["judge"] for folder, one in results.items()})
    inputs = {folder: read_scoring_inputs(folder) for folder in results}
    judged = {folder: read_graded_spans(folder) for folder in results}
    pools: dict[str, Grades] = {
        names[folder]: {(j.query_id, j.doc_id, j.start, j.end, j.evidence): j.grade for j in own}
        for folder, own in judged.items()
    }
    grades = unite(pools.values())
    judgments = [Judgment(*span[:4], grade=grade, evidence=span[4]) for span, grade in grades.items()]
    clusters = united_clusters([(inputs[at].queries, judged[at]) for at in results], judgments)
    done = {
        folder: _again(folder, one, inputs[folder], judgments, clusters, judge, measure)
        for folder, one in results.items()
    }
    return done, tuple(_sentences(grades, pools))


def unite(pools: Iterable[Grades]) -> dict[Span, int | None]:
    """The grades of one judge put together; if a span has two, that of the first result counts."""
    grades: dict[Span, int | None] = {}
    for span, grade in (item for pool in pools for item in pool.items()):
        if grades.get(span) is None:
            grades[span] = grade
    return grades


def united_clusters(
    pools: Iterable[tuple[Sequence[Query], Sequence[Judgment]]], judgments: Sequence[Judgment]
) -> dict[str, str]:
    """The cluster of every query on all ``judgments``; ``pools`` are queries and judgments by result.

    A stored cluster that does not follow from the judgments of its result is one of the query file.
    """
    asked: dict[str, Query] = {}
    for queries, judged in pools:
        plain = {one.query_id: replace(one, cluster="") for one in queries}
        documents = _clusters(list(plain.values()), judged)
        asked = plain | asked
        asked |= {one.query_id: one for one in queries if one.cluster != documents[one.query_id]}
    return _clusters(list(asked.values()), judgments)


def _clusters(queries: Sequence[Query], judgments: Sequence[Judgment]) -> dict[str, str]:
    return GradedQueries(queries, judgments, RelevanceConfig()).clusters()


def _one_judge(judges: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The judge of all results but for its name and address; raises HarnessError if they have several."""
    own = {
        name: {key: value for key, value in judge.items() if key not in ("name", "base_url")}
        for name, judge in judges.items()
    }
    (first, one), *others = own.items()
    for name, other in others:
        if differing := sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key)):
            raise HarnessError(
                f"{first} and {name} were graded by different judges ({', '.join(differing)} differ), so "
                "their values cannot be compared. Run both benchmarks with one judge: what it has graded is "
                "in its ledger and is not paid for again."
            )
    return one


def _again(
    folder: Path,
    result: StoredResult,
    inputs: ScoringInputs,
    judgments: Sequence[Judgment],
    clusters: Mapping[str, str],
    judge: Mapping[str, Any],
    measure: str | None,
) -> StoredResult:
    record, relevance = result.record, result.record["config"]["relevance"]
    wanted = measure or result.per_query[0]["measure"]
    if not can_be_rescored(wanted):
        raise HarnessError(
            f"{wanted} cannot be scored again from {folder} on the judgments of all results. Compare by a "
            "measure of ranks or characters, such as ndcg_text@5000."
        )
    stated = {key: relevance.get(key) for key in SCORING_RULES} | {"judge": judge}
    rules = RelevanceConfig(**{key: relevance[key] for key in SCORING_RULES if key in relevance})
    graded = GradedQueries(inputs.queries, judgments, rules)
    rows = rescored(result.per_query, inputs, graded)
    counts = {**record.get("counts", {}), "left_out": graded.left_out()}
    spans = sorted((j.query_id, j.doc_id, j.start, j.end, j.evidence, repr(j.grade)) for j in judgments)
    return replace(
        result,
        per_query=[{**row, "cluster": clusters[row["query_id"]]} for row in rows],
        record={**record, "config": {**record["config"], "relevance": stated}, "counts": counts},
        judged=hashlib.sha256(json.dumps(spans).encode()).hexdigest(),
    )


def _sentences(grades: Grades, pools: Mapping[str, Grades]) -> Iterator[str]:
    """Sentences on what was done, and what is still unknown."""
    known = {span: grade for span, grade in grades.items() if grade is not None}
    each = "; ".join(
        f"{name} had {len(own)}, {sum(own.get(span) is None for span in known)} added"
        for name, own in pools.items()
    )
    yield f"Scored again on the {counted(len(grades), 'span')} judged for any of the results: {each}."
    for name, own in pools.items():
        if changed := sum(grade is not None and grade != known[span] for span, grade in own.items()):
            yield (
                f"{counted(changed, 'span')} of {name} had a different grade in {next(iter(pools))}, whose "
                "grades were used: the judge was asked twice and gave different answers."
            )
    if failed := len(grades) - len(known):
        yield f"{counted(failed, 'span')} have no grade in any of the results, because the judge failed."


SCORING_RULES = ("rule", "span_share", "chunk_share", "unanswerable", "answerable_from")
"""The keys of ``relevance`` that say how judgments become values; the others say where they come from."""


def can_be_rescored(measure: str) -> bool:
    """Whether ranks, grades and offsets are enough for a column of per_query.csv."""
    family = family_of(measure)
    return family is not None and family.reads in ("ranks", "characters")


def rescored(per_query: Sequence[Row], inputs: ScoringInputs, graded: GradedQueries) -> list[Row]:
    """The rows of per_query.csv with the values that these judgments give.

    Measures that need more than the folder holds, such as those that count tokens, are left out.
    """
    queries, spans = graded.to_score(), graded.spans(None)
    measures = [name for name in dict.fromkeys(row["measure"] for row in per_query) if can_be_rescored(name)]
    values: dict[tuple[str, str, str, str], str] = {}
    how, without = graded.relevance.projection, graded.relevance.without_relevant_text
    scorers = {
        setting: Scorer(queries, spans, chunks, projection=how, unanswerable=without)
        for setting, chunks in inputs.chunks.items()
    }
    for (setting, stage), rankings in inputs.rankings.items():
        table = scorers[setting].score(rankings, measures)
        for query, row in zip(table.query_ids, table.values.tolist(), strict=True):
            for measure, value in zip(measures, row, strict=True):
                values[setting, stage, query, measure] = "" if np.isnan(value) else repr(value)
    key = itemgetter("setting", "stage", "query_id", "measure")
    return [{**row, "value": values[key(row)]} for row in per_query if row["measure"] in measures]
