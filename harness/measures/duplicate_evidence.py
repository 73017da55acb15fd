"""Copies of one fact: which of them an ideal reading may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, prod

import numpy as np

from harness.measures.gain import gain_exp
from harness.measures.ragged import Bools, Floats, Ints, offsets_of
from harness.measures.trail import Trail, elementary

MOST_COMBINATIONS = 256


@dataclass(frozen=True, slots=True)
class Choices:
    """Ways to choose one copy of each fact: row ``row[i]`` of the trail's spans belongs to ``choice[i]``.

    Query q has the choices c with ``query_of_choice[c] == q``, at least one. ``cap`` [C] is what a choice can
    earn at most (infinite if it holds one copy of each fact, so that nothing needs to be capped).
    """

    row: Ints
    choice: Ints
    query_of_choice: Ints
    cap: Floats


def choices(trail: Trail) -> Choices:
    """The choices of every query.

    A copy that overlaps no other fact is out of the question where another is as well graded and no longer,
    so nearly always one copy of each fact is left. Where several are, all combinations are listed; beyond
    ``MOST_COMBINATIONS`` the query gets a single choice that holds all copies, with the gain of one copy of
    each as its cap: a little more than any reading can earn, never less.
    """
    kept = _undominated(trail)
    evidence = trail.spans.evidence
    copies = np.bincount(evidence[kept], minlength=trail.spans.n_evidence)
    settled = kept & (copies[evidence] == 1)
    rows, choice = [np.flatnonzero(settled)], [trail.spans.query[settled]]
    query_of_choice, cap = list(range(trail.n_queries)), [inf] * trail.n_queries
    for query, fixed, open_rows in _by_query(trail.spans.query, settled, kept & ~settled):
        combinations = _combinations(open_rows, evidence[open_rows])
        if combinations is None:
            combinations = [open_rows]
            cap[query] = _cap(trail, np.concatenate([open_rows, fixed]))
        numbers = [query, *range(len(cap), len(cap) + len(combinations) - 1)]
        for number, combination in zip(numbers, combinations, strict=True):
            added = combination if number == query else np.concatenate([combination, fixed])
            rows.append(added)
            choice.append(np.full(len(added), number))
        query_of_choice += [query] * (len(numbers) - 1)
        cap += [inf] * (len(numbers) - 1)
    return Choices(
        np.concatenate(rows),
        np.concatenate(choice),
        np.array(query_of_choice, dtype=np.int64),
        np.array(cap, dtype=np.float64),
    )


def _undominated(trail: Trail) -> Bools:
    """The copies an ideal reading may use; of identical copies the first."""
    spans = trail.spans
    kept = np.ones(len(spans), dtype=np.bool_)
    copies = np.bincount(spans.evidence, minlength=spans.n_evidence)
    several = np.flatnonzero(copies[spans.evidence] > 1)
    if not len(several):
        return kept
    alone = _alone(trail)
    # the best comes first: higher grade, shorter, overlapping another fact, earlier
    order = several[
        np.lexsort(
            (
                several,
                alone[several],
                trail.length[several],
                -spans.grade[several],
                spans.evidence[several],
            )
        )
    ]
    shortest, current = inf, -1
    for row in order.tolist():
        if spans.evidence[row] != current:
            current, shortest = int(spans.evidence[row]), inf
        if alone[row] and shortest <= trail.length[row]:
            kept[row] = False
        shortest = min(shortest, float(trail.length[row]))
    return kept


def _alone(trail: Trail) -> Bools:
    """Mask of the spans that share no character with a span of another fact of their query."""
    spans = trail.spans
    interval, segment, *_ = elementary(trail.group, spans.start, spans.end)
    pairs = np.unique(np.stack([segment, spans.evidence[interval]]), axis=1)
    facts = np.bincount(pairs[0], minlength=int(segment.max(initial=-1)) + 1)
    alone = np.ones(len(spans), dtype=np.bool_)
    alone[interval[facts[segment] > 1]] = False
    return alone


def _by_query(owner: Ints, settled: Bools, unsettled: Bools) -> Iterator[tuple[int, Ints, Ints]]:
    """For every query with unsettled copies: (query, settled rows, unsettled rows)."""
    if not unsettled.any():
        return
    order = np.argsort(owner, kind="stable")
    offsets = offsets_of(np.bincount(owner))
    for query in np.unique(owner[unsettled]).tolist():
        rows = order[offsets[query] : offsets[query + 1]]
        yield query, rows[settled[rows]], rows[unsettled[rows]]


def _combinations(rows: Ints, evidence: Ints) -> list[Ints] | None:
    """One copy of each fact in every combination; None if there are too many."""
    by_fact = [rows[evidence == fact] for fact in np.unique(evidence)]
    if prod(len(copies) for copies in by_fact) > MOST_COMBINATIONS:
        return None
    return [np.array(combination, dtype=np.int64) for combination in product(*by_fact)]


def _cap(trail: Trail, rows: Ints) -> float:
    """The gain of the best copy of each fact."""
    best = np.zeros(trail.spans.n_evidence)
    np.maximum.at(best, trail.spans.evidence[rows], gain_exp(trail.spans.grade[rows]))
    return float(best.sum())
