"""`harness score --run a b`: how runs differ from the first, by the test of `harness compare`."""

import csv
import json

import pytest

from harness.comparison import compare_to
from tests.command import exit_code, one_line, refused, run, table
from tests.compare.build import matrix

# Each query has one relevant document, r. At rank 1 its reciprocal rank is 1, at rank 2 it is 1/2.
QUERIES = [f"q{number:02}" for number in range(36)]


def ranked(query, place):
    """The lines of a ranking of two documents with the relevant one at a place."""
    order = ["r", "x"] if place == 1 else ["x", "r"]
    return "".join(f"{query} Q0 {doc} {rank} {3 - rank} t\n" for rank, doc in enumerate(order, start=1))


@pytest.fixture
def files(tmp_path):
    """The second run wins 20 queries, loses 4 and ties 12: (20 - 4) / 2 / 36 better in reciprocal rank."""
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 r 1\n" for query in QUERIES))
    before = [2] * 20 + [1] * 16
    after = [1] * 20 + [2] * 4 + [1] * 12
    for name, places in (("before", before), ("after", after)):
        text = "".join(map(ranked, QUERIES, places))
        (tmp_path / f"{name}.txt").write_text(text)
    return [
        "--run",
        str(tmp_path / "before.txt"),
        str(tmp_path / "after.txt"),
        "--qrels",
        str(tmp_path / "qrels.txt"),
        "--measures",
        "rr",
    ]


def compared(capsys, *words):
    code, out, err = run(capsys, "score", *words, "--format", "json")
    assert code == 0, err
    return json.loads(out)["comparison"]


def test_the_difference_is_tested_as_settings_are(files, capsys):
    (by,) = compared(capsys, *files)
    (after,) = by["runs"]
    assert (by["measure"], by["tested_by"], by["left_out"]) == ("rr", "queries", 0)
    assert (after["wins"], after["ties"], after["losses"], after["n"]) == (20, 12, 4, 36)
    assert after["difference"] == pytest.approx(16 / 2 / 36, abs=1e-12)
    scores = {"before": [0.5] * 20 + [1] * 16, "after": [1] * 20 + [0.5] * 4 + [1] * 12}
    (expected,) = compare_to(matrix(scores), "before")
    for name in ("low", "high", "p", "finding"):
        assert after[name] == getattr(expected, name)
    assert after["finding"] == "real"


def test_the_queries_that_lost_most_are_named(files, capsys, tmp_path):
    (by,) = compared(capsys, *files)
    lost = by["runs"][0]["lost"]
    assert [query["query_id"] for query in lost] == ["q20", "q21", "q22", "q23"]
    assert lost[0] == {"query_id": "q20", "first": 1.0, "value": 0.5, "difference": -0.5}
    # of losses that are not alike the largest comes first: without its document q23 scores 0
    (tmp_path / "after.txt").write_text((tmp_path / "after.txt").read_text().replace("q23 Q0 r 2 1 t\n", ""))
    (by,) = compared(capsys, *files)
    assert [query["query_id"] for query in by["runs"][0]["lost"]] == ["q23", "q20", "q21", "q22"]


def test_named_clusters_are_tested_whole(files, capsys, tmp_path):
    clusters = tmp_path / "clusters.csv"
    # 9 clusters of 4 queries: 5 win whole, 1 loses whole, 3 are ties
    rows = "".join(f"{query},c{place // 4}\n" for place, query in enumerate(QUERIES))
    clusters.write_text(f"query_id,cluster\n{rows}")
    (by,) = compared(capsys, *files, "--clusters", clusters)
    assert (by["tested_by"], by["clusters"]) == ("clusters", 9)
    # 6 clusters differ, each by 0.5. Of 2^6 patterns of their signs those with at most one of the other sign
    # are as far from 0 on either side: 2 (1 + 6) / 64
    assert by["runs"][0]["p"] >= 14 / 64 - 1e-9
    assert by["runs"][0]["finding"] != "real"
    _, out, _ = run(capsys, "score", *files, "--clusters", clusters)
    assert "Two-sided sign-flip test over 9 whole clusters" in one_line(out)
    # few of them stand for no others
    text = "".join(f"{query},c{place // 12}\n" for place, query in enumerate(QUERIES))
    clusters.write_text(f"query_id,cluster\n{text}")
    _, out, _ = run(capsys, "score", *files, "--clusters", clusters)
    assert "holds for more queries of these clusters, not for new ones" in one_line(out)
    clusters.write_text("query_id,cluster\nother,c1\n")
    assert "names a cluster for none of the queries" in refused(
        capsys, "score", *files, "--clusters", clusters
    )
    clusters.write_text("query_id,cluster\nq00,c1\nq01,c1\n")
    _, _, err = run(capsys, "score", *files, "--clusters", clusters)
    assert "names no cluster for 34 queries, such as q02" in one_line(err)


@pytest.mark.parametrize("count", [29, 30])
def test_fewer_than_thirty_queries_are_too_few_to_choose_by(files, capsys, tmp_path, count):
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 r 1\n" for query in QUERIES[:count]))
    _, out, _ = run(capsys, "score", *files)
    assert ("Fewer than 30 queries are too few to choose by." in one_line(out)) is (count < 30)


def test_further_runs_are_one_family_against_the_first(files, capsys, tmp_path):
    third = tmp_path / "third.txt"
    third.write_text((tmp_path / "before.txt").read_text())
    (by,) = compared(capsys, *files, "--run", third)
    assert [one["run"] for one in by["runs"]] == [str(tmp_path / "after.txt"), str(third)]
    assert {one["family"] for one in by["runs"]} == {2}
    assert (by["runs"][1]["difference"], by["runs"][1]["ties"]) == (0.0, 36)
    _, out, _ = run(capsys, "score", *files, "--run", third)
    assert "for all 2 runs at once" in one_line(out)
    assert "third: no query scores less than under before." in one_line(out)


def test_queries_without_a_value_under_some_run_are_left_out(files, capsys, tmp_path):
    after = (tmp_path / "after.txt").read_text().splitlines(keepends=True)
    # trec_eval leaves out a query without a ranking, the convention of the harness counts it as 0
    (tmp_path / "after.txt").write_text("".join(after[2:]))
    (by,) = compared(capsys, *files)
    assert (by["left_out"], by["runs"][0]["n"]) == (1, 35)
    _, out, _ = run(capsys, "score", *files)
    assert "1 query left out, as only some of the runs have a value" in one_line(out)
    (by,) = compared(capsys, *files, "--convention", "harness")
    assert (by["left_out"], by["runs"][0]["n"], by["runs"][0]["lost"][0]["query_id"]) == (0, 36, "q00")


def test_text_csv_and_the_file_of_differences(files, capsys, tmp_path):
    code, out, _ = run(capsys, "score", *files)
    values, _, words = out.partition("\n\n")
    assert code == 0
    assert [line.split("\t")[2] for line in values.splitlines()] == ["all", "all"]
    assert "after against before, query by query" in words
    for cell in ("+0.222", "20/12/4", "better", "0.722", "0.944"):
        assert cell in words
    assert "\t" not in words
    differences = tmp_path / "differences.csv"
    _, out, _ = run(capsys, "score", *files, "--format", "csv", "--csv", differences)
    assert out.startswith("run,query_id,measure,value\n")
    (row,) = table(differences)
    assert (row["measure"], row["wins"], row["lost_most"]) == ("rr", "20", "q20 q21 q22 q23")
    assert (row["setting"], row["against"]) == (str(tmp_path / "after.txt"), str(tmp_path / "before.txt"))


def test_shares_and_bounds_are_not_compared(files, capsys):
    by = compared(capsys, *files, "judged@10")
    assert [one["measure"] for one in by] == ["rr"]
    _, out, _ = run(capsys, "score", *files, "judged@2")
    assert "Under before only 50% are judged (judged@2)" in one_line(out)
    code, out, err = run(capsys, "score", *files[:-1], "judged@10")
    assert code == 0
    assert "The runs are not compared" in one_line(err)


def test_a_run_whose_rankings_end_early_is_named(files, capsys, tmp_path):
    _, out, _ = run(capsys, "score", *files)
    assert "ranks at most" not in one_line(out)
    # before has two documents for each query; after has one less than half as many as this one
    deep = "".join(f"{query} Q0 {doc} {9 - doc} {doc} t\n" for query in QUERIES for doc in range(1, 6))
    (tmp_path / "after.txt").write_text(deep)
    _, out, _ = run(capsys, "score", *files, "ndcg_exp@2")
    assert "before ranks at most 2 documents of a query, after up to 5." in one_line(out)
    assert "counts as not found by rr: compare" in one_line(out)
    _, out, _ = run(capsys, "score", *files[:-1], "ndcg_exp@2")
    assert "ranks at most" not in one_line(out)


def test_the_tolerance_decides_what_is_equal(files, capsys, tmp_path):
    (tmp_path / "after.txt").write_text((tmp_path / "before.txt").read_text())
    assert compared(capsys, *files)[0]["runs"][0]["finding"] == "equivalent"
    (tmp_path / "after.txt").write_text(
        "".join(ranked(query, 1 + (query in QUERIES[:22])) for query in QUERIES)
    )
    assert compared(capsys, *files, "--tolerance", "0.2")[0]["runs"][0]["finding"] == "equivalent"
    assert "--tolerance must be a number above 0" in refused(capsys, "score", *files, "--tolerance", "0")


def test_what_compares_needs_several_runs(files, capsys, tmp_path):
    alone = ("--run", files[1], "--qrels", files[4])
    assert exit_code("score", *alone, "--csv", tmp_path / "d.csv") == 2
    assert "--csv: only with several runs" in one_line(capsys.readouterr().err)
    assert not (tmp_path / "d.csv").exists()
    assert exit_code("score", "--hits", "a.jsonl", "--csv", "d.csv") == 2


def test_dl19_differs_as_the_outputs_of_trec_eval_do(shared_corpora, capsys):
    folder = shared_corpora / "trec" / "dl19"
    runs = [folder / "runs" / f"{name}.txt" for name in ("bm25-default", "ICT-BERT2")]
    (by,) = compared(
        capsys, "--run", *runs, "--qrels", folder / "qrels.dl19-passage.txt", "--measures", "ndcg_lin@10"
    )
    with (folder / "expected_ndcg10.csv").open() as file:
        official = {(row["run"], row["topic"]): row for row in csv.DictReader(file)}
    differences = {
        topic: float(row["ndcg10_linear_trec_eval"])
        - float(official["bm25-default", topic]["ndcg10_linear_trec_eval"])
        for (name, topic), row in official.items()
        if name == "ICT-BERT2" and topic != "all"
    }
    bert = by["runs"][0]
    assert bert["n"] == len(differences) == 43
    assert bert["difference"] == pytest.approx(sum(differences.values()) / 43, abs=1e-6)
    assert bert["wins"] == sum(one > 0 for one in differences.values())
    assert bert["losses"] == sum(one < 0 for one in differences.values())
    worst = min(differences, key=differences.get)
    assert bert["lost"][0]["query_id"] == worst
    assert bert["lost"][0]["difference"] == pytest.approx(differences[worst], abs=2e-6)


def test_a_share_of_exactly_four_fifths_is_judged_enough(tmp_path, capsys):
    # of the first five documents of two queries all are judged, of those of two others three: 16 / 20 = 0.8
    queries = {"q1": 5, "q2": 5, "q3": 3, "q4": 3}
    lines = [f"{query} Q0 d{rank} {rank} {9 - rank} t\n" for query in queries for rank in range(1, 6)]
    labels = [f"{query} 0 d{rank} 1\n" for query, judged in queries.items() for rank in range(1, judged + 1)]
    for name, text in (("before", lines), ("after", lines), ("qrels", labels), ("fewer", labels[:-1])):
        (tmp_path / f"{name}.txt").write_text("".join(text))
    runs = ["--run", str(tmp_path / "before.txt"), str(tmp_path / "after.txt")]
    for name, warned in (("qrels", False), ("fewer", True)):
        words = [*runs, "--qrels", str(tmp_path / f"{name}.txt"), "--measures", "rr", "judged@5"]
        _, out, _ = run(capsys, "score", *words)
        assert ("are judged (judged@5)" in one_line(out)) == warned
