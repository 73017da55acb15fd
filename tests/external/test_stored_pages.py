"""Passages of a collection that are placed by their page: those in other words, and those without text."""

import math

import pytest

from harness.running import load_config, run_bench
from harness.steps.search.retrieve.stored import PassageKeys
from harness.values import ConfigError, HarnessError, RecordingReporter, Silent
from tests.corpus.conftest import pdf_bytes
from tests.external.filled import Opensearch
from tests.external.stores_in_use import MODEL, means, warned

PAGES = (
    "The lighthouse was lit in 1822 by the harbour company.",
    None,
    "Its keeper was Anna Holm for forty years, until the lamp became electric.",
)
QUERIES = "query_id,text\nq1,keeper Holm\nq2,lighthouse lit\n"
LABELS = "query_id,document,quote,grade\nq1,light,keeper was Anna Holm,4\nq2,light,lit in 1822,4\n"

# the vectors say nothing, and every row is found
BY_VECTORS = {"search": "vectors", "same_model": False}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Searches rows of a store by words; gives the results and the counts of the setting."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "light.pdf").write_bytes(pdf_bytes(*PAGES))
    (tmp_path / "queries.csv").write_text(QUERIES)
    (tmp_path / "labels.csv").write_text(LABELS)

    def bench(*rows, **more):
        empty = more.pop("rows", None) == 0
        rows = rows or [{"text": PAGES[0]}]
        stored = [{"document": "light.pdf", "vector": [1.0] * 384, **row} for row in rows]
        store = Opensearch(tmp_path)
        section = {**store.fill(stored), "search": "words", "model": MODEL, **more}
        if empty:
            store.clear()
        config = {
            **{"name": "pages", "documents": ["*.pdf"], "queries": "queries.csv", "labels": "labels.csv"},
            **{"retrieve": section, "measures": ["recall@5", "ndcg_exp@5"]},
            "cache": str(tmp_path / "cache"),
        }
        results, _ = run_bench(load_config(config), RecordingReporter(Silent(), lambda _: None))
        ((name, _),) = results.runs
        return results, results.record.counts["settings"][name], means(results, name)

    return bench


def test_a_passage_in_other_words_counts_as_its_page(bench):
    results, counts, scores = bench(
        {"text": "Summary: somebody called Holm was its keeper.", "page": 3},
        {"text": PAGES[0], "page": 1},
    )
    assert (counts["stored_by_page"], counts["stored_unplaced"], counts["stored_evidence_missing"]) == (
        1,
        0,
        0,
    )
    assert "1 of 2 passages are placed by page only" in warned(results)
    assert scores["recall@5", "retrieve"] == 1
    first = results.runs[next(iter(results.runs))][0].chunk_ids[0]
    begin, end = map(int, first.rpartition(":")[2].split("-"))
    assert first.startswith("light:")
    # the page as it is read, without the blanks around it
    assert end - begin == len(PAGES[2])


def test_without_a_key_of_the_page_a_rephrased_passage_is_in_no_document(bench):
    results, counts, scores = bench(
        {"text": "Summary: somebody called Holm was its keeper.", "page": 3},
        {"text": PAGES[0], "page": 1},
        page="",
    )
    assert (counts["stored_by_page"], counts["stored_unplaced"], counts["stored_evidence_missing"]) == (
        0,
        1,
        1,
    )
    assert "in no document" in warned(results)
    assert scores["recall@5", "retrieve"] == 0.5


def test_passages_whose_page_does_not_exist_stay_unplaced_and_are_counted(bench):
    # the second page holds a picture and no text
    pages = [4, 2, 0, -1, "three", True, 2.5, None]
    rows = [
        {"text": f"Summary {place}: Holm was its keeper.", "page": page} for place, page in enumerate(pages)
    ]
    rows.append({"text": "Summary: Holm was its keeper.", "page": 3, "document": "other.pdf"})
    _, counts, scores = bench(*rows, {"text": PAGES[0], "page": 1}, top_k=10)
    assert (counts["stored_by_page"], counts["stored_unplaced"]) == (0, 9)
    assert scores["recall@5", "retrieve"] == 0.5


def test_pages_that_count_from_zero_are_told_with_the_remedy(bench):
    # each passage is found by its text, on the page after the one that its row says
    rows = [
        {"text": PAGES[0], "page": 0},
        {"text": PAGES[2], "page": 2.0},
        {"text": "Of a letter", "page": 0.0},
    ]
    results, counts, _ = bench(*rows)
    assert (counts["stored_page_zero"], counts["stored_page_unread"], counts["stored_page_beyond"]) == (
        2,
        0,
        0,
    )
    assert "2 rows are of page 0 (such as row id-0 of light.pdf)" in warned(results)
    assert "set first_page: 0" in warned(results)
    results, counts, _ = bench(*rows, first_page=0)
    assert counts["stored_page_zero"] == 0
    assert "page 0" not in warned(results)


def test_pages_that_cannot_be_are_counted_and_told_once_with_an_example(bench):
    pages = ["iv", -1, 99, False, "", None, 3]
    rows = [{"text": PAGES[2], "page": page} for page in pages]
    # the pages of a document that is not there are nobody's
    rows.append({"text": "Of a letter", "page": 0, "document": "letter.pdf"})
    results, counts, _ = bench(*rows)
    assert (counts["stored_page_zero"], counts["stored_page_unread"], counts["stored_page_beyond"]) == (
        0,
        3,
        1,
    )
    text = warned(results)
    assert text.count("3 rows give something as page that is no page number") == 1
    assert "(such as 'iv' in row id-0)" in text
    assert "1 row gives a page that its document does not have" in text
    assert "(such as page 99 in row id-2: light.pdf has 3 pages)" in text


def test_an_empty_collection_is_named_as_empty(bench):
    with pytest.raises(
        HarnessError, match=r"OpenSearch at http.*, contracts: the collection .* holds no row"
    ):
        bench(rows=0)


@pytest.mark.parametrize(("page", "first_page"), [(2.0, 0), ("3", 1), ("2.0", 0), (" 3", 1)])
def test_pages_count_from_the_first_one_that_the_store_has(bench, page, first_page):
    _, counts, scores = bench(
        {"text": "Summary: somebody called Holm was its keeper.", "page": page},
        {"text": PAGES[0], "page": first_page},
        first_page=first_page,
    )
    assert (counts["stored_by_page"], counts["stored_other_page"]) == (1, 0)
    assert scores["recall@5", "retrieve"] == 1


def test_what_a_data_frame_has_in_an_empty_cell_is_no_page():
    keys = PassageKeys(page="p")
    for page in (math.nan, "", "  ", None):
        assert keys.stated_page({"p": page}) is None
    assert [keys.stated_page({"p": page}) for page in (3.0, " ii ", math.inf)] == [3, "ii", math.inf]


def test_passages_on_another_page_are_warned_of(bench):
    results, counts, _ = bench({"text": PAGES[2], "page": 2}, {"text": PAGES[0], "page": 1})
    assert counts["stored_other_page"] == 1
    assert "retrieve.first_page is 1" in warned(results)


def test_rows_without_text_are_their_page(bench):
    # a collection of pictures of pages: what is searched is no text of ours
    _, counts, scores = bench(
        {"text": None, "page": 3}, {"text": "", "page": 1}, {"text": None, "page": 9}, **BY_VECTORS
    )
    assert (counts["stored_by_page"], counts["stored_unplaced"], counts["stored_blank"]) == (2, 1, 0)
    assert scores["recall@5", "retrieve"] == 1


@pytest.mark.parametrize("text", [None, " "])
def test_a_row_without_text_or_page_holds_its_rank(bench, text):
    # vectors are the same, so that rows are ranked in their order
    results, counts, scores = bench(
        {"text": text}, {"text": PAGES[0], "page": 1}, {"text": PAGES[2], "page": 3}, **BY_VECTORS
    )
    assert (counts["stored_blank"], counts["stored_passages"], counts["stored_unplaced"]) == (1, 2, 0)
    assert "1 row has neither text nor page (row id-0)" in warned(results)
    (rankings,) = results.runs.values()
    assert [chunk.partition(":")[0] for chunk in rankings[0].chunk_ids] == ["not-found", "light", "light"]
    # nobody has judged it: not irrelevant for condensed measures, and a lost rank for the others
    assert scores["recall@5", "retrieve"] == 1
    assert scores["ndcg_exp@5", "retrieve"] < 1


def test_a_query_for_which_all_rows_have_no_text_is_no_error(bench):
    results, counts, scores = bench(
        {"text": None}, {"text": ""}, {"text": PAGES[0], "page": 1}, {"text": PAGES[2]}, top_k=2, **BY_VECTORS
    )
    assert counts["stored_blank"] == 2
    (rankings,) = results.runs.values()
    assert [len({*ranking.chunk_ids}) for ranking in rankings] == [2, 2]
    assert scores["recall@5", "retrieve"] == 0


def test_a_collection_of_other_documents_is_an_error_and_no_zero(bench):
    with pytest.raises(HarnessError, match="none of 2 passages is in the documents"):
        bench({"text": "keeper Holm of another tower", "document": "tower.pdf"}, {"text": "lit never"})


def test_the_number_of_the_first_page_needs_a_key_of_the_page(bench):
    with pytest.raises((ConfigError, HarnessError), match="name the key of the page"):
        bench({"text": PAGES[0], "page": 1}, page="", first_page=0)
