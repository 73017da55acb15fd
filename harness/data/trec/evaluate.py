"""Score ranked documents against judged ones, under the conventions of this harness or of another tool.

The entries of large dictionaries lie scattered in memory, and fetching them is what takes time. So every
object is fetched once, by loops that run inside the interpreter, and what has to be asked of it is asked
then. Scores, grades and ids each have a pass of their own over many queries, as the processor finds the way
to places in memory faster while these are of one kind. The documents that measures look at are looked up
among the judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.data.trec.depths import depth_needed, rounded
from harness.data.trec.files import AnyQrels, AnyRun, qrels_from_dict, run_from_dict
from harness.data.trec.packing import pack_grades, pack_scores
from harness.data.trec.plain import PlainQrels, PlainRun
from harness.data.trec.table_faults import TrecError
from harness.measures import (
    FAMILIES,
    AnyArray,
    Bools,
    Convention,
    Floats,
    Graded,
    Ints,
    Measure,
    compute,
    find_convention,
    grade_documents,
    offsets_of,
    owners,
    parse_measure,
    rank_grouped,
    tie_groups,
)

if TYPE_CHECKING:
    from harness.data.trec.pair_rows import Qrels, Run


@dataclass(frozen=True, slots=True)
class DocScores:
    """Values [Q, M] of every measure for every query, NaN if it is undefined."""

    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    convention: Convention

    def means(self) -> dict[str, float | None]:
        """The mean over the queries that have a value, None if none has."""
        return {
            measure.name: float(np.nanmean(column)) if (~np.isnan(column)).any() else None
            for measure, column in zip(self.measures, self.values.T, strict=True)
        }


def refuse_strangers(
    ranked: Collection[Any], judged: Collection[Any], run: str = "run", qrels: str = "qrels"
) -> None:
    """Raise TrecError where no query is both ranked and judged: all would score 0, or nothing."""
    if ranked and judged and set(ranked).isdisjoint(judged):
        first, other = (", ".join(map(repr, sorted(set(ids), key=str)[:3])) for ids in (ranked, judged))
        raise TrecError(
            f"{run} and {qrels} have no query in common: {run} has {first}, {qrels} has {other}. Name "
            "two that belong together, and spell the ids the same way, with the same type."
        )


def refuse_unlike_ids(run: NestedScores, qrels: NestedGrades) -> None:
    """Raise TrecError where only one of the two spells documents as text: 7 and '7' never match."""
    firsts = [next(chain.from_iterable(side.values()), None) for side in (run, qrels)]
    if None not in firsts and isinstance(firsts[0], str) != isinstance(firsts[1], str):
        raise TrecError(f"run names documents as {firsts[0]!r}, qrels as {firsts[1]!r}: use ids of one type.")


def evaluate(
    run: AnyRun, qrels: AnyQrels, measures: Sequence[Measure | str], convention: Convention | str = "harness"
) -> DocScores:
    """Every measure for every judged query.

    Queries that only the run has are left out, as no tool can score them. Raises ValueError for an unknown
    measure or convention, and for a measure that a convention does not define; TrecError where a document is
    ranked twice for a query within the depth that is looked at.
    """
    if isinstance(run, PlainRun) and isinstance(qrels, PlainQrels):
        ranked = run.ordered(find_convention(convention))
        return _scored(measures, convention, partial(_score_dicts, ranked, qrels.grades))
    from harness.data.trec.columns_scored import score_columns

    columns = cast("Run", run), cast("Qrels", qrels)
    return _scored(measures, convention, partial(score_columns, *columns))


Scored = tuple[Sequence[str], Floats]
"""The queries that count, and their values [Q, M]."""


def _scored(
    measures: Sequence[Measure | str],
    convention: Convention | str,
    score: Callable[[Sequence[Measure], Convention], Scored],
) -> DocScores:
    """What ``score`` gives for the measures, which a convention may score in two precisions."""
    rules = find_convention(convention)
    wanted = tuple(parse_measure(m) if isinstance(m, str) else m for m in measures)
    _check_defined(wanted, rules)
    parts = rules.by_precision([measure.family for measure in wanted])
    scored = [score([wanted[place] for place in places], within) for within, places in parts]
    names = tuple(scored[0][0])
    values = np.empty((len(names), len(wanted)))
    for (_, places), (_, part) in zip(parts, scored, strict=True):
        values[:, places] = part
    return DocScores(names, wanted, values, rules)


def _check_defined(measures: Sequence[Measure], rules: Convention) -> None:
    """Raise ValueError for a measure that ranked documents, or the convention, do not define."""
    for measure in measures:
        family = FAMILIES[measure.family]
        if family.reads != "ranks":
            raise ValueError(f"{measure} reads the text of chunks; a run of documents has none")
        if rules.order == "score_ties_averaged" and not family.averages_ties:
            ties = f"the convention {rules.name} averages ties"
            raise ValueError(f"{ties}, which is defined for NDCG, not {measure}")


NestedScores = Mapping[str, Mapping[str, float]]
NestedGrades = Mapping[str, Mapping[str, int]]
Ranked = Sequence[Mapping[str, float]]
Judged = Sequence[Mapping[str, int]]

_UNJUDGED = -(2**63)
_BLOCK_DOCUMENTS = 3_000_000


def evaluate_dicts(
    run: NestedScores,
    qrels: NestedGrades,
    measures: Sequence[Measure | str],
    convention: Convention | str = "harness",
) -> DocScores:
    """The same values as ``evaluate`` of the same run and judgments, several times faster.

    ``run`` is ``{query: {document: score}}``, ``qrels`` ``{query: {document: grade}}``. Raises TrecError for
    a score that is not a number and a grade that is not a whole number.
    """
    rules = find_convention(convention)
    if rules.skip_same_id or rules.ideal == "retrieved":
        return evaluate(run_from_dict(run), qrels_from_dict(qrels), measures, rules)
    return _scored(measures, rules, partial(_score_dicts, run, qrels))


def _score_dicts(
    run: NestedScores, qrels: NestedGrades, measures: Sequence[Measure], rules: Convention
) -> Scored:
    names, runs, judged = list(qrels), [run.get(query) or {} for query in qrels], list(qrels.values())
    if rules.missing == "drop" and not (all(runs) and all(judged)):
        there = [query in run and bool(graded) for query, graded in qrels.items()]
        names, runs = list(compress(names, there)), list(compress(runs, there))
        judged = list(compress(judged, there))
    depth, values = depth_needed(measures, rules), [np.zeros((0, len(measures)))]
    for part in _blocks(runs, judged):
        graded = _graded(names[part], runs[part], judged[part], depth, rules)
        values.append(compute(graded, measures, rules.unanswerable))
    return names, np.concatenate(values)


def _blocks(runs: Ranked, judged: Judged) -> Iterator[slice]:
    """Queries of about as many documents, ranked and judged ones, as a block may have, or one query."""
    documents = np.cumsum([len(ranked) + len(graded) for ranked, graded in zip(runs, judged, strict=True)])
    edges = np.flatnonzero(np.diff(documents // _BLOCK_DOCUMENTS)) + 1
    for first, last in pairwise([0, *edges.tolist(), len(runs)]):
        yield slice(first, last)


def _graded(
    names: Sequence[str], runs: Ranked, judged: Judged, depth: int | None, rules: Convention
) -> Graded:
    """The grades along the rankings of some queries."""
    starts, judged_starts = (
        offsets_of(np.fromiter(map(len, documents), np.int64)) for documents in (runs, judged)
    )
    scores = rounded(pack_scores(runs, names), rules)
    # before the ranks, as this names a grade that is not a whole number
    judgments = owners(judged_starts), pack_grades(judged, names)
    rows, offsets = _first_rows(runs, scores, starts, depth, rules)
    earned, is_judged = _looked_up(runs, judged, starts, rows, offsets)
    averaged = rules.order == "score_ties_averaged"
    ties = tie_groups(scores[rows], offsets) if averaged else None
    return grade_documents(earned, is_judged, offsets, judgments, rules, ties)


def _first_rows(
    runs: Ranked, scores: AnyArray, starts: Ints, depth: int | None, rules: Convention
) -> tuple[Ints, Ints]:
    """The rows of the first ``depth`` documents of every ranking, or of all, and their offsets."""

    def id_order(rows: Ints) -> Ints:
        owner = np.searchsorted(starts, rows, side="right") - 1
        within = rows - starts[owner]
        documents = {query: list(runs[query]) for query in np.unique(owner).tolist()}
        chosen = [documents[query][row] for query, row in zip(owner.tolist(), within.tolist(), strict=True)]
        place = {doc: number for number, doc in enumerate(sorted(set(chosen)))}
        return np.array([place[doc] for doc in chosen])

    by_id = rules.order == "score_then_id_descending"
    return rank_grouped(scores, starts, depth, id_order if by_id else None)


def _looked_up(runs: Ranked, judged: Judged, starts: Ints, rows: Ints, offsets: Ints) -> tuple[Ints, Bools]:
    """The grade of the document in every row, 0 if it is unjudged, and which are judged."""
    within = (rows - np.repeat(starts[:-1], np.diff(offsets))).tolist()
    earned: list[int] = []
    # a loop over queries, so that no document is left and come back to: that would fetch it twice
    for documents, graded, read, (first, last) in zip(
        runs, judged, _rows_to_read(rows, offsets, starts), pairwise(offsets.tolist()), strict=True
    ):
        ids = list(documents) if read is None else list(islice(documents, read))
        chosen = [*map(ids.__getitem__, within[first:last])]
        earned += map(graded.get, chosen, repeat(_UNJUDGED))
    grades = np.array(earned, dtype=np.int64)
    is_judged = grades != _UNJUDGED
    return np.where(is_judged, grades, 0), is_judged


def _rows_to_read(rows: Ints, offsets: Ints, starts: Ints) -> list[int | None]:
    """How many of the first rows of every query hold all of its chosen ``rows``; None if most have to."""
    read, filled = np.zeros(len(offsets) - 1, np.int64), np.flatnonzero(np.diff(offsets))
    if len(filled):
        read[filled] = np.maximum.reduceat(rows, offsets[filled]) + 1 - starts[filled]
    # a list of all, as the processor then fetches the next ids while one is copied, and for islice does not
    most = 2 * read > np.diff(starts)
    return [None if all_ids else count for count, all_ids in zip(read.tolist(), most.tolist(), strict=True)]
