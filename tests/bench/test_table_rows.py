"""A run over rows of tables: what is shown is what is scored, stored, read and judged."""

import json
from functools import partial

import pytest

from harness.report import read_chunk_offsets, read_table, spans_of_chunk
from tests.bench.test_recompute import recomputed
from tests.command import bench, save_table, write_files
from tests.report.test_page import page_of, payload_of

PLAN = """site,opened,places,use
Bremerton yard,1998,4200,finished cars
Paducah shed,2004,310,"engines, tested"
Lyon depot,1987,95,spare parts
Tacoma yard,2011,1800,finished cars
"""
LINES = PLAN.splitlines()
QUERIES = [
    ("q1", "How many places has the yard in Bremerton?", "train", LINES[1]),
    ("q2", "When was the shed in Paducah opened?", "validation", LINES[2]),
    ("q3", "What are the sites used for?", "train", LINES[0]),
]
MEASURES = ["ndcg_exp@3", "ndcg_text@200", "ndcg_evidence@200", "recall@1", "tokens@3"]


def run_rows(folder, cache, chunk, read="null"):
    """A run over the table; returns its results and their folder."""
    labels = [{"query_id": name, "quote": quote, "grade": 4, "evidence": ""} for name, _, _, quote in QUERIES]
    # the heading helps with the second question: it says what 2004 is
    labels.append({"query_id": "q2", "quote": LINES[0], "grade": 1, "evidence": "heading"})
    save_table(folder / "labels.csv", [{"document": "plan", **row} for row in labels])
    names = ("query_id", "text", "split")
    save_table(folder / "queries.csv", [dict(zip(names, row[:3], strict=True)) for row in QUERIES])
    config = (
        f"name: rows\ndocuments: {folder}/plan.csv\nqueries: {folder}/queries.csv\n"
        f"labels: {folder}/labels.csv\ncache: {cache}\nresults: {folder}/results\n"
        f"chunk: {chunk}\nretrieve: {{kind: bm25, top_k: 10}}\nrerank: null\nread: {read}\n"
        f"measures: {json.dumps(MEASURES)}\n"
    )
    write_files(folder, {"plan.csv": PLAN, "rows.yaml": config})
    return bench(folder / "rows.yaml")


@pytest.fixture
def run(tmp_path, shared_cache):
    return partial(run_rows, tmp_path, shared_cache)


def test_values_can_be_recomputed_from_the_folder(run):
    results, folder = run("{kind: rows, rows: [1, 2]}", "[null, {kind: window}]")
    found = recomputed(folder)
    assert set(found) == {"ndcg_exp@3", "ndcg_text@200", "ndcg_evidence@200"}
    assert max(most for _, most in found.values()) < 1e-9
    again = run("{kind: rows, rows: [1, 2]}", "[null, {kind: window}]")[0]
    assert again.summary == results.summary, "chunks from the cache are others"


def test_a_row_is_stored_read_and_scored_as_it_is_shown(run):
    results, folder = run("[{kind: rows}, {kind: rows, header_rows: 0}]")
    plain, bare = read_chunk_offsets(folder).values()
    head = len(LINES[0]) + 1
    assert [chunk.before for chunk in plain] == [((0, head),)] * 4
    assert [chunk.before for chunk in bare] == [()] * 5
    shown = {chunk.chunk_id for chunk in (*plain, *bare)}
    assert {name for ranking in results.runs.values() for r in ranking for name in r.chunk_ids} <= shown
    passages = read_table(folder, "passages.csv")
    rows = [row for row in passages.itertuples() if "+" in row.chunk_id]
    assert rows
    for row in rows:
        assert row.text == PLAN[:head] + PLAN[row.start : row.end]
        assert spans_of_chunk(row.chunk_id)[:-1] == [(0, head)]
    detail = payload_of(page_of(folder).html)["detail"]
    columns = detail["chunks"]
    assert len(columns["before"]) == len(rows)
    for number, spans in columns["before"].items():
        assert spans == [[0, head]]
        assert columns["start"][int(number)] >= head
    # every character that is shown is on the page once
    assert "".join(text for _, _, text in detail["texts"]).startswith(PLAN[:head])
    # the heading is read with every row and earns once
    value = {(r.setting, r.query_id, r.measure): r.value for r in results.per_query}
    with_heading, without = dict.fromkeys(r.setting for r in results.per_query)
    # the first chunk holds row and heading; otherwise the heading is a row of its own
    assert value[with_heading, "q2", "recall@1"] == 1.0
    assert value[without, "q2", "recall@1"] == 0.5
    for query in ("q1", "q2"):
        assert value[with_heading, query, "tokens@3"] > value[without, query, "tokens@3"]


def test_what_is_read_has_its_heading(run):
    _, folder = run("{kind: rows}", "{kind: parent, chunk: {kind: rows, rows: 2, header_rows: 0}}")
    (read,) = read_chunk_offsets(folder).values()
    head = len(LINES[0]) + 1
    # two rows of its parent, the heading among the first two
    assert all(chunk.before in ((), ((0, head),)) for chunk in read)
    assert any(chunk.before for chunk in read)
    assert all(chunk.start == 0 or chunk.before for chunk in read)
    # a larger chunk than was found has its own
    small = "{kind: recursive, chunk_size: 20}"
    _, folder = run(small, "{kind: parent, chunk: {kind: rows}}")
    (read,) = read_chunk_offsets(folder).values()
    rows = [PLAN.index(line) for line in LINES[1:]]
    whole = [chunk for chunk in read if chunk.start in rows and PLAN[chunk.end : chunk.end + 1] == "\n"]
    assert whole
    assert all(chunk.before == ((0, rows[0]),) for chunk in whole)
