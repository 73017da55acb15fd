"""Score nested dictionaries without encoding their ids.

The entries of large dictionaries lie scattered in memory, and fetching them is what takes time. So every
object is fetched once, by loops that run inside the interpreter, and what has to be asked of it is asked
then. Scores, grades and ids each have a pass of their own over many queries, as the processor finds the way
to places in memory faster while these are of one kind. The documents that measures look at are looked up
among the judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise, repeat

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
from harness.data.trec.sources import pack_grades, pack_scores, qrels_from_dict, run_from_dict
from harness.measures import (
    AnyArray,
    Bools,
    Convention,
    Graded,
    JudgedDocuments,
    Measure,
    compute,
    find_convention,
    grade_documents,
    offsets_of,
    owners,
    parse_measure,
    rank_grouped,
)

NestedScores = Mapping[str, Mapping[str, float]]
NestedGrades = Mapping[str, Mapping[str, int]]

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
    """The grades along the rankings."""
    rows, offsets = _first_rows(block, depth, rules)
    earned, known = _looked_up(block, rows, offsets)
    judgments = JudgedDocuments(owners(block.judged_offsets), pack_grades(block.judged, block.names))
    return grade_documents(earned, known, offsets, judgments, rules)


def _first_rows(block: _Block, depth: int | None, rules: Convention) -> tuple[Ints, Ints]:
    """The rows of the first ``depth`` documents of every ranking, or of all, and their offsets."""

    def id_order(rows: Ints) -> Ints:
        owner = np.searchsorted(block.offsets, rows, side="right") - 1
        within = rows - block.offsets[owner]
        documents = {query: list(block.runs[query]) for query in np.unique(owner).tolist()}
        chosen = [documents[query][row] for query, row in zip(owner.tolist(), within.tolist(), strict=True)]
        place = {doc: number for number, doc in enumerate(sorted(set(chosen)))}
        return np.array([place[doc] for doc in chosen])

    by_id = rules.order == "score_then_id_descending"
    return rank_grouped(block.scores, block.offsets, depth, id_order if by_id else None)


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
