"""The waterfall as an output of every run."""

import csv
import math

from harness.bench import run_bench
from harness.compare import STAGES
from harness.config import load_config
from harness.progress import Silent
from harness.report import read_first_passages, read_waterfall


def run(path):
    return run_bench(load_config(path), Silent())


def scores(folder, measure):
    with (folder / "per_query.csv").open(newline="") as file:
        return {
            (row["setting"], row["query_id"]): float(row["value"])
            for row in csv.DictReader(file)  # the last stage stands last
            if row["measure"] == measure and row["value"]
        }


def test_losses_sum_to_the_score_of_every_query_of_every_setting(write_config):
    results, folder = run(write_config(more="measures: [ndcg_exp@10, ndcg_text@300, ndcg_text@900]"))
    rows = read_waterfall(folder)
    assert rows == results.waterfall
    assert {row.measure for row in rows} == {"ndcg_text@300"}
    final = scores(folder, "ndcg_text@300")
    # q5 is unanswerable: it has neither a score nor losses
    assert {(row.setting, row.query_id) for row in rows} == final.keys()
    assert {row.query_id for row in rows} == {"q1", "q2", "q3", "q4"}
    for row in rows:
        lost = {stage: getattr(row, stage) for stage in STAGES}
        assert math.isclose(1 - sum(lost.values()), row.final, abs_tol=1e-9)
        assert math.isclose(row.final, final[row.setting, row.query_id], abs_tol=1e-9)
        if row.blame:
            assert lost[row.blame] == max(lost.values()) > 0
        else:
            assert max(lost.values()) <= 1e-9
    assert {row.split for row in rows} == {"train", "validation"}


def test_without_text_ndcg_among_the_measures_the_unit_is_named(write_config):
    results, _ = run(write_config(rerank="null", more="measures: [map]"))
    assert {row.measure for row in results.waterfall} == {"ndcg_text@10000"}
    assert {row.reranker for row in results.waterfall} == {0.0}


def test_a_query_whose_evidence_the_parser_lost_is_blamed_on_it_although_it_has_no_ndcg(write_config, corpus):
    with (corpus / "queries.csv").open("a") as file:
        file.write("q6,Who owns the moon?,train,yes\n")
    with (corpus / "labels.csv").open("a") as file:
        file.write("q6,people,nothing like this stands anywhere at all,4\n")
    _, folder = run(write_config(more="anchor: {on_unanchored: list}"))
    lost = [row for row in read_waterfall(folder) if row.query_id == "q6"]
    assert [(row.parser, row.final, row.blame) for row in lost] == [(1.0, 0.0, "parser")] * 2
    assert not [key for key in scores(folder, "ndcg_exp@10") if key[1] == "q6"]


def test_where_nothing_is_relevant_there_is_no_waterfall(write_config, corpus):
    (corpus / "labels.csv").write_text('query_id,document,quote,grade\nq1,people,"39,717 people",0\n')
    results, folder = run(write_config())
    assert results.waterfall == []
    assert not (folder / "waterfall.csv").exists()
    assert read_waterfall(folder) == []


def test_the_first_passage_is_that_of_the_last_stage(write_config):
    results, folder = run(write_config(chunk="{kind: recursive, chunk_size: 90}"))
    shown = read_first_passages(folder, "base")
    tops = {row.query_id: row.text for row in results.ranked if row.rank == 1 and row.stage == "rerank"}
    assert shown.keys() == tops.keys()
    assert "39,717" in shown["q1"]
