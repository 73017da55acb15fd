"""Score nested dictionaries without encoding their ids.

The dictionaries' own hash tables are asked as seldom as can be. Where measures look at fewer documents than
are judged, the first of every ranking are looked up among the judged. Otherwise the judged are looked up in
the run, as what is unjudged earns nothing: a judged document's rank is how many scores are above its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from math import isnan, nan

import numpy as np

from harness.measures import Measure, compute, parse_measure
from harness.measures.conventions import Convention, find_convention
from harness.measures.documents import JudgedDocuments, grade_documents
from harness.measures.order import length_blocks, rank_rows
from harness.measures.ragged import Bools, offsets_of, owners
from harness.trec.evaluate import DocScores, Floats, Ints, check_defined, depth_needed, evaluate
from harness.trec.ids import TrecError
from harness.trec.sources import qrels_from_dict, run_from_dict

NestedScores = Mapping[str, Mapping[str, float]]
NestedGrades = Mapping[str, Mapping[str, int]]


def evaluate_dicts(
    run: NestedScores,
    qrels: NestedGrades,
    measures: Sequence[Measure | str],
    convention: Convention | str = "harness",
) -> DocScores:
    """The same values as ``evaluate`` of the same run and judgments, several times faster.

    ``run`` is ``{query: {document: score}}``, ``qrels`` ``{query: {document: grade}}``.
    """
    rules = find_convention(convention)
    wanted = tuple(parse_measure(m) if isinstance(m, str) else m for m in measures)
    if rules.skip_same_id or rules.ideal == "retrieved":
        return evaluate(run_from_dict(run), qrels_from_dict(qrels), wanted, rules)
    check_defined(wanted, rules)
    names = [q for q in qrels if run.get(q)] if rules.missing == "drop" else list(qrels)
    runs, judged = [run.get(q, {}) for q in names], [qrels[q] for q in names]
    single = rules.order == "score_then_id_descending"
    offsets = offsets_of(np.fromiter(map(len, runs), np.int64, len(runs)))
    judged_offsets = offsets_of(np.fromiter(map(len, judged), np.int64, len(judged)))
    grades = np.fromiter(
        chain.from_iterable(documents.values() for documents in judged), np.int64, int(judged_offsets[-1])
    )
    depth = depth_needed(wanted, rules)
    if depth is not None and 2 * np.minimum(np.diff(offsets), depth).sum() < len(grades):
        kept = offsets_of(np.minimum(np.diff(offsets), depth))
        found = _grades_of_first(runs, judged, names, depth, single)
        known = found != _UNJUDGED
        earned = np.where(known, found, 0)
    else:
        scores = _scores(runs, names, single)
        rank = _ranks_of_judged(runs, judged, scores, offsets, judged_offsets, single)
        earned, known, kept = _placed(rank, grades, judged_offsets, offsets, depth)
    judgments = JudgedDocuments(owners(judged_offsets), grades)
    graded = grade_documents(earned, known, kept, judgments, ties=None, retrieved=False)
    return DocScores(tuple(names), wanted, compute(graded, wanted, rules.unanswerable), rules)


def _grades_of_first(
    runs: Sequence[Mapping[str, float]],
    judged: Sequence[Mapping[str, int]],
    names: Sequence[str],
    depth: int,
    single: bool,
) -> Ints:
    """The grades of the first ``depth`` documents of every ranking.

    The entries of dictionaries lie scattered in memory, so they are visited while they are in the cache.
    """
    found = [np.zeros(0, dtype=np.int64)]
    for first in range(0, len(runs), _BLOCK_QUERIES):
        block = slice(first, first + _BLOCK_QUERIES)
        ranked, offsets = _first_documents(runs[block], names[block], depth, single)
        looked_up = (
            map(graded.get, islice(ranked, count), repeat(_UNJUDGED))
            for graded, count in zip(judged[block], np.diff(offsets).tolist(), strict=True)
        )
        found.append(np.fromiter(chain.from_iterable(looked_up), np.int64, int(offsets[-1])))
    return np.concatenate(found)


def _first_documents(
    runs: Sequence[Mapping[str, float]], names: Sequence[str], depth: int, single: bool
) -> tuple[Iterator[str], Ints]:
    """The first ``depth`` documents of every ranking, end to end, and their offsets."""
    offsets = offsets_of(np.fromiter(map(len, runs), np.int64, len(runs)))
    scores = _scores(runs, names, single)
    documents = list(chain.from_iterable(runs))

    def id_order(rows: Ints) -> Ints:
        return np.unique([documents[row] for row in rows.tolist()], return_inverse=True)[1]

    rows, kept = rank_rows(owners(offsets), len(runs), scores, depth, id_order if single else None)
    return map(documents.__getitem__, rows.tolist()), kept


def _ranks_of_judged(
    runs: Sequence[Mapping[str, float]],
    judged: Sequence[Mapping[str, int]],
    scores: Floats,
    offsets: Ints,
    judged_offsets: Ints,
    single: bool,
) -> Ints:
    """The 0-based rank of every judged document, -1 where it is not ranked."""
    looked_up = (
        map(documents.get, graded, repeat(nan)) for documents, graded in zip(runs, judged, strict=True)
    )
    judged_scores = _floats(chain.from_iterable(looked_up), int(judged_offsets[-1]), single)
    rank = _ranks(scores, offsets, judged_scores, judged_offsets)
    for query in np.unique(owners(judged_offsets)[rank == _TIED]).tolist():
        inside = slice(judged_offsets[query], judged_offsets[query + 1])
        rank[inside] = _ranks_with_ties(runs[query], judged[query], single)
    return rank


_UNRANKED = -1
_TIED = -2
_UNJUDGED = -(2**63)
_BLOCK_QUERIES = 200


def _scores(runs: Sequence[Mapping[str, float]], names: Sequence[str], single: bool) -> Floats:
    """All scores end to end; raises TrecError for one that is NaN."""
    count = sum(map(len, runs))
    # gathered into a list first, which has the processor fetch many of the scattered numbers at once
    scores = _floats(list(chain.from_iterable([run.values() for run in runs])), count, single)
    if np.isnan(scores).any():
        query = next(name for name, run in zip(names, runs, strict=True) if any(map(isnan, run.values())))
        raise TrecError(f"run: query {query} has a score that is not a number, so it has no rank")
    return scores


def _floats(values: Iterable[float], count: int, single: bool) -> Floats:
    """Scores in double precision, rounded to what trec_eval keeps of them where asked."""
    found = np.fromiter(values, np.float64, count)
    return found.astype(np.float32).astype(np.float64) if single else found


def _ranks(scores: Floats, offsets: Ints, judged: Floats, judged_offsets: Ints) -> Ints:
    """For every judged document its 0-based rank, -1 where it is not ranked, -2 where others tie with it."""
    ranks = np.full(len(judged), _UNRANKED, dtype=np.int64)
    ranked = np.flatnonzero(~np.isnan(judged))
    owner = owners(judged_offsets)[ranked]
    block_row = np.empty(len(offsets) - 1, dtype=np.int64)
    for queries in length_blocks(np.diff(offsets)):
        block_row[:] = -1
        block_row[queries] = np.arange(len(queries))
        mine = block_row[owner] >= 0
        falling = _falling(scores, offsets, queries)
        row, value = block_row[owner[mine]], -judged[ranked[mine]]
        higher = _count(falling, row, value, or_equal=False)
        tied = _count(falling, row, value, or_equal=True) - higher > 1
        ranks[ranked[mine]] = np.where(tied, _TIED, higher)
    return ranks


def _falling(scores: Floats, offsets: Ints, queries: Ints) -> Floats:
    """The negated scores of some queries, sorted, one row each, filled up with infinity."""
    counts = np.diff(offsets)[queries]
    column = np.arange(counts.max())
    inside = column < counts[:, None]
    index = np.minimum(offsets[queries][:, None] + column, len(scores) - 1)
    matrix: Floats = np.where(inside, -scores[index], np.inf)
    matrix.sort(axis=1)
    return matrix


def _count(matrix: Floats, row: Ints, value: Floats, or_equal: bool) -> Ints:
    """How many entries of its sorted row are below each value (or equal to it), by binary search."""
    width = matrix.shape[1]
    flat, base = matrix.ravel(), row * width
    low, high = np.zeros(len(row), dtype=np.int64), np.full(len(row), width, dtype=np.int64)
    for _ in range(width.bit_length()):
        middle = (low + high) >> 1
        entry = flat[base + np.minimum(middle, width - 1)]
        before = ((entry <= value) if or_equal else (entry < value)) & (middle < high)
        low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
    return low


def _ranks_with_ties(documents: Mapping[str, float], judged: Mapping[str, int], single: bool) -> list[int]:
    """The ranks of one query's judged documents where equal scores need the convention."""
    if single:
        order = sorted(documents, reverse=True)
        order.sort(key=lambda doc: -float(np.float32(documents[doc])))
    else:
        order = sorted(documents, key=lambda doc: -documents[doc])
    place = {doc: rank for rank, doc in enumerate(order)}
    return [place.get(doc, _UNRANKED) for doc in judged]


def _placed(
    rank: Ints, grades: Ints, judged_offsets: Ints, offsets: Ints, depth: int | None
) -> tuple[Ints, Bools, Ints]:
    """Put the judged documents at their ranks: the grade at each, which are judged, and the offsets."""
    counts = np.diff(offsets) if depth is None else np.minimum(np.diff(offsets), depth)
    kept = offsets_of(counts)
    query = owners(judged_offsets)
    within = np.flatnonzero((rank >= 0) & (rank < counts[query]))
    place = kept[query[within]] + rank[within]
    earned, known = np.zeros(kept[-1], dtype=np.int64), np.zeros(kept[-1], dtype=np.bool_)
    earned[place], known[place] = grades[within], True
    return earned, known, kept
