"""The evidence of one query and the chunks that show it, cut into segments; what reading these earns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from harness.measures import (
    FAMILIES,
    HALF,
    Bools,
    Floats,
    Ints,
    Measure,
    Scorer,
    Trail,
    Unit,
    arguments,
    before,
    discount,
    evidence_ndcg,
    gain_exp,
    offsets_of,
    paid_up_to,
    slices,
    stretch_of,
    text_ndcg,
)

_ROUNDING = 1e-9
# What a part of an evidence that is not found yet counts for a search: less than any that is found.
_PROGRESS = 1e-3


@dataclass(frozen=True, slots=True)
class Paying:
    """A measure of text read as it pays: for ``found`` evidence in stretches, or for every unit read.

    ``budget``, ``enough`` and ``L`` are those of the measure (``enough`` is 1 if it pays for every unit).
    """

    found: bool
    budget: int
    enough: int
    L: int

    @classmethod
    def of(cls, measure: Measure) -> Paying:
        """Read a measure of the families ndcg_evidence and ndcg_text."""
        parameters = arguments(measure, FAMILIES[measure.family])
        is_evidence = measure.family.startswith("ndcg_evidence")
        return cls(is_evidence, measure.cutoff or 0, parameters.get("enough", 1), parameters["L"])

    @property
    def stretches(self) -> int:
        """How many stretches the budget has, the last one perhaps cut short."""
        return -(-self.budget // self.enough)

    def ideal(self, trail: Trail) -> Floats:
        """What the best reading of the relevant spans of a trail earns, [Q], whatever is ranked."""
        if self.found:
            return evidence_ndcg.ideal_gain(trail, self.budget, self.enough, self.L)
        return text_ndcg.ideal_gain(trail, self.budget, self.L)


@dataclass(frozen=True)
class EvidenceSegments:
    """The relevant spans of one query and C chunks that show some of them, cut into G common segments.

    Lengths and places are in the unit of the measure. ``length`` [G] of the segments; ``at`` [C, G] is the
    place of a segment in a chunk's text, infinite where the chunk does not contain it; ``holds`` [S, G] says
    which span contains which segment; ``gain`` [S] of a span, ``span_length`` [S]; ``needed`` [S] is how much
    of it has to be read until it is found; ``fact`` [S] its evidence, numbered from 0; ``size`` [C] the
    chunks' lengths. ``paying`` is the measure.
    """

    length: Floats
    at: Floats
    holds: Bools
    gain: Floats
    span_length: Floats
    needed: Floats
    fact: Ints
    size: Floats
    paying: Paying

    @classmethod
    def of(
        cls, scorer: Scorer, span_rows: Ints, chunk_rows: Ints, unit: Unit, paying: Paying
    ) -> EvidenceSegments:
        """Cut the given spans and chunks at each other's ends; documents are laid end to end.

        A measure of found evidence looks for the answer of a span that names one, as a whole.
        """
        spans, chunks = scorer.spans.take(span_rows), scorer.chunks
        start, end, named = spans.start, spans.end, np.zeros(len(spans), dtype=np.bool_)
        if paying.found and spans.answer is not None:
            named = spans.answer[:, 0] >= 0
            start, end = np.where(named, spans.answer.T, [start, end])
        of_span = [spans.doc_ids[row] for row in spans.doc]
        of_chunk = [chunks.doc_ids[row] for row in chunks.doc[chunk_rows]]
        number = {doc_id: at for at, doc_id in enumerate(dict.fromkeys([*of_span, *of_chunk]))}
        names = list(number)
        counts = np.diff(chunks.part_offsets)[chunk_rows]
        part = slices(chunks.part_offsets[chunk_rows], counts)
        part_start, part_end = chunks.part_start[part], chunks.part_end[part]
        width = int(max(end.max(initial=0), part_end.max(initial=0))) + 1
        span_at = np.array([number[doc_id] for doc_id in of_span], dtype=np.int64) * width
        part_at = np.repeat(np.array([number[doc_id] for doc_id in of_chunk], dtype=np.int64), counts) * width
        start, end = span_at + start, span_at + end
        part_start, part_end = part_at + part_start, part_at + part_end
        edges = np.unique(np.concatenate([start, end, part_start, part_end]))
        left, right = edges[:-1], edges[1:]
        holds = (start[:, None] <= left) & (right <= end[:, None])
        wanted = holds.any(axis=0)
        left, right, holds = left[wanted], right[wanted], holds[:, wanted]
        shown = (part_start[:, None] <= left) & (right <= part_end[:, None])

        def place(at: Ints) -> Floats:
            return unit.positions(names, at // width, at % width)

        begin, part_begin = place(left), place(part_start)
        length, part_length = place(right) - begin, place(part_end) - part_begin
        parts = offsets_of(counts)
        # a chunk's text is that of its parts, one after another
        shift = before(part_length, parts) - part_begin
        span_length = holds @ length
        return cls(
            length=length,
            at=np.minimum.reduceat(np.where(shown, shift[:, None] + begin, np.inf), parts[:-1], axis=0),
            holds=holds,
            gain=gain_exp(spans.grade),
            span_length=span_length,
            needed=np.where(named, span_length, np.minimum(HALF * span_length, paying.enough)),
            fact=np.unique(spans.evidence, return_inverse=True)[1],
            size=np.add.reduceat(part_length, parts[:-1]),
            paying=paying,
        )

    @property
    def columns(self) -> list[Floats | Ints | Bools]:
        """All of the arrays."""
        return [getattr(self, field.name) for field in fields(self) if field.name != "paying"]

    @cached_property
    def _own(self) -> tuple[Ints, Floats]:
        """The segments of each span, [S, M], and their lengths, 0 for those that only fill a row up."""
        counts = self.holds.sum(axis=1)
        order = np.argsort(~self.holds, axis=1, kind="stable")[:, : int(counts.max(initial=1))]
        return order, np.where(np.arange(order.shape[1]) < counts[:, None], self.length[order], 0.0)

    def found_at(self, when: Floats, needed: Floats) -> Floats:
        """The place where ``needed`` [S] or [N, S] of each span has been read, [N, S]; infinite if never.

        ``when`` [N, G] is the place at which each segment was first read, infinite if it was not.
        """
        columns, length = self._own
        began = when[:, columns]
        order = np.argsort(began, axis=2, kind="stable")
        began = np.take_along_axis(began, order, axis=2)
        read = np.where(
            np.isfinite(began), np.take_along_axis(np.broadcast_to(length, began.shape), order, 2), 0
        )
        had = np.cumsum(read, axis=2)
        there = (had >= np.asarray(needed)[..., None] - _ROUNDING) & (read > 0)
        first = there.argmax(axis=2)[:, :, None]
        at, before_it = (np.take_along_axis(one, first, axis=2)[:, :, 0] for one in (began, had - read))
        read_until: Floats = np.where(there.any(axis=2), at + np.maximum(needed - before_it, 0.0), np.inf)
        return read_until

    def by_fact(self, by_span: Floats) -> Floats:
        """The highest of each evidence's copies, [N, F]."""
        best = np.zeros((len(by_span), int(self.fact.max(initial=-1)) + 1))
        for span, fact in enumerate(self.fact.tolist()):
            np.maximum(best[:, fact], by_span[:, span], out=best[:, fact])
        return best

    def earned(self, when: Floats) -> Floats:
        """About what each row of first readings [N, G] earns; exact if the measure pays for every unit.

        Of found evidence all is paid where it is found, although a stretch pays for one; what is half found
        counts a little, so that a search goes on with it.
        """
        paying = self.paying
        if not paying.found:
            paid = paid_up_to(paying.budget, paying.L)
            finite, places = np.isfinite(when), np.arange(len(paid))
            start = np.where(finite, when, 0.0)
            earned = np.interp(start + self.length, places, paid) - np.interp(start, places, paid)
            by_span = (np.where(finite, earned, 0.0) @ self.holds.T) * (self.gain / self.span_length)
        else:
            place = self.found_at(when, self.needed)
            there = place <= paying.budget + _ROUNDING
            stretch = stretch_of(np.where(there, place, 0.0), paying.enough)
            read = np.where(when < paying.budget, self.length, 0.0) @ self.holds.T
            paid_for = np.where(there, discount(stretch, paying.enough, paying.L), 0.0)
            by_span = self.gain * np.maximum(paid_for, _PROGRESS * np.minimum(read / self.needed, 1.0))
        total: Floats = self.by_fact(by_span).sum(axis=1)
        return total
