"""Small to search, large to read: what is scored, shown and paid for is what is read."""

import json

import numpy as np
import pytest

from harness.steps import READERS, AlterationConfig, RecursiveConfig
from harness.steps.search.read.parent import _parent
from harness.values import Chunk
from tests.command import bench, table
from tests.search.helpers import rerank_lists, searched
from tests.search.test_context import Library, chunk_at

PARENT = "{kind: parent, chunk: {kind: recursive, chunk_size: 400}}"


class Larger(Library):
    """A document cut in halves."""

    def chunks(self, config):
        documents = self.documents.values()
        halves = ((d, len(d.text) // 2) for d in documents)
        return [Chunk.of(d, *span) for d, half in halves for span in ((0, half), (half, len(d.text)))]


LEAST = {"parent": {"chunk": RecursiveConfig()}}


SPANS = [kind for kind in READERS if not issubclass(READERS[kind].config, AlterationConfig)]


@pytest.mark.parametrize("kind", SPANS)
def test_every_kind_reads_a_span_of_the_document_that_overlaps_the_chunk(kind):
    chunks = [chunk_at("Rain fell", "note"), chunk_at("Three ships call."), chunk_at("Forty people")]
    config = READERS[kind].config(**LEAST.get(kind, {}))
    found = READERS.make(config).run(chunks, Larger())
    for chunk, (start, end) in zip(chunks, found, strict=True):
        assert 0 <= start < chunk.end
        assert chunk.start < end <= len(Library.documents[chunk.doc_id].text)
    assert READERS.make(config).run(chunks[::-1], Larger()) == found[::-1]
    assert READERS.make(config).run([], Larger()) == []
    assert json.loads(json.dumps(config.model_dump(mode="json")))["kind"] == kind


def test_a_window_is_clipped_to_the_document():
    document = Library.documents["yard-guide_2024"]
    chunks = [
        chunk_at(text) for text in ("# The yard", "A crane failed in March.", "Forty people work there.")
    ]
    read = READERS.make(READERS["window"].config(amount=1)).run(chunks, Library())
    texts = [document.text[start:end] for start, end in read]
    assert texts[0].startswith("# The yard\n\nThe yard holds")
    assert texts[1] == "Three ships call. A crane failed in March. It took nine days."
    assert texts[2].endswith("\n\nForty people work there.")
    wide = READERS["window"].config(amount=10_000, unit="characters")
    assert READERS.make(wide).run(chunks, Library()) == [(0, len(document.text))] * 3


@pytest.mark.parametrize(
    ("chunk", "parents", "read"),
    [
        ((10, 20), [(0, 30), (30, 60)], (0, 30)),
        ((30, 40), [(0, 30), (30, 60)], (30, 60)),
        # it straddles a border: 4 characters against 6
        ((26, 36), [(0, 30), (30, 60)], (30, 60)),
        ((25, 35), [(0, 30), (30, 60)], (0, 30)),
        # parents overlap and both hold all of it: the first
        ((22, 28), [(0, 30), (20, 50)], (0, 30)),
        # a small parent between does not hide the large one around it
        ((50, 60), [(0, 100), (10, 20)], (0, 100)),
        ((50, 60), [(0, 40), (70, 80)], (50, 60)),
        ((50, 60), [], (50, 60)),
    ],
)
def test_the_parent_is_the_one_that_holds_most_of_the_chunk(chunk, parents, read):
    reached = np.maximum.accumulate([end for _, end in parents]).tolist() if parents else []
    assert _parent(chunk, parents, reached) == read


# --- in a run ---


SMALL = "{kind: recursive, chunk_size: 90}"


def test_rankings_are_of_what_is_read_and_rerankers_read_what_was_searched(write_config):
    path = write_config(chunk=SMALL, more=f"read: [null, {PARENT}, {{kind: window, amount: 1}}]")
    (plain, parent, window), corpus, _ = searched(path)
    assert [one.setting.name for one in (plain, parent, window)] == ["read=none", "parent", "window"]
    assert plain.over_chunks is None
    text = {document.doc_id: document.text for document in corpus.documents}
    for one in (parent, window):
        assert one.over_chunks.rankings == plain.rankings
        read = {span.chunk_id: span for span in one.chunking.chunks}
        small = {chunk.chunk_id: chunk for chunk in plain.chunking.chunks}
        assert all(span.text == text[span.doc_id][span.start : span.end] for span in read.values())
        for step, rankings in one.rankings.items():
            for large, found in zip(rankings, plain.rankings[step], strict=True):
                assert 0 < len(large.chunk_ids) <= len(found.chunk_ids)
                best, first = read[large.chunk_ids[0]], small[found.chunk_ids[0]]
                assert best.start <= first.start
                assert first.end <= best.end
                assert large.scores[0] == found.scores[0]
        lists = rerank_lists(one.over_chunks, 0, corpus.queries.queries)
        assert lists == rerank_lists(plain, 0, corpus.queries.queries)
    assert len(parent.chunking.chunks) < len(plain.chunking.chunks)
    assert len({one.chunking.key for one in (plain, parent, window)}) == 3


def test_a_span_is_read_once_where_the_first_of_its_chunks_is_ranked(write_config):
    (one,), *_ = searched(write_config(chunk=SMALL, more=f"read: {PARENT}"))
    small = {chunk.chunk_id: chunk for chunk in one.over_chunks.chunking.chunks}
    large = {span.chunk_id: span for span in one.chunking.chunks}
    assert list(large.values()) == sorted(large.values(), key=lambda c: (c.doc_id, c.start, c.end))
    assert len(one.chunking.tokens) == len(large)
    for step, rankings in one.rankings.items():
        for ranking, found in zip(rankings, one.over_chunks.rankings[step], strict=True):
            first = {}
            for chunk_id, score in zip(found.chunk_ids, found.scores, strict=True):
                first.setdefault(_rank(small[chunk_id], ranking, large), score)
            # all that was found is read, in its order, and nothing else
            assert list(first) == list(range(len(ranking.chunk_ids)))
            assert tuple(first.values()) == ranking.scores


def _rank(chunk, ranking, large):
    """The first rank at which text of a chunk is read."""
    return next(
        rank
        for rank, span in enumerate(large[span_id] for span_id in ranking.chunk_ids)
        if span.doc_id == chunk.doc_id and span.start < chunk.end and chunk.start < span.end
    )


def test_measures_tables_and_prices_are_of_what_is_read(write_config):
    path = write_config(
        chunk=SMALL,
        more=f"read: [null, {PARENT}]\nmeasures: [ndcg_exp@3, ndcg_text@900, tokens@3]",
    )
    results, folder = bench(path)
    plain, parent = "read=none", "parent"
    rows = {(r.setting, r.stage, r.measure): r.mean for r in results.summary if r.split == "all"}
    assert rows[parent, "rerank", "tokens@3"] > 2 * rows[plain, "rerank", "tokens@3"]
    assert rows[parent, "rerank", "ndcg_text@900"] != rows[plain, "rerank", "ndcg_text@900"]
    # both are cut otherwise, so the headline is one that can be compared
    assert results.verdict["measure"] == "ndcg_text@900"
    prices = [row for row in table(folder / "prices.csv") if row["measure"] == "ndcg_exp@3"]
    prices = {(row["setting"], row["stage"]): row for row in prices}
    for column in ("index_tokens", "rerank_pairs", "rerank_tokens"):
        assert prices[plain, "rerank"][column] == prices[parent, "rerank"][column] != "0"
    assert float(prices[parent, "rerank"]["tokens_read"]) == pytest.approx(rows[parent, "rerank", "tokens@3"])
    offsets = {
        f"{r['document']}:{r['start']}-{r['end']}"
        for r in table(folder / "chunk_offsets.csv")
        if r["setting"] == parent
    }
    assert {i for ranking in results.runs[parent, "retrieve"] for i in ranking.chunk_ids} <= offsets
    noted = results.record.counts["settings"]
    assert noted[parent]["read_spans"] == len(offsets) < noted[plain]["chunks"] == noted[parent]["chunks"]
    lost = table(folder / "waterfall.csv")
    lost = [row for row in lost if (row["setting"], row["step"]) == (parent, "rerank")]
    scored = [row for row in results.per_query if row.setting == parent and row.stage == "rerank"]
    value = {row.query_id: row.value for row in scored if row.measure == "ndcg_text@900"}
    assert len(lost) == 4
    assert all(float(row["left"]) == pytest.approx(value[row["query_id"]]) for row in lost)
