"""The upper bound of ndcg_evidence, and the judged share of what is read."""

from dataclasses import replace
from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.measures import parse_measure, upper_of
from tests.measures.build import chunk, grid, query, ranking, score, span, value
from tests.measures.test_text import cases

A, B, C = grid("d", 10, 3)


def upper(ranked, judged, least, budget=30, chunks=(A, B, C), enough=10, L=10):
    name = f"ndcg_evidence_upper(enough={enough},L={L},least={least})@{budget}"
    return value(name, ranked, judged, list({*chunks, *ranked}))


def test_by_hand():
    # A is judged, of grade 1; B is not. A label of 10 in B is found at place 15, in stretch 2. Of grade 4 it
    # would raise the ideal by more than it earns; of grade 1 it makes the ranking perfect.
    judged = [span("q", "d", 0, 10, 1)]
    assert value("ndcg_evidence(enough=10,L=10)@30", [A, B], judged, [A, B, C]) == 1.0
    assert upper([A, B], judged, 10) == 1.0
    # the other way round: B is judged and is read second, after A, which is not: both of grade 1 or more
    judged = [span("q", "d", 10, 20, 2), span("q", "d", 20, 30, 0)]
    found = value("ndcg_evidence(enough=10,L=10)@30", [C, B], judged, [A, B, C])
    assert upper([C, B], judged, 10) == pytest.approx(found)  # all of what is read is judged
    # A may hold an evidence of grade 2, found at place 5: 3 / log2(2) + 3 / log2(3) over the same
    assert upper([A, B], judged, 10) == pytest.approx(1.0)
    # no label of more than 10 fits into A, which is a hole of 10
    assert upper([A, B], judged, 11) == pytest.approx(
        value("ndcg_evidence(enough=10,L=10)@30", [A, B], judged, [A, B, C])
    )


def test_a_judgment_that_failed_may_get_any_grade():
    judged = [span("q", "d", 10, 20, 1), span("q", "d", 0, 10, None)]
    assert value("ndcg_evidence(enough=10,L=10)@30", [A, B], judged, [A, B, C]) < 1
    assert upper([A, B], judged, 11) == 1.0


def test_a_short_document_can_be_relevant_as_a_whole():
    short = chunk("e", 0, 4)
    judged = [span("q", "d", 0, 10, 1)]
    # of grade 4, and A behind it: 15 + 1 / log2(3) over the same
    assert upper([short, A], judged, 50, chunks=(A, short)) == 1.0
    assert value("judged_text@7", [short, A], judged, [A, short]) == pytest.approx(3 / 7)
    assert np.isnan(value("judged_text@7", [], judged, [A, short]))


@given(cases(), st.integers(1, 40), st.integers(1, 12), st.integers(1, 9), st.integers(1, 6))
def test_it_is_the_value_where_nothing_is_unjudged_and_never_below_it(case, budget, enough, L, least):
    judged, chunks, ranked = case
    params = f"enough={enough},L={L}"
    names = [f"ndcg_evidence({params})@{budget}", f"ndcg_evidence_upper({params},least={least})@{budget}"]
    measures = [parse_measure(name) for name in names]
    plain, bound = score([ranking("q1", *ranked)], [query("q1")], judged, chunks, measures).values[0]
    if np.isnan(plain):
        return
    assert plain - 1e-12 <= bound <= 1
    everywhere = [span("q1", doc, 200, 201, 0) for doc in "abc"]
    gaps = [span("q1", c.doc_id, start, end, 0) for c in chunks for start, end in c.spans]
    taken = {(j.doc_id, j.start, j.end) for j in judged if j.query_id == "q1"}
    closed = [*judged, *everywhere, *(j for j in gaps if (j.doc_id, j.start, j.end) not in taken)]
    again = score(
        [ranking("q1", *ranked)], [query("q1")], list(dict.fromkeys(closed)), chunks, measures
    ).values[0]
    # chunks that show only a part of a document leave other parts open, which nobody reads
    assert again[1] == pytest.approx(again[0], abs=1e-12)


def labellings(free, least):
    """Every set of disjoint spans of ``least`` or more characters within runs of ``free`` characters."""
    if not free:
        yield ()
        return
    first = free[0]
    yield from labellings(free[1:], least)
    end = first
    while end in free:
        end += 1
        if end - first >= least:
            for rest in labellings([at for at in free if at >= end], least):
                yield ((first, end), *rest)


@st.composite
def small(draw):
    """A document of eight characters, in chunks that may overlap, some of it judged."""
    cuts = sorted({0, 8, *draw(st.sets(st.integers(1, 7), max_size=3))})
    more = draw(st.integers(0, 2))
    pieces = [chunk("d", a, min(b + more, 8)) for a, b in pairwise(cuts)]
    ranked = draw(st.permutations(pieces))
    judged = {}
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, 7))
        judged[start, draw(st.integers(start + 1, 8))] = draw(st.integers(0, 3))
    spans = [span("q", "d", *at, grade) for at, grade in judged.items()]
    return spans, list(dict.fromkeys(pieces)), list(dict.fromkeys(ranked))


@given(small(), st.integers(1, 4), st.integers(1, 3), st.integers(2, 9), st.integers(1, 4), st.data())
def test_no_labels_in_unjudged_text_exceed_it(case, least, enough, budget, L, data):
    judged, chunks, ranked = case
    assume(any(j.grade for j in judged))
    known = {at for j in judged for at in range(j.start, j.end)}
    free = [at for at in range(8) if at not in known]
    bound = upper(ranked, judged, least, budget, chunks, enough, L)
    plain = parse_measure(f"ndcg_evidence(enough={enough},L={L})@{budget}")
    labelled = []
    for spans in labellings(free, least):
        every = list(product((1, 2, 4), repeat=len(spans)))
        for grades in every if len(every) < 10 else data.draw(st.lists(st.sampled_from(every), max_size=6)):
            new = [span("q", "d", *at, grade) for at, grade in zip(spans, grades, strict=True)]
            labelled.append([*judged, *new])
    # a query for each way to label, as scoring them one by one takes long
    ways = [[replace(label, query_id=f"q{i}") for label in labels] for i, labels in enumerate(labelled)]
    ids = [f"q{i}" for i in range(len(ways))]
    rankings = [ranking(name, *ranked) for name in ids]
    table = score(rankings, [query(name) for name in ids], list(chain(*ways)), chunks, [plain])
    assert (table.values[:, 0] <= bound + 1e-9).all()


def test_tokens():
    judged = [span("q", "d", 10, 20, 2)]
    edges = {"d": [0, 5, 10, 15, 20, 25, 30]}
    names = ["ndcg_evidence_tokens(enough=2,L=2)@6", "ndcg_evidence_tokens_upper(enough=2,L=2,least=2)@6"]
    plain, bound = (
        value(name, [A, B], judged, [A, B, C], token_boundaries=edges.__getitem__) for name in names
    )
    assert plain == pytest.approx(1 / np.log2(3))
    assert bound == 1.0
    share = value("judged_text_tokens@3", [A, B], judged, [A, B, C], token_boundaries=edges.__getitem__)
    assert share == pytest.approx(1 / 3)


def test_the_bound_of_a_measure_has_its_cutoff_and_parameters():
    scored = [
        "ndcg_evidence_upper@500",
        "ndcg_evidence_upper(enough=50)@5000",
        "ndcg_evidence_upper(least=1)@5000",
    ]
    assert upper_of("ndcg_evidence@5000", scored) == scored[2]
    assert upper_of("ndcg_evidence(enough=50)@5000", scored) == scored[1]
    assert upper_of("ndcg_evidence_tokens@5000", scored) == ""
    assert upper_of("ndcg_exp@10", ["judged@10", "ndcg_exp_upper@10"]) == "ndcg_exp_upper@10"
