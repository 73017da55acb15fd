"""Results of one judge whose pools differ, scored again on all that it has graded for any of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from harness.comparison import Stored, answers_to_take, measure_to_take, names_of, read_stored
from harness.judge import JUDGES
from harness.measures import Scorer, family_of, less_is_better
from harness.report import (
    SCORED_FROM,
    ScoreRow,
    ScoringInputs,
    StoredResult,
    lacking_inputs,
    read_graded_spans,
    read_scoring_inputs,
)
from harness.running.config.relevance import RelevanceConfig
from harness.running.judging.judged import GradedQueries
from harness.values import ConfigError, HarnessError, Judgment, Query, counted, finite, listed, real_path


def read_to_compare(
    folders: Sequence[Path], stage: str, measure: str | None, baseline: Path | None = None
) -> tuple[dict[Path, Stored], str]:
    """The scores of results, of their answers or rankings, and the measure to compare them by.

    They are those of answers where these decide (`answers_to_take`), else those of rankings, united as
    ``read_united`` does. Raises ConfigError for a stage of rankings where answers are meant.
    """
    answers = answers_to_take(folders, measure, by_rankings=stage != "final")
    if answers is None:
        stored = read_united(folders, stage, measure, baseline)
        return stored, measure_to_take(stored, measure)
    if stage != "final":
        raise ConfigError(f"{answers[1]} is a measure of answers: --stage does not apply to it.")
    return answers


def read_united(
    folders: Sequence[Path], stage: str, measure: str | None, baseline: Path | None = None
) -> dict[Path, Stored]:
    """The scores of results at a stage, several of them united as `united` does.

    If a span has two grades, that of the ``baseline`` counts, else that of the oldest result.
    """
    stored = {folder: read_stored(folder, stage) for folder in folders}
    if len({real_path(folder) for folder in folders}) < 2:
        return stored
    names = dict(zip(folders, names_of(folders), strict=True))
    results = {folder: result.result for folder, result in stored.items()}
    # so that the order in which results are named decides nothing
    dates = {
        folder: (result.record.get("date", ""), str(real_path(folder))) for folder, result in results.items()
    }
    oldest = sorted(results, key=lambda folder: (folder != baseline, dates[folder]))
    again, measures = united({folder: results[folder] for folder in oldest}, names, measure)
    if not measures:
        return stored
    return {at: Stored.of(at, again[at], result.tables, stage, measures) for at, result in stored.items()}


Span = tuple[str, str, int, int, str]
"""A judged span: query, document, start, end, evidence."""
Grades = Mapping[Span, int | None]
"""The grade of every judged span; None where the judge has failed."""


def united(
    results: Mapping[Path, StoredResult], names: Mapping[Path, str], measure: str | None
) -> tuple[dict[Path, StoredResult], tuple[str, ...]]:
    """The results, on the same judgments where only the pools of their judge differ, and what was done.

    Results that people have judged are scored on the labels of one of them, and those that were scored
    alike stay as they are. Raises HarnessError if the judges differ, and where a result lacks what it was
    scored from.
    """
    kinds = [result.record.get("judge", {}).get("kind", "labels") for result in results.values()]
    pooled = "labels" not in kinds
    if set(kinds) == {"labels"}:
        measures, sentences = _on_shared_labels(results, names, measure)
        return measures, (*sentences, *_left_out_measures(results, sentences))
    alike = {
        json.dumps([result.judged, result.record["config"].get("relevance")]) for result in results.values()
    }
    if not pooled or len(alike) == 1:
        return dict(results), ()
    judge = _one_judge({names[folder]: result.record["judge"] for folder, result in results.items()})
    inputs = {folder: read_scoring_inputs(folder) for folder in results}
    judged = {folder: read_graded_spans(folder) for folder in results}
    pools: dict[str, Grades] = {
        names[folder]: {(j.query_id, j.doc_id, j.start, j.end, j.evidence): j.grade for j in labels}
        for folder, labels in judged.items()
    }
    grades = unite(pools.values())
    judgments = [Judgment(*span[:4], grade=grade, evidence=span[4]) for span, grade in grades.items()]
    clusters = united_clusters([(inputs[at].queries, judged[at]) for at in results], judgments)
    measures = {
        folder: _again(folder, result, inputs[folder], judgments, clusters, judge, measure)
        for folder, result in results.items()
    }
    in_words = tuple(_sentences(grades, pools))
    return measures, (*in_words, *_left_out_measures(results, in_words))


def _on_shared_labels(
    results: Mapping[Path, StoredResult], names: Mapping[Path, str], measure: str | None
) -> tuple[dict[Path, StoredResult], tuple[str, ...]]:
    """The results scored on the same labels, where these alone have changed, and what was done.

    The labels are those of the newest result, unless some result lacks its rankings: then of that one, as
    its values stay what they are. Results stay as they are where the rules of relevance differ too, or where
    several without rankings have different labels: comparing them then says why it cannot be done.
    """
    relevance = [result.record.get("config", {}).get("relevance") or {} for result in results.values()]
    rules = {json.dumps([section.get(key) for key in SCORING_RULES]) for section in relevance}
    fixed = [folder for folder in results if lacking_inputs(folder)]
    if (
        len({result.judged for result in results.values()}) == 1
        or len(rules) > 1
        or len({results[folder].judged for folder in fixed}) > 1
    ):
        return dict(results), ()
    # of equal dates the last one, as the oldest or the baseline comes first
    order = fixed or list(results)
    shown = max(order, key=lambda folder: (results[folder].record.get("date", ""), order.index(folder)))
    inputs = {folder: read_scoring_inputs(folder) for folder in results if folder not in fixed}
    judged = {folder: read_graded_spans(folder) for folder in results}
    questions = {
        folder: inputs[folder].queries if folder in inputs else _clustered_queries(result)
        for folder, result in results.items()
    }
    labels = judged[shown]
    clusters = united_clusters([(questions[folder], judged[folder]) for folder in results], labels)
    judge = results[shown].record.get("judge", {})
    scored = {
        folder: _again(folder, result, inputs.get(folder), labels, clusters, judge, measure)
        for folder, result in results.items()
    }
    sentences = [
        _label_sentence(names[folder], names[shown], judged[folder], labels, bool(fixed))
        for folder in results
        if {row.key: row.grade for row in judged[folder]} != {row.key: row.grade for row in labels}
    ]
    if fixed:
        kept = listed([names[folder] for folder in fixed])
        sentences.append(
            f"To compare on the newest labels, keep {', '.join(SCORED_FROM)} of {kept} as well: "
            "values cannot be computed again without them."
        )
    return scored, tuple(sentences)


def _label_sentence(
    name: str, shown: str, labels: Sequence[Judgment], shared: Sequence[Judgment], earlier: bool
) -> str:
    """That a result was scored again on labels that it did not have, and how they differ from its labels."""
    before = {row.key: row.grade for row in labels}
    now = {row.key: row.grade for row in shared}
    regraded = sum(before[key] != now[key] for key in before.keys() & now.keys())
    added, removed = len(now.keys() - before.keys()), len(before.keys() - now.keys())
    changes = (
        ((removed, "label that is new left out"), (added, "removed label counted"))
        if earlier
        else ((added, "new label"), (removed, "removed label"))
    )
    parts = [
        counted(count, what, what.replace("label", "labels").replace("that is", "that are"))
        for count, what in (*changes, (regraded, "label with another grade"))
        if count
    ]
    return (
        f"{name} was scored again, from its rankings, on the labels of {shown}: "
        f"{', '.join(parts) or 'other evidence names'}."
    )


def _clustered_queries(result: StoredResult) -> list[Query]:
    """The queries of a result without their text, with the clusters that it has tested."""
    rows = {row.query_id: row for row in result.per_query}
    return [Query(name, "", "validation", cluster=row.cluster) for name, row in rows.items()]


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
    questions: dict[str, Query] = {}
    for queries, judged in pools:
        plain = {query.query_id: replace(query, cluster="") for query in queries}
        documents = _clusters(list(plain.values()), judged)
        questions = plain | questions
        questions |= {
            query.query_id: query for query in queries if query.cluster != documents[query.query_id]
        }
    return _clusters(list(questions.values()), judgments)


def _clusters(queries: Sequence[Query], judgments: Sequence[Judgment]) -> dict[str, str]:
    return GradedQueries(queries, judgments, RelevanceConfig()).clusters()


_OF_A_RUN = ("name", "base_url", "score_quantiles", "agreement")
"""What a record says of a judge that its grades do not depend on: its name, and what it met in a pool."""


def _is_by_pool(judge: Mapping[str, Any]) -> bool:
    """Whether a judge says that its grade of a passage depends on what else is in its pool."""
    kind = judge.get("kind")
    return kind in JUDGES and getattr(JUDGES.find(kind).config, "by_pool", False)


def _one_judge(judges: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The judge of all results but for `_OF_A_RUN`; raises HarnessError if they have several."""
    facts = {
        name: {key: fact for key, fact in judge.items() if key not in _OF_A_RUN}
        for name, judge in judges.items()
    }
    pooled = [name for name, judge in judges.items() if _is_by_pool(judge)]
    if pooled:
        raise HarnessError(
            f"{' and '.join(pooled)} were graded by a judge whose grade of a passage depends on the others "
            "in its pool, so their values cannot be compared. Run the settings in one benchmark."
        )
    (first, shared), *others = facts.items()
    for name, other in others:
        keys = shared.keys() | other.keys()
        if differing := sorted(key for key in keys if shared.get(key) != other.get(key)):
            raise HarnessError(
                f"{first} and {name} were graded by different judges ({', '.join(differing)} differ), so "
                "their values cannot be compared. Run both benchmarks with one judge: what it has graded is "
                "in its ledger and is not paid for again."
            )
    return shared


def _again(
    folder: Path,
    result: StoredResult,
    inputs: ScoringInputs | None,
    judgments: Sequence[Judgment],
    clusters: Mapping[str, str],
    judge: Mapping[str, Any],
    measure: str | None,
) -> StoredResult:
    """The result as scored on these judgments; without ``inputs``, as it was scored on the same ones."""
    record, relevance = result.record, result.record["config"]["relevance"]
    rows = [row for row in result.per_query if can_be_rescored(row.measure)]
    wanted = measure or result.per_query[0].measure
    if not rows or (measure is not None and not can_be_rescored(measure)):
        raise HarnessError(
            f"{wanted} cannot be scored again from {folder} on the judgments of all results. Compare by a "
            "measure of ranks or characters, such as ndcg_text@5000."
        )
    stated = {key: relevance.get(key) for key in SCORING_RULES} | {"judge": judge}
    counts = {**record.get("counts", {})}
    if inputs is not None:
        rules = RelevanceConfig(**{key: relevance[key] for key in SCORING_RULES if key in relevance})
        graded = GradedQueries(inputs.queries, judgments, rules)
        rows = rescored(result.per_query, inputs, graded)
        counts["left_out"] = graded.left_out()
    # the share that was judged in this pool alone
    counts.pop("judged", None)
    spans = sorted((j.query_id, j.doc_id, j.start, j.end, j.evidence, repr(j.grade)) for j in judgments)
    return replace(
        result,
        per_query=[replace(row, cluster=clusters[row.query_id]) for row in rows],
        record={**record, "config": {**record["config"], "relevance": stated}, "counts": counts},
        judged=hashlib.sha256(json.dumps(spans).encode()).hexdigest(),
    )


def _left_out_measures(results: Mapping[Path, StoredResult], kept: Sequence[str]) -> Iterator[str]:
    """A sentence on the measures of quality that no result could be compared by, as they count tokens."""
    measures = {row.measure: None for result in results.values() for row in result.per_query}
    left_out = [name for name in measures if not can_be_rescored(name) and not less_is_better(name)]
    if kept and left_out:
        yield (
            f"Left out: {listed(left_out)}. Results do not keep where the tokens of their texts begin, so "
            "measures that count tokens cannot be scored again."
        )


def _sentences(grades: Grades, pools: Mapping[str, Grades]) -> Iterator[str]:
    """Sentences on what was done, and what is still unknown."""
    graded = {span: grade for span, grade in grades.items() if grade is not None}
    each = "; ".join(
        f"{name} had {len(pool)}, {sum(pool.get(span) is None for span in graded)} added"
        for name, pool in pools.items()
    )
    yield f"Scored again on the {counted(len(grades), 'span')} judged for any of the results: {each}."
    for name, pool in pools.items():
        if changed := sum(grade is not None and grade != graded[span] for span, grade in pool.items()):
            yield (
                f"{counted(changed, 'span')} of {name} had a different grade in {next(iter(pools))}, whose "
                "grades were used: the judge was asked twice and gave different answers."
            )
    if failed := len(grades) - len(graded):
        yield f"{counted(failed, 'span')} have no grade in any of the results, because the judge failed."


SCORING_RULES = ("rule", "span_share", "chunk_share", "unanswerable", "answerable_from")
"""The keys of ``relevance`` that say how judgments become values; the others say where they come from."""


def can_be_rescored(measure: str) -> bool:
    """Whether ranks, grades and offsets are enough for a column of per_query.csv."""
    family = family_of(measure)
    return family is not None and family.reads in ("ranks", "characters")


def rescored(per_query: Sequence[ScoreRow], inputs: ScoringInputs, graded: GradedQueries) -> list[ScoreRow]:
    """The rows of per_query.csv with the values that these judgments give.

    Measures that need more than the folder holds, such as those that count tokens, are left out.
    """
    queries, spans = graded.to_score(), graded.spans(None)
    measures = [name for name in dict.fromkeys(row.measure for row in per_query) if can_be_rescored(name)]
    values: dict[tuple[str, str, str, str], float | None] = {}
    how, without = graded.relevance.projection, graded.relevance.without_relevant_text
    scorers = {
        setting: Scorer(queries, spans, chunks, projection=how, unanswerable=without)
        for setting, chunks in inputs.chunks.items()
    }
    for (setting, stage), rankings in inputs.rankings.items():
        table = scorers[setting].score(rankings, measures)
        for query, row in zip(table.query_ids, table.values.tolist(), strict=True):
            for measure, value in zip(measures, row, strict=True):
                values[setting, stage, query, measure] = finite(value)
    key = attrgetter("setting", "stage", "query_id", "measure")
    return [replace(row, value=values[key(row)]) for row in per_query if row.measure in measures]
