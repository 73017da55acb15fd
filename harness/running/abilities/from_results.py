"""Questions with evidence and near misses, from a folder of results: its labels and its real rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.measures import Case, Fact, Projection, fact_of, holdings
from harness.report import JudgmentRow, PassageRow, RankedRow, cells_of, read_any, spans_of_chunk
from harness.running.abilities.own import Evidence
from harness.values import Chunk, HarnessError, Judgment, Query, golden_of_query


def evidence_of(folder: Path) -> list[Evidence]:
    """The evidence of all answerable questions; raises HarnessError if the result has no passages.

    Passages are those among the first ten of some setting's last ranking, by their best rank there.
    """
    queries = cells_of(folder, "queries")
    texts = {row.chunk_id: row for row in read_any(folder, PassageRow)}
    if not queries or not texts:
        raise HarnessError(
            f"{folder} holds no results with passages. Name a folder that harness bench wrote."
        )
    if "answer" not in queries[0]:
        raise HarnessError(
            f"{folder}: its queries have no column answer. Give the query file one with golden answers, "
            "and run harness bench again."
        )
    ranked = _ranked(folder, texts)
    judged: dict[str, list[Judgment]] = {}
    for row in read_any(folder, JudgmentRow):
        if row.scored_on:
            judged.setdefault(row.query_id, []).append(_judgment(row))
    return [
        _evidence(
            row, [texts[one] for one in ranked.get(row["query_id"], ())], judged.get(row["query_id"], [])
        )
        for row in queries
        if row["answerable"] == "yes"
    ]


def _ranked(folder: Path, texts: Mapping[str, PassageRow]) -> dict[str, list[str]]:
    """The chunks of the last stages by query, by their best rank in any setting."""
    last: dict[str, str] = {}
    rows = read_any(folder, RankedRow)
    for row in rows:
        # rows are in the order of the stages
        last[row.setting] = row.stage
    best: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.stage == last[row.setting] and row.chunk_id in texts:
            own = best.setdefault(row.query_id, {})
            own[row.chunk_id] = min(row.rank, own.get(row.chunk_id, row.rank))
    return {query: sorted(own, key=lambda one: (own[one], one)) for query, own in best.items()}


def _judgment(row: JudgmentRow) -> Judgment:
    start, _, end = row.answer.partition("-")
    answer = (int(start), int(end)) if end else None
    return Judgment(row.query_id, row.document, row.start, row.end, row.grade, row.evidence, answer=answer)


def _chunk(row: PassageRow) -> Chunk:
    *before, (start, end) = spans_of_chunk(row.chunk_id)
    return Chunk(row.chunk_id, row.document, start, end, row.text, tuple(before))


def _evidence(
    row: Mapping[str, str], passages: Sequence[PassageRow], judgments: Sequence[Judgment]
) -> Evidence:
    query = Query(row["query_id"], row["text"], "train")
    case = Case(query, tuple(map(_chunk, passages)), None, "not asked", judgments=tuple(judgments))
    # text with all words of the answer holds the answer; text that overlaps evidence is not a near miss
    held = holdings(case, 1, Projection())
    touched = holdings(case, 1, Projection("any_overlap"))
    facts: dict[str, list[str]] = {}
    names = _names([one for one in judgments if one.grade])
    for passage, own in zip(passages, held, strict=True):
        for name in dict.fromkeys(names[fact] for fact in own.facts if fact in names):
            facts.setdefault(name, []).append(passage.text)
    answers = golden_of_query(row["query_id"], row.get("answer", ""))
    near = [
        passage.text
        for passage, own, part in zip(passages, held, touched, strict=True)
        if not own.facts and not part.facts and not _says(passage.text, answers)
    ]
    # if no ranking found a fact, the evidence is incomplete
    wanted = dict.fromkeys(names.values())
    ordered = {name: tuple(facts[name]) for name in wanted} if wanted.keys() == facts.keys() else {}
    return Evidence(row["query_id"], row["text"], answers, ordered, tuple(dict.fromkeys(near)))


def _names(relevant: Sequence[Judgment]) -> dict[Fact, str]:
    """Which facts must be read: those with evidence names where there are several, else the best graded."""
    named = {one.evidence for one in relevant if one.evidence}
    if len(named) > 1:
        return {fact_of(one): one.evidence for one in relevant if one.evidence}
    best = max((one.grade or 0 for one in relevant), default=0)
    return {fact_of(one): "evidence" for one in relevant if one.grade == best}


def _says(text: str, answers: Sequence[str]) -> bool:
    """Whether an unlabelled passage contains a golden answer, so that it may well answer."""
    return any(answer.lower() in text.lower() for answer in answers)
