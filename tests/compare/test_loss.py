"""The levels of the waterfall: greed never falls below what was achieved, and the parser's part is exact."""

import tracemalloc
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import waterfall
from harness.corpus import Anchoring, AnchorResult, LabelRow
from harness.measures import score
from harness.pipeline.chunks import Chunking
from harness.pipeline.loss import loss_levels, lost_evidence
from harness.pipeline.search import Searched
from harness.types import Chunk, Judgment, Query, Ranking

QUERY = Query("q", "?", "train")
LENGTH = 3_000


def chunk(start, end, doc="d"):
    return Chunk(f"{doc}:{start}-{end}", doc, start, end, "")


def ranking(chunks, query="q"):
    return Ranking(query, tuple(c.chunk_id for c in chunks), tuple(-float(i) for i in range(len(chunks))))


def searched(chunks, retrieved, reranked=None):
    rankings = {"retrieve": [ranking(retrieved)]}
    if reranked is not None:
        rankings["rerank"] = [ranking(reranked)]
    return Searched(None, Chunking(tuple(chunks), "key", {}), rankings, {})


def text_ndcg(order, chunks, judgments, budget):
    return score([ranking(order)], [QUERY], judgments, chunks, [f"ndcg_text@{budget}"]).values[0, 0]


@st.composite
def cases(draw):
    size = draw(st.sampled_from([150, 400, 1000]))
    overlap = draw(st.sampled_from([0, 50]))
    chunks = [chunk(at, min(at + size, LENGTH)) for at in range(0, LENGTH, size - overlap)]
    spans = {}
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, LENGTH - 500))
        end = start + draw(st.integers(20, 500))
        spans[start, end] = (draw(st.integers(0, 4)), draw(st.sampled_from(["", "", "x"])))
    judgments = [Judgment("q", "d", *at, grade, evidence) for at, (grade, evidence) in spans.items()]
    retrieved = draw(st.permutations(chunks))[: draw(st.integers(1, 6))]
    return (
        chunks,
        judgments,
        retrieved,
        draw(st.permutations(retrieved)),
        draw(st.sampled_from([800, 10_000])),
    )


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(0, 2))
def test_every_level_is_at_most_the_one_before(case, n_lost):
    chunks, judgments, retrieved, reranked, budget = case
    lost = [Judgment("q", "\0lost", 400 * i, 400 * i + 300, 3) for i in range(n_lost)]
    levels = loss_levels(
        searched(chunks, retrieved, reranked), [QUERY], judgments, lost, f"ndcg_text@{budget}"
    )
    if np.isnan(levels.parsed[0]):
        assert not any(j.grade for j in [*judgments, *lost])
        return
    fall = waterfall(levels)  # raises where a level but the last rises
    assert fall.final[0] == pytest.approx(text_ndcg(reranked, chunks, judgments + lost, budget))
    assert 1 - fall.losses.sum() == pytest.approx(fall.final[0], abs=1e-9)
    if not lost:
        assert levels.parsed[0] == 1


@settings(max_examples=15, deadline=None)
@given(cases())
def test_greed_comes_near_the_best_of_all_orders(case):
    chunks, judgments, retrieved, _, budget = case
    retrieved = retrieved[:4]
    if not any(j.grade for j in judgments):
        return
    found = loss_levels(
        searched(chunks, retrieved), [QUERY], judgments, measure=f"ndcg_text@{budget}"
    ).retrieved[0]
    best = max(text_ndcg(order, chunks, judgments, budget) for order in permutations(retrieved))
    assert best - 0.1 <= found <= best + 1e-9


def test_losses_of_chunking_retrieval_and_ranking_by_hand():
    # one span of 100 characters that fills its chunk: the best order of all chunks is perfect
    chunks = [chunk(at, at + 100) for at in range(0, 500, 100)]
    judged = [Judgment("q", "d", 200, 300, 2)]
    perfect = loss_levels(searched(chunks, [chunks[2], chunks[0]]), [QUERY], judged)
    assert perfect.chunked[0] == perfect.retrieved[0] == perfect.ranked[0] == pytest.approx(1)
    missed = loss_levels(searched(chunks, [chunks[0]]), [QUERY], judged)
    assert (missed.chunked[0], missed.retrieved[0]) == (pytest.approx(1), 0)
    late = loss_levels(searched(chunks, [chunks[0], chunks[2]]), [QUERY], judged)
    assert late.retrieved[0] == pytest.approx(1)
    assert 0 < late.ranked[0] < 1
    padded = loss_levels(searched([chunk(0, 500)], [chunk(0, 500)]), [QUERY], judged)
    assert 0 < padded.chunked[0] < 1
    assert padded.chunked[0] == padded.ranked[0]


def test_lost_evidence_is_charged_to_the_parser():
    chunks = [chunk(at, at + 100) for at in range(0, 300, 100)]
    judged = [Judgment("q", "d", 0, 100, 1)]
    lost = [Judgment("q", "\0lost", 0, 100, 1)]
    levels = loss_levels(searched(chunks, chunks[:1]), [QUERY], judged, lost)
    # two alike: the ideal reads one after the other, and a little of the discount falls on the second
    assert levels.parsed[0] == pytest.approx(levels.ranked[0])
    assert 0.5 < levels.parsed[0] < 0.55
    everything = loss_levels(searched(chunks, chunks[:1]), [QUERY], [], lost)
    assert everything.parsed[0] == 0
    copy = loss_levels(
        searched(chunks, chunks[:1]),
        [QUERY],
        [Judgment("q", "d", 0, 100, 1, "fact")],
        [Judgment("q", "\0lost", 0, 100, 1, "fact")],
    )
    assert copy.parsed[0] == 1


def test_a_query_without_evidence_and_one_without_ranking():
    other = Query("other", "?", "train")
    chunks = [chunk(0, 100)]
    levels = loss_levels(
        searched(chunks, chunks), [QUERY, other, Query("none", "?", "train")],
        [Judgment("q", "d", 0, 100, 1), Judgment("other", "d", 0, 100, 1)],
    )  # fmt: skip
    assert levels.ranked[:2].tolist() == [pytest.approx(1), 0]
    assert levels.retrieved[1] == 0
    assert levels.chunked[1] == pytest.approx(1)
    assert np.isnan(levels.parsed[2])


def row(line, **fields):
    return LabelRow(line, "q", "d", 2, **fields)


def test_labels_that_did_not_land_are_lost_with_their_length():
    def anchoring(line, accepted):
        return Anchoring(line, "q", "d", 1, "fuzzy", 50.0, 0, 9, "", "", 1, accepted)

    labels = [row(2, quote="found"), row(3, quote=" not found "), row(4, page=3), row(5, start=10, end=60)]
    anchored = AnchorResult((), (anchoring(2, True), anchoring(3, False)), (labels[2], labels[3]))
    found = lost_evidence(labels, anchored)
    assert [j.end - j.start for j in found] == [len("not found"), 1000, 50]
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert {j.grade for j in found} == {2}


def shared_span(count):
    """So many queries on one span, every third of which has lost some evidence."""
    chunks = [chunk(at, at + 300) for at in range(0, LENGTH, 250)]
    queries = [Query(f"q{i}", "?", "train") for i in range(count)]
    judgments = [Judgment(query.query_id, "d", 500, 900, 3) for query in queries]
    lost = [Judgment(f"q{i}", "\0lost", 400 * i, 400 * i + 100, 1 + i % 4) for i in range(0, count, 3)]
    rankings = {"retrieve": [ranking(chunks[i % 5 : i % 5 + 4], f"q{i}") for i in range(count)]}
    return Searched(None, Chunking(tuple(chunks), "key", {}), rankings, {}), queries, judgments, lost


def peak(count):
    case = shared_span(count)
    tracemalloc.start()
    loss_levels(*case)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_memory_grows_with_the_queries_on_one_span_and_not_with_their_pairs():
    peak(10)  # what is imported and cached on the way
    assert peak(900) < 6 * peak(300), "three times the queries: three times the memory, not nine"


def test_queries_that_share_a_span_are_scored_as_each_alone():
    one, queries, judgments, lost = shared_span(9)
    together = loss_levels(one, queries, judgments, lost)
    for i, query in enumerate(queries):
        own = {"retrieve": [one.rankings["retrieve"][i]]}
        alone = loss_levels(
            Searched(None, one.chunking, own, {}),
            [query],
            [row for row in judgments if row.query_id == query.query_id],
            [row for row in lost if row.query_id == query.query_id],
        )
        for level in ("parsed", "chunked", "retrieved", "ranked"):
            assert getattr(together, level)[i] == pytest.approx(getattr(alone, level)[0], abs=1e-15)
    assert together.parsed[1] == 1 > together.parsed[0]
