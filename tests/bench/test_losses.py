"""The waterfall as an output of every run."""

import csv
import math
from dataclasses import replace

import pytest

from harness.bench.flow import run_bench
from harness.config import load_config
from harness.errors import HarnessError
from harness.progress import Silent
from harness.report import LossRow, loss_table, read_any, read_first_passages, read_table, worst_table
from harness.report.losses import losses_by_query
from tests.report.page_results import rewrite


def run(path):
    return run_bench(load_config(path), Silent())


def scores(folder, measure):
    with (folder / "per_query.csv").open(newline="") as file:
        return {
            (row["setting"], row["query_id"]): float(row["value"])
            for row in csv.DictReader(file)  # the last stage is last
            if row["measure"] == measure and row["value"]
        }


def test_losses_sum_to_the_score_of_every_query_of_every_setting(write_config):
    results, folder = run(write_config(more="measures: [ndcg_exp@10, ndcg_text@300, ndcg_text@900]"))
    rows = read_any(folder, LossRow)
    assert rows == results.of(LossRow)
    assert {row.measure for row in rows} == {"ndcg_text@300"}
    assert list(dict.fromkeys((row.step, row.part) for row in rows)) == [
        ("parse", "parser"),
        ("chunk", "chunking"),
        ("retrieve", "candidates"),
        ("retrieve", "order"),
        ("rerank", "change"),
    ]
    final = scores(folder, "ndcg_text@300")
    # q5 is unanswerable: it has neither a score nor losses
    assert {(row.setting, row.query_id) for row in rows} == final.keys()
    assert {row.query_id for row in rows} == {"q1", "q2", "q3", "q4"}
    for one in losses_by_query(rows):
        assert math.isclose(1 - sum(one.losses.values()), one.final, abs_tol=1e-9)
        assert math.isclose(one.final, final[one.setting, one.query_id], abs_tol=1e-9)
        if one.blame:
            assert one.losses[one.blame] == max(one.losses.values()) > 0
        else:
            assert max(one.losses.values()) <= 1e-9
    assert {row.split for row in rows} == {"train", "validation"}


def test_the_routes_of_a_fusion_are_next_to_the_sum_with_their_own_scores(write_config):
    route = '{kind: chroma, model: "embedded:all-MiniLM-L6-v2", batch_tokens: 128, top_k: %d}'
    fusion = f"{{kind: rrf, routes: [{route % 2}, {route % 10}]}}"
    path = write_config(retrieve=fusion, more="measures: [ndcg_exp@10, ndcg_text@300]")
    results, folder = run(path)
    rows = read_any(folder, LossRow)
    assert rows == results.of(LossRow)
    routes = [step for step in dict.fromkeys(row.step for row in rows) if "." in step]
    assert len(routes) == 2
    table = read_table(folder, "waterfall")
    whole = table[~table.step.str.contains(".", regex=False)].groupby(["setting", "query_id"])
    assert abs(1 - whole.loss.sum() - whole.left.last()).max() < 1e-9
    scored = read_table(folder, "per_query").query("measure == 'ndcg_text@300'")
    scored = scored.set_index(["setting", "query_id", "stage"]).value
    orders = table[table.part.isin(["order", "change"])]
    for row in orders.itertuples():
        assert math.isclose(row.left, scored[row.setting, row.query_id, row.step], abs_tol=1e-9)
    assert set(orders.step) == {*routes, "retrieve", "rerank"}
    # a route that loses the same as an earlier way is not listed again
    ways = [row[1:] for row in loss_table(rows).rows]
    alone = [row[1:] for row in loss_table(rows).rows if " alone" in row[0]]
    assert alone
    assert len(set(ways)) == len(ways)


def test_a_waterfall_of_an_older_version_is_still_read(write_config):
    _, folder = run(write_config())
    ours = read_any(folder, LossRow)
    # as versions before the long form wrote it
    columns = ("parser", "chunking", "retriever", "ranking", "reranker")
    head = ("setting", "query_id", "split", "measure")
    with (folder / "waterfall.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*head, *columns, "final", "blame"])
        for one in losses_by_query(ours):
            place = [getattr(one, name) for name in head]
            out.writerow([*place, *map(repr, one.losses.values()), repr(one.final), "ranking"])
    theirs = read_any(folder, LossRow)
    assert loss_table(theirs) == loss_table(ours)
    setting = ours[0].setting
    assert worst_table(theirs, setting, 4, {}, {}, {}) == worst_table(ours, setting, 4, {}, {}, {})
    assert [replace(row, left=0.0) for row in theirs] == [replace(row, left=0.0) for row in ours]
    assert max(abs(a.left - b.left) for a, b in zip(theirs, ours, strict=True)) < 1e-12
    rewrite(folder / "waterfall.csv", lambda row: row | {"ranking": "x"})
    with pytest.raises(HarnessError, match=r"waterfall\.csv is damaged: .*'x'"):
        read_any(folder, LossRow)


def test_without_text_ndcg_among_the_measures_the_unit_is_named(write_config):
    results, _ = run(write_config(rerank="null", more="measures: [map]"))
    assert {row.measure for row in results.of(LossRow)} == {"ndcg_text@10000"}
    assert "change" not in {row.part for row in results.of(LossRow)}


def test_a_query_whose_evidence_the_parser_lost_is_blamed_on_it_although_it_has_no_ndcg(write_config, corpus):
    with (corpus / "queries.csv").open("a") as file:
        file.write("q6,Who owns the moon?,train,yes\n")
    with (corpus / "labels.csv").open("a") as file:
        file.write("q6,people,nothing like this stands anywhere at all,4\n")
    _, folder = run(write_config(more="anchor: {on_unanchored: list}"))
    lost = [one for one in losses_by_query(read_any(folder, LossRow)) if one.query_id == "q6"]
    assert [(one.losses["parser"], one.final, one.blame) for one in lost] == [(1.0, 0.0, "parser")] * 2
    assert not [key for key in scores(folder, "ndcg_exp@10") if key[1] == "q6"]


def test_where_nothing_is_relevant_there_is_no_waterfall(write_config, corpus):
    (corpus / "labels.csv").write_text('query_id,document,quote,grade\nq1,people,"39,717 people",0\n')
    results, folder = run(write_config())
    assert results.of(LossRow) == []
    assert not (folder / "waterfall.csv").exists()
    assert read_any(folder, LossRow) == []


def test_the_first_passage_is_that_of_the_last_stage(write_config):
    results, folder = run(write_config(chunk="{kind: recursive, chunk_size: 90}"))
    shown = read_first_passages(folder, "base")
    tops = {row.query_id: row.text for row in results.ranked if row.rank == 1 and row.stage == "rerank"}
    assert shown.keys() == tops.keys()
    assert "39,717" in shown["q1"]
