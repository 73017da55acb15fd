"""`harness compare` and `harness gate` over results of a judge whose pools differ."""

import json
import shutil

import pandas as pd
import pytest

from harness.report import read_result
from harness.running.bench.pool_union import unite, united
from tests.bench.test_judged_bench import careful, judged
from tests.command import bench as run_bench
from tests.command import printed, refused, table
from tests.judge.fake_server import FakeServer, grade

__all__ = ["judged"]
MEASURES = "[ndcg_exp@3, ndcg_text@300, judged@3]"


@pytest.fixture
def bench(judged, corpus):
    """Run a benchmark whose judge is served at an address, and keep its results under a name."""

    def run(name, url, chunk_size, cache="own"):
        chunk = f"{{kind: recursive, chunk_size: {chunk_size}}}"
        path = judged(url, chunk=chunk, cache=cache, measures=MEASURES, retrieve="{kind: bm25}")
        _, folder = run_bench(path)
        return shutil.move(folder, corpus / "kept" / name)

    return run


def values(table, setting):
    rows = [row for row in table if row["setting"] == setting and row["measure"] != "judged@3"]
    return {(row["query_id"], row["measure"]): row["value"] for row in rows}


def test_results_of_different_pools_come_to_what_one_run_of_all_settings_gives(bench, capsys):
    with FakeServer(careful) as server:
        small, large = (bench(name, server.url, size) for name, size in (("small", 90), ("large", 180)))
        both = bench("both", server.url, "[90, 180]")
    spans = {folder: read_result(folder).judged for folder in (small, large)}
    assert len(set(spans.values())) == 2
    results = {folder: read_result(folder) for folder in (small, large)}
    done, output = united(results, {small: "small", large: "large"}, None)
    together = read_result(both).per_query
    for folder, setting in ((small, "chunk=90/0"), (large, "chunk=180/0")):
        mine, theirs = values(done[folder].per_query, "base"), values(together, setting)
        assert mine.keys() == theirs.keys()
        for key, value in theirs.items():
            assert (mine[key] == "") == (value == "")
            assert value == "" or float(mine[key]) == pytest.approx(float(value), abs=1e-12)
    assert "added" in output[0]
    out = printed(capsys, "gate", large, "--baseline", small, "--max-drop", "1")
    assert "Scored again on the" in out
    assert "passed base" in out
    assert "Scored again on the" in printed(capsys, "compare", small, large)
    # results of one pool are left as they are
    shutil.copytree(small, small.parent / "again")
    assert "Scored again" not in printed(capsys, "gate", small.parent / "again", "--baseline", small)
    # what counts tokens cannot be scored again
    for folder in (small, large):
        rows = pd.read_csv(folder / "per_query.csv", dtype=str, keep_default_na=False)
        rows.replace("ndcg_text@300", "ndcg_text_tokens@300").to_csv(folder / "per_query.csv", index=False)
    err = refused(capsys, "gate", large, "--baseline", small, "--measure", "ndcg_text_tokens@300")
    assert "ndcg_text_tokens@300 cannot be scored again" in err
    record = json.loads((large / "record.json").read_text())
    record["judge"]["model"] = "fake-2"
    (large / "record.json").write_text(json.dumps(record))
    assert "graded by different judges (model differ)" in refused(capsys, "gate", large, "--baseline", small)


def scored_on(folder):
    return [row for row in table(folder / "judgments.csv") if row["scored_on"] == "yes"]


def test_the_baseline_decides_where_the_judge_has_not_answered_alike(bench, capsys):
    with FakeServer(careful) as server:
        old = bench("old", server.url, 90, cache="first")
        server.script = lambda request, number: grade(3)
        new = bench("new", server.url, 180, cache="second")
    out = printed(capsys, "gate", new, "--baseline", old, "--max-drop", "1")
    shared = {(r["query_id"], r["document"], r["start"]) for r in scored_on(old)} & {
        (r["query_id"], r["document"], r["start"]) for r in scored_on(new)
    }
    assert shared
    assert f"{len(shared)} spans of new had a different grade in old" in out


def span(number):
    return ("q", "d", 10 * number, 10 * number + 5, "")


def test_a_union_takes_the_first_grade_of_every_span():
    one = {span(0): 4, span(1): None, span(2): 0}
    two = {span(0): 3, span(1): 1, span(3): 2}
    assert unite([one, two]) == {span(0): 4, span(1): 1, span(2): 0, span(3): 2}
