"""The waterfall as an output of every run."""

import math

import pytest

import harness
from harness.report import (
    LossRow,
    last_stages,
    loss_table,
    losses_by_query,
    lost_by,
    read_any,
    read_first_passages,
    read_table,
)
from harness.running import FinalOutput
from tests.command import bench, refused, table


def scores(folder, measure):
    return {
        (row["setting"], row["query_id"]): float(row["value"])
        for row in table(folder / "per_query.csv")  # the last stage is last
        if row["measure"] == measure and row["value"]
    }


def test_losses_sum_to_the_score_of_every_query_of_every_setting(write_config):
    results, folder = bench(write_config(more="measures: [ndcg_exp@10, ndcg_text@300, ndcg_text@900]"))
    rows = read_any(folder, LossRow)
    assert rows == results.of(LossRow)
    assert {row.measure for row in rows} == {"ndcg_text@300"}
    assert list(dict.fromkeys((row.step, row.part) for row in rows)) == [
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
    results, folder = bench(path)
    rows = read_any(folder, LossRow)
    assert rows == results.of(LossRow)
    routes = [step for step in dict.fromkeys(row.step for row in rows) if "." in step]
    assert len(routes) == 2
    rows_of_steps = read_table(folder, "waterfall")
    whole = rows_of_steps[~rows_of_steps.step.str.contains(".", regex=False)].groupby(["setting", "query_id"])
    assert abs(1 - whole.loss.sum() - whole.left.last()).max() < 1e-9
    scored = read_table(folder, "per_query").query("measure == 'ndcg_text@300'")
    scored = scored.set_index(["setting", "query_id", "stage"]).value
    orders = rows_of_steps[rows_of_steps.part.isin(["order", "change"])]
    for row in orders.itertuples():
        assert math.isclose(row.left, scored[row.setting, row.query_id, row.step], abs_tol=1e-9)
    assert set(orders.step) == {*routes, "retrieve", "rerank"}
    # a route that loses the same as an earlier way is not listed again
    ways = [row[1:] for row in loss_table(rows).rows]
    alone = [row[1:] for row in loss_table(rows).rows if " alone" in row[0]]
    assert alone
    assert len(set(ways)) == len(ways)


def test_what_is_lost_up_to_a_stage_leaves_the_score_of_that_stage(write_config):
    route = '{kind: chroma, model: "embedded:all-MiniLM-L6-v2", batch_tokens: 128, top_k: 10}'
    fusion = f"{{kind: rrf, routes: [{{kind: bm25}}, {route}]}}"
    _, folder = bench(write_config(retrieve=fusion, more="measures: [ndcg_text@300]"))
    rows = read_any(folder, LossRow)
    scored = read_table(folder, "per_query").groupby(["setting", "stage"]).value.mean()
    for (setting, stage), mean in scored.items():
        assert sum(lost_by(rows, stage)[setting].values()) == pytest.approx(1 - mean, abs=1e-9)
    assert {stage for _, stage in scored.index} > {"retrieve", "rerank"}
    assert lost_by(rows) == lost_by(rows, "rerank") != lost_by(rows, "retrieve")
    for stage, lost in (("retrieve", False), ("final", True)):
        verdict = harness.compare(folder, stage=stage).verdict
        assert ("rerank" in verdict.lost["chunk=90/0"]) == lost


def test_without_text_ndcg_among_the_measures_the_unit_is_named(lexical):
    results, _ = bench(lexical(more="measures: [map]"))
    assert {row.measure for row in results.of(LossRow)} == {"ndcg_text@10000"}
    assert "change" not in {row.part for row in results.of(LossRow)}
    # a headline of chunks has losses of text, and says so
    results, _ = bench(lexical(more="measures: [ndcg_exp@10, ndcg_text@400, ndcg_evidence@300]"))
    assert results.verdict["measure"] == "ndcg_exp@10"
    rows = results.of(LossRow)
    assert {row.measure for row in rows} == {"ndcg_evidence@300"}
    note = loss_table(rows, "ndcg_exp@10").notes[0]
    assert note.startswith("Losses are in units of ndcg_evidence@300: ndcg_exp@10 counts the chunks")


def test_labels_in_no_text_are_in_no_score_and_in_no_loss_and_are_mentioned(write_config, corpus):
    with (corpus / "queries.csv").open("a") as file:
        file.write("q6,Who owns the moon?,train,yes\n")
    with (corpus / "labels.csv").open("a") as file:
        file.write("q6,people,nothing like this stands anywhere at all,4\n")
        file.write("q1,people,nor is this a sentence of any of them,4\n")
    results, folder = bench(write_config(more="anchor: {on_unanchored: list}"))
    final = scores(folder, read_any(folder, LossRow)[0].measure)
    found = {(one.setting, one.query_id): one.final for one in losses_by_query(read_any(folder, LossRow))}
    assert found == pytest.approx(final, abs=1e-9)
    assert "q6" not in {query for _, query in found}
    notes = FinalOutput.of(results, folder).notes
    assert any(
        note.startswith("2 labels are in no extracted text, so they count in no score") for note in notes
    )


def test_losses_are_in_the_unit_of_the_headline_where_it_reads_text(write_config):
    two = "{kind: recursive, chunk_size: [90, 180]}"
    measures = "measures: [ndcg_text@400, ndcg_exp@10, ndcg_evidence@300]"
    results, folder = bench(write_config(chunk=two, more=measures))
    assert results.verdict["measure"] == "ndcg_evidence@300"
    rows = read_any(folder, LossRow)
    assert {row.measure for row in rows} == {"ndcg_evidence@300"}
    found = {(one.setting, one.query_id): one.final for one in losses_by_query(rows)}
    assert found == pytest.approx(scores(folder, "ndcg_evidence@300"), abs=1e-12)
    shown = loss_table(rows, results.verdict["measure"])
    assert "ndcg_evidence@300" in shown.title
    means = {row.setting: row.mean for row in last_stages(results.summary, "ndcg_evidence@300")}
    assert {row[0]: row[-1] for row in shown.rows if "alone" not in row[0]} == {
        name: f"{mean:.3f}" for name, mean in means.items()
    }
    assert not [note for note in shown.notes if "units of" in note]
    assert any("at most 0." in note for note in shown.notes)
    # the bound stands beside the best order known, and nowhere else
    assert {row.part for row in rows if row.bound is not None} == {"chunking", "candidates"}
    assert all(row.bound is None or row.left <= row.bound <= 1 for row in rows)


def test_where_nothing_is_relevant_there_is_no_waterfall(write_config, corpus, capsys):
    (corpus / "labels.csv").write_text('query_id,document,quote,grade\nq1,people,"39,717 people",0\n')
    results, folder = bench(write_config())
    assert results.of(LossRow) == []
    assert not (folder / "waterfall.csv").exists()
    assert read_any(folder, LossRow) == []
    assert "no query has relevant evidence" in refused(capsys, "show", folder, "--worst", "3")


def test_the_first_passage_is_that_of_the_last_stage(write_config):
    results, folder = bench(write_config(chunk="{kind: recursive, chunk_size: 90}"))
    shown = read_first_passages(folder, "base")
    tops = {row.query_id: row.text for row in results.ranked if row.rank == 1 and row.stage == "rerank"}
    assert shown.keys() == tops.keys()
    assert "39,717" in shown["q1"]
