"""An existing collection that others write to while a run searches it: told, and never a silent zero."""

import json
import re
from dataclasses import replace

import pytest

from harness.running import RowChanges, digests_of, load_config, run_bench, write_page
from tests.command import table, write_files
from tests.external.filled import READ, Meanwhile, Opensearch
from tests.external.stores_in_use import MODEL
from tests.external.test_stored_state import ROWS, Rows
from tests.report.page_results import unpack

TEXTS = {
    "light": "The keeper of the lighthouse was Anna Holm.",
    "museum": "The museum sells tickets for five crowns.",
    "ferry": "The ferry counts its passengers.",
}
FILES = {
    **{f"{name}.txt": text for name, text in TEXTS.items()},
    "queries.csv": "query_id,text\nq1,keeper lighthouse\nq2,museum tickets\n",
    "labels.csv": "query_id,document,quote,grade\nq1,light,keeper of the lighthouse was Anna Holm,4\n"
    "q2,museum,The museum sells tickets,4\n",
}


@pytest.fixture
def store(tmp_path):
    return Opensearch(tmp_path)


@pytest.fixture
def bench(tmp_path, monkeypatch, store):
    """Searches the collection by words, in two settings, while ``change`` gets its rows by their keys."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, FILES)
    rows = [
        {"text": text, "document": f"{name}.txt", "vector": [1.0, 0.0], "key": name}
        for name, text in TEXTS.items()
    ]
    section = {**store.fill(rows), "search": "words", "model": MODEL, "top_k": [1, 2]}
    config = {
        **{"name": "changed", "documents": ["*.txt"], "queries": "queries.csv", "labels": "labels.csv"},
        **{"retrieve": section, "measures": ["recall@5"], "cache": str(tmp_path / "cache")},
    }
    (index,) = store.server.indices.values()

    def bench(change, sign=READ):
        reporter = Meanwhile(lambda: change(index["rows"]), sign)
        results, folder = run_bench(load_config(config), reporter)
        told = [
            warning for warning in results.record.warnings if (warning.code or "").startswith("hits.rows")
        ]
        return results, folder, told, reporter

    return bench


def test_a_row_deleted_before_the_search_is_told_in_every_place(bench):
    results, folder, told, reporter = bench(lambda rows: rows.pop("museum", None))
    scores = {row["query_id"]: float(row["value"]) for row in table(folder / "per_query.csv")}
    # this is the zero that would have been silent
    assert scores == {"q1": 1.0, "q2": 0.0}
    (warning,) = told
    assert (warning.code, warning.kind) == ("hits.rows changed", "hits")
    assert [warning.values[name] for name in ("deleted", "added", "changed")] == [1, 0, 0]
    assert {*warning.settings} == {setting for setting, _ in results.runs if setting}
    assert len(warning.settings) == 2
    said = "changed while the run read and searched it (rows deleted: 1, added: 0, changed: 0)"
    assert said in warning.text
    assert "Run again when nothing writes to it." in warning.text
    assert warning.text in reporter.warnings
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    assert warning.text in [kept["text"] for kept in record["warnings"]]
    html = write_page(folder)[0].read_text(encoding="utf-8")
    shown = unpack(re.search(r'id="data">([^<]*)<', html)[1])
    assert said in "\n".join(shown["warnings"])


def test_rows_that_were_added_and_changed_are_counted_apart(bench):
    def change(rows):
        rows["ferry"] = {**rows["ferry"], "file": {"name": "boats.txt"}}
        rows["more"] = {**rows["ferry"], "words": "Nobody asks for this."}

    told = bench(change)[2]
    assert [(each.values["deleted"], each.values["added"], each.values["changed"]) for each in told] == [
        (0, 1, 1)
    ]


def test_a_collection_that_nobody_writes_to_is_read_again_and_nothing_is_said(bench):
    _, _, told, reporter = bench(lambda rows: None)
    assert told == []
    assert sum("again, to see whether it has changed" in note for note in reporter.notes) == 1


def test_a_store_that_fails_afterwards_takes_no_result_away(bench, store):
    def fail(rows):
        store.server.fault = "error"

    results, _, told, _ = bench(fail, "again, to see")
    assert any(row.mean == 1 for row in results.summary)
    (warning,) = told
    assert warning.code == "hits.rows unknown"
    assert "circuit_breaking_exception" in warning.text
    assert "could not be read again after the search" in warning.text


@pytest.mark.parametrize("lasting", [False, True])
def test_rows_are_compared_in_any_order_and_copies_by_their_number(lasting):
    def digests(rows):
        collection = Rows(rows)
        collection.lasting_keys = lasting
        return digests_of(collection)

    copies = [ROWS[0]] * 3
    before = digests([*copies, *ROWS[1:5]])
    # a store without lasting keys may give its rows in another order, under other keys
    assert not before.changes_to(digests([*copies, *ROWS[1:5]] if lasting else [*ROWS[4:0:-1], *copies]))
    # keys of these rows are their places: the last one is gone
    fewer = before.changes_to(digests([*copies, *ROWS[1:4]]))
    assert fewer == RowChanges(1, 0, 0 if lasting else None)
    assert digests([*copies, *ROWS[1:4]]).changes_to(before) == RowChanges(0, 1, 0 if lasting else None)
    other = replace(ROWS[4], payload={"text": "another"})
    changed = before.changes_to(digests([*copies, *ROWS[1:4], other]))
    assert changed == (RowChanges(0, 0, 1) if lasting else RowChanges(1, 1, None))
    two = digests([*copies[:2], *ROWS[1:5]])
    if not lasting:
        assert before.changes_to(two) == RowChanges(1, 0, None)
