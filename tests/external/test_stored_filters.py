"""A filter over a collection of others: the rows of the documents that it leaves, to the full depth."""

import numpy as np
import pytest

from harness.running import load_config, run_bench
from harness.steps import RETRIEVERS, Passages, SearchDepth, StoredRow, StoreQueries
from harness.steps.search.retrieve.rows_of_part import PartOfRows
from harness.steps.search.retrieve.stored_as_is import _placed
from harness.values import HarnessError, Query, RecordingReporter, Silent
from tests.command import table, write_files
from tests.external.filled import Opensearch
from tests.external.stores_in_use import MODEL, by_name, warned

OpensearchConfig = RETRIEVERS["opensearch"].config

CONFIG = OpensearchConfig(url="http://localhost:1", collection="c", existing=True)


def rows_of(*texts):
    return [StoredRow(str(place), {"text": text}, None, -place) for place, text in enumerate(texts)]


def whole_of(*texts):
    return Passages(tuple(f"d{place}:0-1" for place, _ in enumerate(texts)), texts, (1,) * len(texts), "key")


class Store:
    """Ranks rows in their order, at most ``most`` of them; notes the depths it is asked for."""

    def __init__(self, rows, most=10_000):
        self.rows, self.most, self.depths = rows, most, []

    def __call__(self, queries, depth):
        self.depths.append((len(queries), depth))
        return [self.rows[: min(depth, self.most)] for _ in queries.texts]


def test_a_search_goes_deeper_until_it_has_enough_rows_of_the_part():
    texts = [f"text {place}" for place in range(100)]
    whole = whole_of(*texts)
    # 10 of 100, at the end: 3 are expected among the first 30
    part = PartOfRows.of(whole.part(range(90, 100), lambda key: "part"), CONFIG)
    store = Store(rows_of(*texts))
    hits, short = part.search(store, StoreQueries(["a", "b"]), 3, 100)
    assert [[row.key for row in rows] for rows in hits] == [["90", "91", "92"]] * 2
    assert (short, store.depths) == (0, [(2, 30), (2, 100)])
    # and of 10 rows no more than 10 are there
    assert len(part.search(store, StoreQueries(["a"]), 20, 100)[0][0]) == 10


def test_a_query_with_enough_rows_is_not_searched_again():
    texts = [f"text {place}" for place in range(100)]
    part = PartOfRows.of(whole_of(*texts).part(range(10), lambda key: "part"), CONFIG)
    store = Store(rows_of(*texts))
    assert [row.key for row in part.search(store, StoreQueries(["a"]), 3, 100)[0][0]] == ["0", "1", "2"]
    assert store.depths == [(1, 30)]


def test_queries_are_counted_for_which_the_store_stops_early():
    texts = [f"text {place}" for place in range(100)]
    part = PartOfRows.of(whole_of(*texts).part(range(90, 100), lambda key: "part"), CONFIG)
    queries = StoreQueries(["a", "b"], np.zeros((2, 4), dtype=np.float32))

    def near(queries, depth):
        return [rows_of(*[f"text {place}" for place in range(95)])[:depth] for _ in queries.vectors]

    hits, short = part.search(near, queries, 10, 100)
    # all rows were asked for: what the index does not reach is lost, whatever depth
    assert [len(rows) for rows in hits] == [5, 5]
    assert short == 0
    hits, short = part.search(Store(rows_of(*texts), most=20), StoreQueries(["a"]), 3, 100)
    assert (hits, short) == ([[]], 1)


def test_copies_outside_the_part_stand_for_no_more_than_those_in_it():
    texts = ("same", "same", "other", "same")
    part = PartOfRows.of(whole_of(*texts).part([1, 2], lambda key: "part"), CONFIG)
    hits, _ = part.search(Store(rows_of(*texts)), StoreQueries(["a"]), 4, 4)
    assert [row.key for row in hits[0]] == ["0", "2"]
    # a row that nobody has read is not hidden by the filter
    unknown = Store(rows_of("new", *texts))
    assert [row.key for row in part.search(unknown, StoreQueries(["a"]), 4, 5)[0][0]] == ["0", "1", "3"]


def test_a_row_of_a_document_that_is_left_out_is_none_of_one_with_the_same_text():
    whole = Passages(("alpha:0-4", "beta:0-4", "beta:5-9"), ("same", "same", "more"), (4, 4, 4), "key")
    part = PartOfRows.of(whole.part([1, 2], lambda key: f"part of {key}"), CONFIG)
    rows = [
        StoredRow(key, {"text": text, "source": f"docs/{name}.txt"}, None, -place)
        for place, (key, name, text) in enumerate(
            [("0", "alpha", "same"), ("1", "beta", "more"), ("2", "beta", "same")]
        )
    ]
    (found,), _ = part.search(Store(rows), StoreQueries(["query"]), 2, 3)
    assert [row.key for row in found] == ["1", "2"]


def test_rows_with_one_text_are_passages_of_their_own_documents():
    passages = Passages(("alpha:0-4", "beta:0-4", "r%2F9:0-4"), ("same",) * 3, (4, 4, 4), "key")
    rows = [
        StoredRow("1", {"text": "same", "source": "docs\\beta.pdf"}, None, 3.0),
        # of no document: its key is that of a passage
        StoredRow("r/9", {"text": "same"}, None, 2.0),
        StoredRow("2", {"text": "same", "source": "gone.txt"}, None, 1.0),
    ]
    depth = SearchDepth.of(CONFIG, passages.lengths)
    ranking = _placed(Query("q", "same", "train"), rows, {"same": [0, 1, 2]}, passages, depth, CONFIG)
    assert ranking.chunk_ids == ("beta:0-4", "r%2F9:0-4", "alpha:0-4")


@pytest.mark.parametrize("payload", [{"text": "new"}, {"words": "same"}, {"text": None}])
def test_a_row_that_came_or_lost_its_text_during_the_run_is_an_error_and_no_rank(payload):
    passages = whole_of("same")
    depth = SearchDepth.of(CONFIG, passages.lengths)
    query, rows = Query("q", "same", "train"), [StoredRow("9", payload, None, 1.0)]
    with pytest.raises(HarnessError, match="row 9 was not there when the run read the collection"):
        _placed(query, rows, {"same": [0]}, passages, depth, CONFIG)


def test_text_in_no_document_keeps_its_rank_and_copies_keep_their_document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "harbour.txt": "The harbour closes at nine. The museum opens when it closes.",
        "museum.txt": "The museum opens at ten. Tickets cost five crowns.",
        "table.csv": "document,place\nharbour,harbour\nmuseum,museum\n",
        "queries.csv": "query_id,text\nq1,museum opens\nq2,closes at nine\n",
        "labels.csv": "query_id,document,quote,grade\nq1,museum,museum opens at ten,4\n"
        "q2,harbour,closes at nine,4\n",
    }
    write_files(tmp_path, files)
    texts = [
        ("The museum opens at ten.", "museum.txt"),
        ("The museum opens at ten.", "museum.txt"),
        ("Another museum opens nearby.", "letters.txt"),
        ("The harbour closes at nine. The museum opens when it closes.", "harbour.txt"),
        ("The harbour closes at nine.", "harbour.txt"),
    ]
    rows = [{"text": text, "document": document, "vector": [1.0, 0.0]} for text, document in texts]
    config = {
        **{"name": "filters", "documents": ["*.txt"], "queries": "queries.csv", "labels": "labels.csv"},
        "retrieve": {**Opensearch(tmp_path).fill(rows), "search": "words", "model": MODEL, "top_k": 5}
        | {"only": {"file.name": [document for _, document in texts]}},
        "latency": {"queries": 1},
        "filter": {"kind": "rules", "file": "table.csv", "fields": ["place"]},
        **{"measures": ["recall@5", "ndcg_evidence@500"], "cache": str(tmp_path / "cache")},
    }
    results, folder = run_bench(load_config(config), RecordingReporter(Silent(), lambda _: None))
    (rankings,) = by_name(results).values()
    documents = [[chunk_id.partition(":")[0] for chunk_id in ranking.chunk_ids] for ranking in rankings]
    assert sorted(documents[0]) == ["museum", "museum~2", "not-found"]
    assert "harbour" in documents[1]
    assert "in no document" in warned(results)
    filtered = [(row["query_id"], row["documents"], row["of"]) for row in table(folder / "filters.csv")]
    assert filtered == [("q1", "1", "2"), ("q2", "2", "2")]
    # what the filter leaves holds all that is relevant, the copy of a passage too
    lost = [row["loss"] for row in table(folder / "waterfall.csv") if row["part"] == "filter"]
    assert [*map(float, lost)] == [0, 0]
    (of_search,) = [row for row in table(folder / "latency.csv") if row["stage"] == "retrieve"]
    assert (of_search["queries"], of_search["remark"]) == ("1", "")
