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
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from harness.data.trec.ids import Ids, TrecError, column_of, fingerprints, numbers_of, places_in
from harness.data.trec.sources import pack_grades, pack_scores, qrels_from_dict, run_from_dict
from harness.data.trec.tables import PairRows, Qrels, Run, judged_rows, refuse_repeats
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
    rank_rows,
    tie_groups,
)

Numbers = npt.NDArray[np.int32]


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
    firsts = [next(chain.from_iterable(given.values()), None) for given in (run, qrels)]
    if None not in firsts and isinstance(firsts[0], str) != isinstance(firsts[1], str):
        raise TrecError(f"run names documents as {firsts[0]!r}, qrels as {firsts[1]!r}: use ids of one type.")


def evaluate(
    run: Run, qrels: Qrels, measures: Sequence[Measure | str], convention: Convention | str = "harness"
) -> DocScores:
    """Every measure for every judged query.

    Queries that only the run has are left out, as no tool can score them. Raises ValueError for an unknown
    measure or convention, and for a measure that a convention does not define; TrecError where a document is
    ranked twice for a query within the depth that is looked at.
    """
    return _scored(measures, convention, partial(_score, run, qrels))


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
    found = [score([wanted[place] for place in places], within) for within, places in parts]
    names = tuple(found[0][0])
    values = np.empty((len(names), len(wanted)))
    for (_, places), (_, part) in zip(parts, found, strict=True):
        values[:, places] = part
    return DocScores(names, wanted, values, rules)


def _score(run: Run, qrels: Qrels, measures: Sequence[Measure], rules: Convention) -> Scored:
    n_queries = len(qrels.query.names)
    code = places_in(run.query.names, qrels.query.names)
    query = code[run.query.code]
    rows = _scored_rows(run, query, rules)
    ranked, offsets = _rank(run, query, rows, n_queries, _depth_needed(measures, rules), rules)
    pairs = PairRows.of(owners(offsets), run.doc, ranked)
    refuse_repeats(run.source, run.query, pairs, "ranked")
    values = compute(_grade(run, qrels, pairs, offsets, rules), measures, rules.unanswerable)
    kept = np.arange(n_queries)
    if rules.missing == "drop":
        # a dictionary may name queries without a document, in the run (empty is not missing) or as judged
        counts = [np.bincount(own, minlength=n_queries) for own in (code[code >= 0], qrels.query.code)]
        kept = np.flatnonzero(np.all(counts, axis=0))
    return qrels.query.names.take(column_of(kept)).to_pylist(), values[kept]


def _check_defined(measures: Sequence[Measure], rules: Convention) -> None:
    """Raise ValueError for a measure that ranked documents, or the convention, do not define."""
    for measure in measures:
        family = FAMILIES[measure.family]
        if family.reads != "ranks":
            raise ValueError(f"{measure} reads the text of chunks; a run of documents has none")
        if rules.order == "score_ties_averaged" and not family.averages_ties:
            ties = f"the convention {rules.name} averages ties"
            raise ValueError(f"{ties}, which is defined for NDCG, not {measure}")


def _depth_needed(measures: Sequence[Measure], rules: Convention) -> int | None:
    """How far down the rankings matter; None for all the way."""
    whole = any(m.cutoff is None or FAMILIES[m.family].whole_ranking for m in measures)
    if whole or rules.ideal == "retrieved":
        return None
    return max((m.cutoff for m in measures if m.cutoff is not None), default=1)


def _rounded(scores: Floats, rules: Convention) -> AnyArray:
    """Scores as a convention compares them: trec_eval keeps 32 bits, where a large one becomes infinite."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32) if rules.single_precision else scores


def _scored_rows(run: Run, query: Numbers, rules: Convention) -> Ints | None:
    """The rows of judged queries; None if these are all."""
    kept = query >= 0
    if rules.skip_same_id:
        same = np.flatnonzero(fingerprints(run.query.names)[run.query.code] == run.doc.prints())
        kept[[row for row in same.tolist() if run.query.name(row) == run.doc.name(row)]] = False
    return None if kept.all() else np.flatnonzero(kept)


def _rank(
    run: Run, query: Numbers, rows: Ints | None, n_queries: int, depth: int | None, rules: Convention
) -> tuple[Ints, Ints]:
    """The ranked rows of every query, and their offsets."""
    rank = run.rank if rules.order == "given" else None
    score = _rounded(run.score if rank is None else -rank.astype(np.float64), rules)

    def tie_key(chosen: Ints) -> npt.NDArray[Any]:
        """Where scores, or ids by their bytes, are among those chosen, lowest first; equals in one place."""
        own = chosen if rows is None else rows[chosen]
        if rank is not None:
            # a rank that several documents hold, such as a column of zeros, says nothing of their order
            return np.unique(run.score[own], return_inverse=True)[1]
        ids = Ids.of(run.doc.take(own), run.source)
        order = pc.rank(ids.names, sort_keys="ascending", tiebreaker="first")
        return numbers_of(order).astype(np.int64)[ids.code]

    tied = rank is not None or rules.order == "score_then_id_descending"
    kept = slice(None) if rows is None else rows
    ranked, offsets = rank_rows(query[kept], n_queries, score[kept], depth, tie_key if tied else None)
    return ranked if rows is None else rows[ranked], offsets


def _grade(run: Run, qrels: Qrels, ranked: PairRows, offsets: Ints, rules: Convention) -> Graded:
    row = judged_rows(ranked, qrels.pairs)
    averaged = rules.order == "score_ties_averaged"
    ties = tie_groups(run.score[ranked.rows], offsets) if averaged else None
    judged = row >= 0
    earned = np.zeros(len(row), dtype=np.int64)
    earned[judged] = qrels.grade[row[judged]]
    judgments = (qrels.query.code, qrels.grade)
    return grade_documents(earned, judged, offsets, judgments, rules, ties)


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
    depth, values = _depth_needed(measures, rules), [np.zeros((0, len(measures)))]
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
    starts, judged_starts = (offsets_of(np.fromiter(map(len, own), np.int64)) for own in (runs, judged))
    scores = _rounded(pack_scores(runs, names), rules)
    # before the ranks, as this names a grade that is not a whole number
    judgments = owners(judged_starts), pack_grades(judged, names)
    rows, offsets = _first_rows(runs, scores, starts, depth, rules)
    earned, known = _looked_up(runs, judged, starts, rows, offsets)
    return grade_documents(earned, known, offsets, judgments, rules)


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
    found: list[int] = []
    # a loop over queries, so that no document is left and come back to: that would fetch it twice
    for documents, graded, read, (first, last) in zip(
        runs, judged, _rows_to_read(rows, offsets, starts), pairwise(offsets.tolist()), strict=True
    ):
        ids = list(documents) if read is None else list(islice(documents, read))
        chosen = [*map(ids.__getitem__, within[first:last])]
        found += map(graded.get, chosen, repeat(_UNJUDGED))
    grades = np.array(found, dtype=np.int64)
    known = grades != _UNJUDGED
    return np.where(known, grades, 0), known


def _rows_to_read(rows: Ints, offsets: Ints, starts: Ints) -> list[int | None]:
    """How many of the first rows of every query hold all of its chosen ``rows``; None if most have to."""
    read, filled = np.zeros(len(offsets) - 1, np.int64), np.flatnonzero(np.diff(offsets))
    if len(filled):
        read[filled] = np.maximum.reduceat(rows, offsets[filled]) + 1 - starts[filled]
    # a list of all, as the processor then fetches the next ids while one is copied, and for islice does not
    most = 2 * read > np.diff(starts)
    return [None if all_ids else count for count, all_ids in zip(read.tolist(), most.tolist(), strict=True)]
