"""Results of one judge whose pools differ, scored again on all that it has graded for any of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.comparison import Stored, answers_to_take, measure_to_take, names_of, read_stored
from harness.judge import JUDGES
from harness.measures import less_is_better
from harness.report import SCORED_FROM, ScoringInputs, StoredResult, lacking_inputs, read_graded_spans
from harness.running.bench.rescoring import SCORING_RULES, can_be_rescored, has_tokens, inputs_of, rescored
from harness.running.config.relevance import RelevanceConfig
from harness.running.judging.judged import GradedQueries
from harness.values import ConfigError, HarnessError, Judgment, Query, counted, listed, real_path


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
        return _on_shared_labels(results, names, measure)
    alike = {
        json.dumps([result.judged, result.record["config"].get("relevance")]) for result in results.values()
    }
    if not pooled or len(alike) == 1:
        return dict(results), ()
    judge = _one_judge({names[folder]: result.record["judge"] for folder, result in results.items()})
    judged = {folder: read_graded_spans(folder) for folder in results}
    documents = _documents_of(judged)
    inputs = {folder: inputs_of(folder, result, documents) for folder, result in results.items()}
    pools: dict[str, Grades] = {
        names[folder]: {(j.query_id, j.doc_id, j.start, j.end, j.evidence): j.grade for j in labels}
        for folder, labels in judged.items()
    }
    grades = unite(pools.values())
    judgments = [Judgment(*span[:4], grade=grade, evidence=span[4]) for span, grade in grades.items()]
    clusters = united_clusters([(inputs[at].queries, judged[at]) for at in results], judgments)
    lacking = _without_tokens(results, inputs, judgments)
    scored = {
        folder: _again(result, inputs[folder], judgments, clusters, judge, _Request(measure, lacking))
        for folder, result in results.items()
    }
    return scored, (*_sentences(grades, pools), *_left_out_measures(results, names, lacking))


def _documents_of(judged: Mapping[Path, Sequence[Judgment]]) -> set[str]:
    """The documents with a judged span in any result."""
    return {row.doc_id for of_result in judged.values() for row in of_result}


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
    judged = {folder: read_graded_spans(folder) for folder in results}
    documents = _documents_of(judged)
    inputs = {
        folder: inputs_of(folder, result, documents)
        for folder, result in results.items()
        if folder not in fixed
    }
    questions = {
        folder: inputs[folder].queries if folder in inputs else _clustered_queries(result)
        for folder, result in results.items()
    }
    labels = judged[shown]
    clusters = united_clusters([(questions[folder], judged[folder]) for folder in results], labels)
    judge = results[shown].record.get("judge", {})
    lacking = _without_tokens(results, inputs, labels)
    scored = {
        folder: _again(result, inputs.get(folder), labels, clusters, judge, _Request(measure, lacking))
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
    return scored, (*sentences, *(_left_out_measures(results, names, lacking) if sentences else ()))


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


@dataclass(frozen=True, slots=True)
class _Request:
    """The ``measure`` that was asked for, and the results that lack the places of tokens."""

    measure: str | None
    lacking: Sequence[Path]


def _again(
    result: StoredResult,
    inputs: ScoringInputs | None,
    judgments: Sequence[Judgment],
    clusters: Mapping[str, str],
    judge: Mapping[str, Any],
    request: _Request,
) -> StoredResult:
    """The result as scored on these judgments; without ``inputs``, as it was scored on the same ones."""
    record, relevance = result.record, result.record["config"]["relevance"]
    tokens = not request.lacking
    rows = [row for row in result.per_query if can_be_rescored(row.measure, tokens)]
    wanted = request.measure or result.per_query[0].measure
    if not rows or (request.measure is not None and not can_be_rescored(wanted, tokens)):
        raise HarnessError(
            f"{wanted} cannot be scored again on the judgments of all results: "
            f"{_why(wanted, request.lacking)} Run the benchmarks again, or compare by a measure of ranks "
            "or characters, such as ndcg_text@5000."
        )
    stated = {key: relevance.get(key) for key in SCORING_RULES} | {"judge": judge}
    counts = {**record.get("counts", {})}
    if inputs is not None:
        rows, counts["left_out"] = rescored(rows, inputs, judgments, relevance)
    # the share that was judged in this pool alone
    counts.pop("judged", None)
    spans = sorted((j.query_id, j.doc_id, j.start, j.end, j.evidence, repr(j.grade)) for j in judgments)
    return replace(
        result,
        per_query=[replace(row, cluster=clusters[row.query_id]) for row in rows],
        record={**record, "config": {**record["config"], "relevance": stated}, "counts": counts},
        judged=hashlib.sha256(json.dumps(spans).encode()).hexdigest(),
    )


def _without_tokens(
    results: Mapping[Path, StoredResult], inputs: Mapping[Path, ScoringInputs], judgments: Sequence[Judgment]
) -> list[Path]:
    """The results that are scored again and do not keep where the tokens of their texts begin."""
    return [folder for folder in results if folder in inputs and not has_tokens(inputs[folder], judgments)]


def _left_out_measures(
    results: Mapping[Path, StoredResult], names: Mapping[Path, str], lacking: Sequence[Path]
) -> Iterator[str]:
    """A sentence for each reason why results are not compared by some measures of quality."""
    measures = dict.fromkeys(row.measure for result in results.values() for row in result.per_query)
    reasons: dict[str, list[str]] = {}
    for name in measures:
        if not can_be_rescored(name, not lacking) and not less_is_better(name):
            reasons.setdefault(_why(name, [names[folder] for folder in lacking]), []).append(name)
    for why, left_out in reasons.items():
        yield f"Left out of the comparison, {listed(left_out)}: {why}"


def _why(measure: str, lacking: Sequence[object]) -> str:
    """Why a measure cannot be scored again."""
    if can_be_rescored(measure, True):
        lack = f"{listed(list(map(str, lacking)))} {'lacks' if len(lacking) == 1 else 'lack'}"
        return f"{lack} the places of tokens in all documents (token_starts.csv)."
    return "results do not keep all that it is scored from."


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
