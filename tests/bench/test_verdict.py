"""A run's verdict: its clusters, its headline, and the same words wherever it is read."""

import json

from harness.comparison import options_of
from harness.running import RelevanceConfig, load_config
from harness.running.judging.judged import GradedQueries
from harness.values import Judgment, Query
from tests.command import bench, run, table


def test_a_query_is_tested_with_its_document_unless_its_file_says_otherwise():
    queries = [
        Query("q1", "?", "train"),
        Query("q2", "?", "train", cluster="mine"),
        Query("q3", "?", "train"),
    ]
    judged = [
        Judgment("q1", "b", 0, 90, 2),
        Judgment("q1", "c", 0, 10, 4),
        Judgment("q1", "a", 0, 10, 4),
        Judgment("q1", "a", 20, 25, 3),
        Judgment("q2", "a", 0, 10, 4),
        Judgment("q3", "a", 0, 10, 0),
        Judgment("q3", "b", 0, 10, None),
    ]
    # the highest grade, then the most evidence; what is not relevant says nothing
    graded = GradedQueries(queries, judged, RelevanceConfig())
    assert graded.clusters() == {"q1": "a", "q2": "mine", "q3": ""}
    # with one parser all judgments count; of several, one that read nothing has none
    assert list(graded.within(None)) == judged
    assert list(graded.within({"c"})) == judged[1:2]
    assert list(graded.within(frozenset())) == []


def test_clusters_own_columns_and_tolerances_reach_the_results_and_one_mean_has_one_interval(
    write_config, corpus, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")
    path = corpus / "queries.csv"
    head, *lines = path.read_text().splitlines()
    own = {"q1": "works", "q2": "", "q3": "=port", "q4": "", "q5": ""}
    written = [f"{head},cluster,owner"] + [f"{line},{own[line[:2]]},me" for line in lines]
    path.write_text("\n".join(written) + "\n")
    _, folder = bench(write_config(more="tolerance: 0.05\nprice_limit: 700"))
    queries = {row["query_id"]: row for row in table(folder / "queries.csv")}
    assert {name: row["owner"] for name, row in queries.items()} == dict.fromkeys(own, "me")
    expected = {"q1": "works", "q2": "engines", "q3": "'=port", "q4": "harbour", "q5": ""}
    assert {name: row["cluster"] for name, row in queries.items()} == expected
    per_query = table(folder / "per_query.csv")
    assert {(row["query_id"], row["cluster"]) for row in per_query} == set(expected.items())
    kept = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    assert (kept["tolerance"], kept["price_limit"]) == (0.05, 700)
    options = options_of(json.loads((folder / "record.json").read_text(encoding="utf-8")))
    assert (options.tolerance, options.price_limit) == (0.05, 700)
    assert options_of({}).tolerance == load_config(write_config()).tolerance == 0.02
    found = json.loads(run(capsys, "compare", folder, "--format", "json")[1])
    keys = ("setting", "stage", "split", "measure")
    summary = {tuple(row[key] for key in keys): row for row in table(folder / "summary.csv")}
    for one in found["settings"]:
        row = summary[one["setting"], "rerank", "all", found["measure"]]
        assert (float(row["ci_low"]), float(row["ci_high"])) == (one["low"], one["high"])
