"""Labelling what a collection of others returns: by a sheet of results, and on the page."""

import json

import pytest

from harness.labels import PassageSource, open_service
from harness.values import Silent
from tests.command import printed, save_table, table, write_files
from tests.external.filled import Opensearch
from tests.external.stores_in_use import MODEL

TEXTS = ["The keeper was Anna Holm.", "She was keeper of the lamp for forty years.", "Ships pay ten crowns."]
FILES = {
    "light.txt": f"{TEXTS[0]}\n\n{TEXTS[1]}",
    "ships.txt": TEXTS[2],
    "queries.csv": "query_id,text\nq1,keeper lamp\nq2,crowns\n",
    "labels.csv": "query_id,document,quote,grade\nq1,light,The keeper was Anna Holm.,4\n",
}
PASSAGES = {
    "documents": "passages://contracts",
    "labels.csv": "query_id,document,quote,grade\nq1,id-0,,4\n",
}


@pytest.fixture(params=["files", "passages"])
def stated(request, tmp_path, monkeypatch):
    """A configuration with a collection of passages of files, or of passages that are the documents."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, FILES)
    passages = request.param == "passages"
    if passages:
        (tmp_path / "light.txt").unlink()
        (tmp_path / "ships.txt").unlink()
        write_files(tmp_path, {"labels.csv": PASSAGES["labels.csv"]})
    rows = [{"text": text, "document": "", "vector": [1.0, 0.0]} for text in (*TEXTS, "A keeper of bees.")]
    section = {**Opensearch(tmp_path).fill(rows), "search": "words", "model": MODEL}
    config = {
        **{"name": "mine", "documents": PASSAGES["documents"] if passages else "*.txt"},
        **{"queries": "queries.csv", "labels": "labels.csv", "retrieve": [section, {"kind": "bm25"}]},
        **{"chunk": {"kind": "page"}, "measures": ["ndcg_exp@5", "judged@5"], "cache": "cache"},
    }
    (tmp_path / "my.yaml").write_text(json.dumps(config), encoding="utf-8")
    return passages


def test_a_sheet_has_what_the_store_returned(stated, capsys):
    printed(capsys, "bench", "my.yaml", "--quiet")
    printed(capsys, "labels", "unjudged", "results/mine", "--output", "sheet.csv")
    rows = table("sheet.csv")
    expected = {("q1", TEXTS[1]), ("q2", TEXTS[2])} | ({("q1", "A keeper of bees.")} if stated else set())
    assert {(row["query_id"], row["passage"]) for row in rows} == expected


def test_the_page_offers_what_the_store_returns(stated, tmp_path):
    path = tmp_path / "my.yaml"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, "retrieve": config["retrieve"][0]}), encoding="utf-8")
    with open_service(PassageSource(path), Silent()) as service:
        items = {(item.query_id, item.text) for item in service.items.values()}
    expected = {("q1", TEXTS[1]), ("q2", TEXTS[2])}
    assert items == expected | ({("q1", "A keeper of bees.")} if stated else set())


def test_graded_rows_are_labels_of_the_next_run(stated, capsys):
    printed(capsys, "bench", "my.yaml", "--quiet")
    printed(capsys, "labels", "unjudged", "results/mine", "--output", "sheet.csv")
    save_table("sheet.csv", [{**row, "grade": "2"} for row in table("sheet.csv")])
    words = printed(capsys, "labels", "add", "sheet.csv", "--in", "my.yaml")
    assert f"{len(table('sheet.csv'))} labels added" in words
    # what was added is known by the same place, whether a label gives a key or a quote
    assert "were there already" in printed(capsys, "labels", "add", "sheet.csv", "--in", "my.yaml")
    printed(capsys, "bench", "my.yaml", "--quiet")
    judged = {
        (row["setting"], row["query_id"]): float(row["value"])
        for row in table("results/mine/per_query.csv")
        if row["measure"] == "judged@5" and "opensearch" in row["setting"]
    }
    # what is in no document cannot be graded
    assert sorted(judged.values()) == ([1, 1] if stated else [2 / 3, 1])
