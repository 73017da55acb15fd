"""The table of docs/stores.md has the last results of the tests of the stores, as a file keeps them."""

import json

import pytest

from benchmarks import stores, stores_tried


@pytest.fixture
def kept():
    return json.loads(stores_tried.KEPT.read_text(encoding="utf-8"))


@pytest.fixture
def measured():
    return json.loads(stores.KEPT.read_text(encoding="utf-8"))["rows"]


def test_the_page_has_the_results_of_the_file(measured):
    page = stores.PAGE.read_text(encoding="utf-8")
    assert stores_tried.written(page, measured) == page
    with pytest.raises(ValueError, match="missing"):
        stores_tried.written(page.replace(stores_tried.END, ""), measured)


def test_the_file_of_results_covers_every_test_and_all_passed(kept):
    tests = {test for column in stores_tried.COLUMNS.values() for test in column}
    for store, ends in kept.items():
        assert store in stores_tried.STORES
        assert set(ends.values()) == {"passed"}, store
        missing = tests - ends.keys()
        assert missing == set(), (store, missing)


def test_the_table_shows_failed_skipped_and_missing_tests(kept, measured):
    (store, ends), *_ = kept.items()
    first, second = stores_tried.COLUMNS["existing: read"][:2]
    told = stores_tried.table({store: {**ends, first: "failed", second: "skipped"}}, measured)
    assert "| failed, skipped |" in told
    del ends[first]
    assert "| not run |" in stores_tried.table({store: ends}, measured)
