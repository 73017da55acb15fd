"""NDCG over evidence found while reading, its gain discounted where it was read; what judging could add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from harness.measures.qrels import SpanQrels, Spans
from harness.measures.ragged import (
    Floats,
    Ints,
    before,
    offsets_of,
    owners,
    place_in,
    positions,
    share_of,
    sorted_descending,
)
from harness.measures.ranked import gain_exp
from harness.measures.trail import Trail, elementary, read
from harness.values import MAX_GRADE

HALF = 0.5
# Places in tokens are sums of fractions; a value within this of a whole number counts as whole.
ROUNDING = 1e-9


def ndcg_evidence(trail: Trail, budget: int, enough: int, L: int) -> Floats:
    """Discounted gain of the evidence found within ``budget``, over that of the best possible reading.

    The ranking is read as one text. A span is *found* at the place where half of it, or ``enough`` units of
    it, have been read, over all chunks so far; where its label names the part that answers, at the place
    where all of that has been read. Its evidence then earns ``2^g - 1``, once; a copy of a higher grade that
    is found later earns the difference. The text is counted in stretches of ``enough`` units:
    what is found in stretch r (1, 2, …) is discounted by ``1 / log2(2 + (r - 1) * enough / L)``. A stretch
    pays for one evidence; what else is found in it waits for the next free one, the greatest gain first. The
    ideal has the evidence in order of gain, one a stretch, so it is the same under every chunking. In
    [0, 1]; 0 if nothing is relevant.

    Bounded by 1: each stretch holds one gain at most, the j largest gains earned never exceed the j greatest
    evidences, and the discount falls.

    In the family of the S-measure (Sakai, Kato and Song, CIKM 2011), which discounts pieces of information by
    the place in the text where they have been read, with the discount of NDCG; at ``L = enough``, and for
    chunks of that length that each hold one evidence, it is NDCG with ranks. ``budget``, ``enough`` and ``L``
    are in the trail's unit (characters or tokens).
    """
    return gain_by_place(*_read_places(trail, enough), budget, enough, L)


def _read_places(trail: Trail, enough: int) -> tuple[Trail, Floats]:
    """The rankings read for the answers where spans name one, and the place where each span is found."""
    spans, answer = trail.spans, trail.spans.answer
    if answer is None:
        return trail, places(trail, np.minimum(HALF * trail.length, enough))
    named = answer[:, 0] >= 0
    start, end = np.where(named, answer.T, [spans.start, spans.end])
    spans = replace(spans, start=start, end=end)
    trail = read(trail.item_chunk, trail.offsets, spans, trail.chunks, trail.unit)
    needed = np.where(named, trail.length, np.minimum(HALF * trail.length, enough))
    return trail, places(trail, needed)


def places(trail: Trail, needed: Floats) -> Floats:
    """How much of the trail has been read when ``needed`` units of each span have; infinite if never.

    In whole units: half of three characters has been read with the second one.
    """
    span, begin, length, had = _reads_in_order(trail)
    enough = np.flatnonzero(had + length >= needed[span] - ROUNDING)
    reached, first = np.unique(span[enough], return_index=True)
    place = np.full(len(trail.spans), np.inf)
    place[reached] = np.ceil((begin + needed[span] - had)[enough[first]] - ROUNDING)
    return place


def _reads_in_order(trail: Trail) -> tuple[Ints, Floats, Floats, Floats]:
    """The reads of each span as they come: the span, where each begins, its length, what was read before."""
    order = np.lexsort((trail.read_at, trail.read_span))
    span, begin = trail.read_span[order], trail.read_at[order]
    length = trail.read_until[order] - begin
    return span, begin, length, before(length, offsets_of(np.bincount(span, minlength=len(trail.spans))))


def gain_by_place(trail: Trail, place: Floats, budget: int, enough: int, L: int) -> Floats:
    """``ndcg_evidence`` where each span [S] is found at its ``place`` on the trail; infinite means never."""
    evidence, place, grade, earlier = read_within(trail, place, budget)
    gain = gain_exp(grade) - gain_exp(earlier)
    owner = trail.spans.evidence_grades()[0]
    last = -(-budget // enough)
    stretch = _one_a_stretch(stretch_of(place, enough), gain, owner[evidence])
    paid = np.where(stretch < last, gain * discount(stretch, enough, L), 0.0)
    earned = np.bincount(owner[evidence], paid, minlength=trail.n_queries)
    best = ideal_gain(trail, budget, enough, L)
    return share_of(earned, best)


def stretch_of(place: Floats, enough: int) -> Ints:
    """The 0-based stretch of ``enough`` units that each place ends in."""
    return np.maximum(np.ceil(place / enough - ROUNDING), 1).astype(np.int64) - 1


def discount(stretch: Ints, enough: int, L: int) -> Floats:
    """What a gain in each 0-based stretch is multiplied by."""
    value: Floats = 1.0 / np.log2(2.0 + stretch * (enough / L))
    return value


def read_within(trail: Trail, place: Floats, budget: int) -> tuple[Ints, Floats, Ints, Ints]:
    """Evidence found within the budget: (evidence, place, grade, the grade that was found of it before)."""
    spans = np.flatnonzero(place <= budget + ROUNDING)
    evidence, grade = trail.spans.evidence[spans], trail.spans.grade[spans]
    order = np.lexsort((-grade, place[spans], evidence))
    spans, evidence, grade = spans[order], evidence[order], grade[order]
    # a running maximum within each evidence: those of later evidence are above all of earlier ones
    step = int(grade.max(initial=0)) + 1
    highest = np.maximum.accumulate(evidence * step + grade)
    earlier = np.maximum(np.concatenate([[0], highest[:-1]]) - evidence * step, 0)
    better = grade > earlier
    return evidence[better], place[spans][better], grade[better], earlier[better]


def _one_a_stretch(wanted: Ints, gain: Floats, owner: Ints) -> Ints:
    """The stretch of each: the first free one from the ``wanted`` on, the greatest gain choosing first.

    No other way to give each a stretch of its own, none before the wanted one, earns more.
    """
    stretch = wanted.copy()
    order = np.lexsort((wanted, -gain, owner))
    _, pair, times = np.unique(np.stack([owner, wanted]), axis=1, return_inverse=True, return_counts=True)
    crowded = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.bool_)
    # numpy 2.0.0 gives the places of pairs a second axis
    crowded[owner[times[pair.ravel()] > 1]] = True
    occupied: set[tuple[int, int]] = set()
    for row in order[crowded[owner[order]]].tolist():
        query, free = int(owner[row]), int(wanted[row])
        while (query, free) in occupied:
            free += 1
        occupied.add((query, free))
        stretch[row] = free
    return stretch


def ideal_gain(trail: Trail, budget: int, enough: int, L: int) -> Floats:
    """The gain of the best reading of every query, [Q]: each evidence by its best copy, one a stretch."""
    owner, best = trail.spans.evidence_grades()
    present = owner >= 0
    grade, offsets = sorted_descending(best[present], owner[present], trail.n_queries)
    stretch = positions(offsets)
    paid = np.where(stretch < -(-budget // enough), gain_exp(grade) * discount(stretch, enough, L), 0.0)
    return np.bincount(owners(offsets), paid, minlength=trail.n_queries).astype(np.float64)


def judged_text(trail: Trail, budget: int) -> Floats:
    """The share of the text read within the ``budget`` that is judged; text read again counts once.

    Text of a judgment that failed is not judged. NaN if nothing was read.
    """
    pairs = _ranked_pairs(trail)
    everything = np.zeros(len(pairs[0]), dtype=np.int64), document_ends(trail)[pairs[1]]
    all_read = _read_within(reading(trail, *pairs, *everything), budget)
    unjudged = _read_within(holes(trail), budget)
    return share_of(all_read - unjudged, all_read, empty=np.nan)


def holes(trail: Trail) -> Trail:
    """The same rankings read for the unjudged text of the documents that they show.

    Its spans are the longest stretches that no judgment with a grade touches, one evidence each.
    """
    query, doc = _ranked_pairs(trail)
    spans, n_docs = trail.judged, len(trail.chunks.doc_ids)
    there = place_in(spans.doc_ids, trail.chunks.doc_ids, n_docs)[spans.doc]
    group, judged = query * n_docs + doc, spans.query * n_docs + there
    is_shown = np.isin(judged, group) & (there < n_docs)
    # the documents first, then what is judged of them
    start = np.concatenate([np.zeros_like(group), spans.start[is_shown]])
    end = np.concatenate([document_ends(trail)[doc], spans.end[is_shown]])
    of, segment, owner, begin, until = elementary(np.concatenate([group, judged[is_shown]]), start, end)
    hole = np.setdiff1d(segment[of < len(group)], segment[of >= len(group)])
    query, doc = np.divmod(owner[hole], max(n_docs, 1))
    return reading(trail, query, doc, begin[hole], until[hole])


def reading(trail: Trail, query: Ints, doc: Ints, start: Ints, end: Ints) -> Trail:
    """The same rankings read for other spans, one evidence each.

    ``doc`` numbers the documents of the chunks. Spans without any length in the trail's unit are left out.
    """
    doc_ids = trail.chunks.doc_ids
    begin, until = (trail.unit.positions(doc_ids, doc, at) for at in (start, end))
    some = until > begin
    query, doc, start, end = query[some], doc[some], start[some], end[some]
    nothing = np.zeros(0, dtype=np.int64)
    spans = SpanQrels(
        doc_ids,
        query,
        doc,
        start,
        end,
        trail.judged.query_ids,
        np.ones(len(query), dtype=np.int64),
        np.arange(len(query)),
        Spans(doc_ids, nothing, nothing, nothing, nothing),
    )
    return read(trail.item_chunk, trail.offsets, spans, trail.chunks, trail.unit)


def _ranked_pairs(trail: Trail) -> tuple[Ints, Ints]:
    """Every query and document of which it ranks a chunk."""
    n_docs = max(len(trail.chunks.doc_ids), 1)
    pairs = np.unique(owners(trail.offsets) * n_docs + trail.chunks.doc[trail.item_chunk])
    return pairs // n_docs, pairs % n_docs


def document_ends(trail: Trail) -> Ints:
    """Where the last chunk of each document ends."""
    chunks = trail.chunks
    ends = np.zeros(len(chunks.doc_ids), dtype=np.int64)
    np.maximum.at(ends, chunks.doc[chunks.part_chunk], chunks.part_end)
    return ends


def _read_within(trail: Trail, budget: int) -> Floats:
    """How much of the spans each query reads within the budget: [Q]."""
    length = np.minimum(trail.read_until, budget) - np.minimum(trail.read_at, budget)
    query = trail.spans.query[trail.read_span]
    return np.bincount(query, length, minlength=trail.n_queries).astype(np.float64)


def ndcg_evidence_upper(
    trail: Trail, budget: int, enough: int, L: int, least: int, max_grade: int = MAX_GRADE
) -> Floats:
    """The highest ``ndcg_evidence`` over all ways to label the unjudged text, [Q]; never below it, at most 1.

    The labels may be any set of spans of grade 0 to ``max_grade`` that are disjoint, lie in text of which no
    grade is known (a document ends with its last chunk), and have ``least`` units or more, or are a whole
    document; each is its own evidence and names no answer. A judgment that failed may get any grade as it
    stands. ``least=1`` allows for every label there can be. The other arguments: see ``ndcg_evidence``.

    Derivation. (1) A label of length n is found once ``min(n / 2, enough)`` of it has been read, so of a hole
    (a stretch of unjudged text, h units long) i disjoint labels are found only after i times ``needed =
    min(least / 2, enough)`` of it have been read, and i is at most ``h / least``. This gives a list of places
    r_1 <= r_2 <= … such that under every labelling the i-th new evidence is found no sooner than r_i. What is
    judged is found where it was. (2) The gain earned is an integral over thresholds x: of the evidence that
    gains x or more, placed one a stretch, the sum of the discounts D. D depends on which stretches get taken,
    not on the order, grows with each evidence and falls where one is found later. So with m new ones above x
    it is largest if they are found at r_1 … r_m. The ideal is the same integral of C, the sum of the first so
    many discounts. (3) Both are sums over the grades 1 to ``max_grade`` of a function of m alone, so
    for a guess t of the maximum ``earned - t * ideal`` splits into one small search per grade, and raising t
    to the ratio found until it stands still (Dinkelbach, Management Science 1967) ends at the maximum. That
    the m of the grades are nested is not asked for, which can only raise the value.
    """
    offsets, new = _releases(trail, budget, enough, least)
    evidence, place, grade, earlier = read_within(*_read_places(trail, enough), budget)
    owner, best = trail.spans.evidence_grades()
    finder, stretch, gain = owner[evidence], stretch_of(place, enough), gain_exp(grade) - gain_exp(earlier)
    last = -(-budget // enough)
    pay = discount(np.arange(last), enough, L)
    levels = gain_exp(np.arange(max_grade + 1))
    values = np.zeros(trail.n_queries)
    for query in range(trail.n_queries):
        of_query, soonest = finder == query, new[offsets[query] : offsets[query + 1]].tolist()
        judged = list(zip(stretch[of_query].tolist(), gain[of_query].tolist(), strict=True))
        best_gains = gain_exp(best[owner == query])
        values[query] = _highest(judged, best_gains, soonest[:last], pay, levels)
    return values


def _releases(trail: Trail, budget: int, enough: int, least: int) -> tuple[Ints, Ints]:
    """Offsets, and the stretches in which new evidence can be found at the soonest, in order, query by query.

    They are those of step (1) of the derivation, and of judgments that failed.
    """
    open_text, unscored = holes(trail), trail.judged.unscored
    doc = place_in(unscored.doc_ids, trail.chunks.doc_ids)[unscored.doc]
    kept, doc = unscored.take(doc >= 0), doc[doc >= 0]
    failed = reading(trail, kept.query, doc, kept.start, kept.end)
    spans, length = open_text.spans, open_text.length
    whole = (spans.start == 0) & (spans.end == document_ends(trail)[spans.doc])
    most = np.floor(length / least + ROUNDING)
    most = np.where(whole, np.maximum(most, 1), most)
    needed = np.minimum(HALF * np.minimum(length, least), enough)
    span, place = _in_holes(open_text, most, needed, budget)
    again = places(failed, np.minimum(HALF * failed.length, enough))
    query = np.concatenate([spans.query[span], failed.spans.query])
    place = np.concatenate([place, again])
    inside = place <= budget + ROUNDING
    query, stretch = query[inside], stretch_of(place[inside], enough)
    order = np.lexsort((stretch, query))
    return offsets_of(np.bincount(query, minlength=trail.n_queries)), stretch[order]


def _in_holes(trail: Trail, most: Floats, needed: Floats, budget: int) -> tuple[Ints, Floats]:
    """For each hole the places at which once, twice, … ``needed`` of it have been read: (hole, place)."""
    span, begin, length, had = _reads_in_order(trail)
    inside = begin < budget
    span, begin, length, had = span[inside], begin[inside], length[inside], had[inside]
    first = np.minimum(np.floor(had / needed[span] + ROUNDING), most[span])
    upto = np.minimum(np.floor((had + length) / needed[span] + ROUNDING), most[span])
    counts = (upto - first).astype(np.int64)
    offsets = offsets_of(counts)
    each = owners(offsets)
    nth = first[each] + 1 + positions(offsets)
    place = begin[each] + nth * needed[span[each]] - had[each]
    return span[each], np.ceil(place - ROUNDING)


def _highest(
    judged: list[tuple[int, float]], all_gains: Floats, new: list[int], pay: Floats, levels: Floats
) -> float:
    """Steps (2) and (3) of the derivation for one query."""
    sums = np.concatenate([[0.0], np.cumsum(pay)])
    # by grade, with 0, 1, … new ones that reach it; what is above the highest grade is as it is
    brought, cost = np.zeros((2, len(levels), len(new) + 1))
    paid: dict[tuple[int, ...], Floats] = {}
    for at, (low, high) in enumerate(zip(levels, [*levels[1:], np.inf], strict=True)):
        may_add = new if np.isfinite(high) else []
        for step, above in _steps(low, high, [*(gain for _, gain in judged), *all_gains.tolist()]):
            occupied = tuple(stretch for stretch, gain in judged if gain >= above)
            count = int(np.sum(all_gains >= above)) + np.arange(len(new) + 1)
            # most steps take what the step before them took
            if occupied not in paid:
                paid[occupied] = _paid(occupied, new, pay)
            brought[at] += step * (paid[occupied] if may_add else paid[occupied][0])
            cost[at] += step * sums[np.minimum(count if may_add else count[0], len(pay))]
    rows, ratio = np.arange(len(levels)), 0.0
    while True:
        pick = np.argmax(brought - ratio * cost, axis=1)
        best = float(cost[rows, pick].sum())
        higher = float(brought[rows, pick].sum()) / best if best > 0 else 0.0
        if higher <= ratio + 1e-15:
            return min(ratio, 1.0)
        ratio = higher


def _steps(low: float, high: float, gains: list[float]) -> Iterator[tuple[float, float]]:
    """The thresholds from ``low`` to ``high`` as (how many, the gain that reaches them)."""
    edges = sorted({gain for gain in gains if low < gain < high} | ({high} if np.isfinite(high) else set()))
    for edge in edges:
        yield edge - low, edge
        low = edge


def _paid(occupied: Sequence[int], new: list[int], pay: Floats) -> Floats:
    """The sum of the discounts of those ``occupied`` and the first 0, 1, … of the ``new``, one a stretch."""
    used: set[int] = set()
    total, sums = 0.0, []
    for at, stretch in enumerate([*occupied, *new]):
        if at >= len(occupied):
            sums.append(total)
        while stretch in used:
            stretch += 1
        if stretch < len(pay):
            used.add(stretch)
            total += float(pay[stretch])
    return np.array([*sums, total])
