"""The best possible reading of the judged text, whatever the chunking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures.duplicate_evidence import Choices, choices
from harness.measures.ragged import Floats, Ints, before, offsets_of
from harness.measures.trail import Trail, elementary


@dataclass(frozen=True, slots=True)
class IdealReading:
    """The densest text first: segments, their place ``at``..``until`` on the ideal trail, their density.

    Segments belong to a ``choice`` among copies, choices to a query.
    """

    choice: Ints
    at: Floats
    until: Floats
    density: Floats
    query_of_choice: Ints


def densest_first(trail: Trail, density: Floats) -> IdealReading:
    """Read the relevant spans of every query in the order of their gain per unit of length.

    ``density`` [S] is the gain per unit of each span. Where spans of several facts overlap, their densities
    add up, so it is characters, not spans, that are put in order: no trail of text can earn more.
    """
    chosen = choices(trail)
    choice, length, total = _segments(trail, chosen, density)
    order = np.lexsort((-total, choice))
    choice, length, total = choice[order], length[order], total[order]
    offsets = offsets_of(np.bincount(choice, minlength=len(chosen.cap)))
    room = np.maximum(chosen.cap[choice] - before(total * length, offsets), 0.0)
    length = np.minimum(length, room / total)
    at = before(length, offsets)
    return IdealReading(choice, at, at + length, total, chosen.query_of_choice)


def _segments(trail: Trail, chosen: Choices, density: Floats) -> tuple[Ints, Floats, Floats]:
    """The chosen spans cut at each other's ends: (choice, length, summed density) of each segment."""
    spans = trail.spans.take(chosen.row)
    n_groups = int(trail.group.max(initial=0)) + 1
    pair, group = np.unique(chosen.choice * n_groups + trail.group[chosen.row], return_inverse=True)
    interval, segment, in_pair, start, end = elementary(group, spans.start, spans.end)
    total = np.bincount(segment, density[chosen.row[interval]], minlength=len(start)).astype(np.float64)
    covered = total > 0
    in_pair, start, end = in_pair[covered], start[covered], end[covered]
    doc = np.zeros(len(pair), dtype=np.int64)
    doc[group] = spans.doc
    ends = trail.unit.positions(spans.doc_ids, doc[in_pair], end)
    length: Floats = ends - trail.unit.positions(spans.doc_ids, doc[in_pair], start)
    return pair[in_pair] // n_groups, length, total[covered]
