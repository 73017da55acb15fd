"""Score nested dictionaries without encoding their ids.

The entries of large dictionaries lie scattered in memory, and fetching them is what takes time. So every
object is fetched once, by loops that run inside the interpreter, and what has to be asked of it is asked
then. Scores, grades and ids each have a pass of their own over many queries, as the processor finds the way
to places in memory faster while these are of one kind. Where measures look at fewer documents than are
judged, the first of every ranking are looked up among the judged. Otherwise the judged are looked up in the
run, as what is unjudged earns nothing: a judged document's rank is how many scores are above its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise, repeat
from math import nan

import numpy as np

from harness.data.trec.evaluate import (
    DocScores,
    Ints,
    check_defined,
    depth_needed,
    evaluate,
    joined,
    single_precision,
)
from harness.data.trec.packing import pack_grades, pack_scores
from harness.data.trec.sources import qrels_from_dict, run_from_dict
from harness.measures import (
    AnyArray,
    Bools,
    Convention,
    Graded,
    JudgedDocuments,
    Measure,
    compute,
    falling_rows,
    find_convention,
    grade_documents,
    length_blocks,
    offsets_of,
    owners,
    parse_measure,
    rank_grouped,
    slices,
)

NestedScores = Mapping[str, Mapping[str, float]]
NestedGrades = Mapping[str, Mapping[str, int]]

_UNRANKED = -1
_TIED = -2
_UNJUDGED = -(2**63)
_BLOCK_DOCUMENTS = 3_000_000


@dataclass(frozen=True, slots=True)
class _Block:
    """Some queries: their dictionaries, the scores in these, laid end to end, and where each begins."""

    names: Sequence[str]
    runs: Sequence[Mapping[str, float]]
    judged: Sequence[Mapping[str, int]]
    scores: AnyArray
    offsets: Ints
    judged_offsets: Ints


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
    wanted = tuple(parse_measure(m) if isinstance(m, str) else m for m in measures)
    if rules.skip_same_id or rules.ideal == "retrieved":
        return evaluate(run_from_dict(run), qrels_from_dict(qrels), wanted, rules)
    check_defined(wanted, rules)
    parts = rules.by_precision([measure.family for measure in wanted])
    if len(parts) > 1:
        return joined(wanted, rules, parts, lambda some, within: evaluate_dicts(run, qrels, some, within))
    ((within, _),) = parts
    depth = depth_needed(wanted, rules)
    names, runs, judged = list(qrels), [run.get(query) or {} for query in qrels], list(qrels.values())
    if rules.missing == "drop" and not (all(runs) and all(judged)):
        there = [query in run and bool(graded) for query, graded in qrels.items()]
        names, runs = list(compress(names, there)), list(compress(runs, there))
        judged = list(compress(judged, there))
    values = [np.zeros((0, len(wanted)))]
    for part in _blocks(runs, judged):
        graded = _graded(_block(names[part], runs[part], judged[part], within), depth, within)
        values.append(compute(graded, wanted, rules.unanswerable))
    return DocScores(tuple(names), wanted, np.concatenate(values), rules)


def _blocks(runs: Sequence[Mapping[str, float]], judged: Sequence[Mapping[str, int]]) -> Iterator[slice]:
    """Queries of about as many documents, ranked and judged ones, as a block may have, or one query."""
    documents = np.cumsum([len(ranked) + len(graded) for ranked, graded in zip(runs, judged, strict=True)])
    edges = np.flatnonzero(np.diff(documents // _BLOCK_DOCUMENTS)) + 1
    for first, last in pairwise([0, *edges.tolist(), len(runs)]):
        yield slice(first, last)


def _block(
    names: Sequence[str],
    runs: Sequence[Mapping[str, float]],
    judged: Sequence[Mapping[str, int]],
    rules: Convention,
) -> _Block:
    scores = pack_scores(runs, names)
    return _Block(
        names,
        runs,
        judged,
        single_precision(scores) if rules.single_precision else scores,
        offsets_of(np.fromiter(map(len, runs), np.int64, len(runs))),
        offsets_of(np.fromiter(map(len, judged), np.int64, len(judged))),
    )


def _graded(block: _Block, depth: int | None, rules: Convention) -> Graded:
    """The grades along the rankings, found by whichever way looks up fewer documents."""
    grades = pack_grades(block.judged, block.names)
    if depth is not None and 2 * np.minimum(np.diff(block.offsets), depth).sum() < block.judged_offsets[-1]:
        rows, offsets = _first_rows(block, depth, rules)
        earned, known = _looked_up(block, rows, offsets)
    else:
        earned, known, offsets = _placed(block, _ranks_of_judged(block, rules), grades, depth)
    judgments = JudgedDocuments(owners(block.judged_offsets), grades)
    return grade_documents(earned, known, offsets, judgments, rules)


def _first_rows(block: _Block, depth: int, rules: Convention) -> tuple[Ints, Ints]:
    """The rows of the first ``depth`` documents of every ranking, and their offsets."""

    def id_order(rows: Ints) -> Ints:
        owner = np.searchsorted(block.offsets, rows, side="right") - 1
        within = rows - block.offsets[owner]
        documents = {query: list(block.runs[query]) for query in np.unique(owner).tolist()}
        chosen = [documents[query][row] for query, row in zip(owner.tolist(), within.tolist(), strict=True)]
        place = {doc: number for number, doc in enumerate(sorted(set(chosen)))}
        return np.array([place[doc] for doc in chosen])

    return rank_grouped(block.scores, block.offsets, depth, id_order if _by_id(rules) else None)


def _looked_up(block: _Block, rows: Ints, offsets: Ints) -> tuple[Ints, Bools]:
    """The grade of the document in every row, 0 if it is unjudged, and which are judged."""
    within = (rows - np.repeat(block.offsets[:-1], np.diff(offsets))).tolist()
    found: list[int] = []
    # a loop over queries, so that no document is left and come back to: that would fetch it twice
    for documents, graded, read, (first, last) in zip(
        block.runs,
        block.judged,
        _rows_to_read(rows, offsets, block.offsets),
        pairwise(offsets.tolist()),
        strict=True,
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


def _ranks_of_judged(block: _Block, rules: Convention) -> Ints:
    """The 0-based rank of every judged document, -1 if it is not ranked."""
    scores = np.frombuffer(b"".join(map(_scores_of_judged, block.runs, block.judged)), np.float64)
    rank = _ranks(block, single_precision(scores) if rules.single_precision else scores)
    for query in np.unique(owners(block.judged_offsets)[rank == _TIED]).tolist():
        inside = slice(block.judged_offsets[query], block.judged_offsets[query + 1])
        rank[inside] = _ranks_with_ties(block.runs[query], block.judged[query], rules)
    return rank


def _scores_of_judged(documents: Mapping[str, float], graded: Mapping[str, int]) -> bytes:
    """The packed score of every judged document of a query, NaN if it is not ranked."""
    list(documents)  # fetches all ids at once, which lookups would do one by one
    return struct.pack(f"{len(graded)}d", *map(documents.get, graded, repeat(nan)))


def _ranks(block: _Block, judged: AnyArray) -> Ints:
    """For every judged document its 0-based rank, -1 if it is not ranked, -2 where others tie with it."""
    ranks = np.full(len(judged), _UNRANKED, dtype=np.int64)
    ranked_counts, judged_counts = np.diff(block.offsets), np.diff(block.judged_offsets)
    for queries in length_blocks(ranked_counts):
        falling = np.sort(falling_rows(block.scores, block.offsets, queries), axis=1)
        mine = slices(block.judged_offsets[queries], judged_counts[queries])
        row, value = np.repeat(np.arange(len(queries)), judged_counts[queries]), -judged[mine]
        ranked = ~np.isnan(value)
        mine, row, value = mine[ranked], row[ranked], value[ranked]
        higher = _count_below(falling, row, value)
        following = np.minimum(higher + 1, falling.shape[1] - 1)
        tied = (falling[row, following] == value) & (following > higher)
        # what fills short rows up may be equal to a value, and is none
        tied &= following < ranked_counts[queries][row]
        ranks[mine] = np.where(tied, _TIED, higher)
    return ranks


def _count_below(matrix: AnyArray, row: Ints, value: AnyArray) -> Ints:
    """How many entries of its sorted row are below each value, by binary search."""
    width = matrix.shape[1]
    flat, base = matrix.ravel(), row * width
    low, high = np.zeros(len(row), dtype=np.int64), np.full(len(row), width, dtype=np.int64)
    for _ in range(width.bit_length()):
        middle = (low + high) >> 1
        before = (flat[base + np.minimum(middle, width - 1)] < value) & (middle < high)
        low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
    return low


def _by_id(rules: Convention) -> bool:
    return rules.order == "score_then_id_descending"


def _ranks_with_ties(
    documents: Mapping[str, float], judged: Mapping[str, int], rules: Convention
) -> list[int]:
    """The ranks of one query's judged documents where equal scores need the convention."""
    order = sorted(documents, reverse=True) if _by_id(rules) else list(documents)
    # as float64, which all other ways to the rank compare: numpy's own types overflow where these do not
    exact = np.array([documents[doc] for doc in order], np.float64)
    scores = single_precision(exact) if rules.single_precision else exact
    order = [order[i] for i in np.argsort(-scores, kind="stable").tolist()]
    place = {doc: rank for rank, doc in enumerate(order)}
    return [place.get(doc, _UNRANKED) for doc in judged]


def _placed(block: _Block, rank: Ints, grades: Ints, depth: int | None) -> tuple[Ints, Bools, Ints]:
    """Put the judged documents at their ranks: the grade at each, which are judged, and the offsets."""
    counts = np.diff(block.offsets)
    if depth is not None:
        counts = np.minimum(counts, depth)
    kept = offsets_of(counts)
    query = owners(block.judged_offsets)
    within = np.flatnonzero((rank >= 0) & (rank < counts[query]))
    place = kept[query[within]] + rank[within]
    earned, known = np.zeros(kept[-1], dtype=np.int64), np.zeros(kept[-1], dtype=np.bool_)
    earned[place], known[place] = grades[within], True
    return earned, known, kept
