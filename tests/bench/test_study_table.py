"""The table of a study: every figure is that of the result's files."""

import pytest

from benchmarks.study_table import chosen, table
from harness.report import LatencyRow
from tests.command import bench


def test_the_table_of_a_study_has_the_figures_of_the_result(lexical):
    path = lexical(
        retrieve="[{kind: bm25, top_k: 1}, {kind: bm25, top_k: 10}]",
        more="measures: [ndcg_exp@3, recall@10, tokens@10]\nlatency: {queries: 3}",
        cache="fresh",
    )
    results, folder = bench(path)
    mean = {(row.setting, row.split): row.mean for row in results.summary if row.measure == "ndcg_exp@3"}
    median = {row.setting: row.total_p50 for row in results.of(LatencyRow)}
    first, second = median
    lines = [line.strip("| ").split(" | ") for line in table(folder, "ndcg_exp@3", first)[2:]]
    cells = {line[0]: line[1:] for line in lines}
    assert [line[0] for line in lines] == sorted(cells, key=lambda one: -mean[one, "all"])
    for setting in (first, second):
        assert cells[setting][:3] == [
            f"{mean[setting, split]:.3f}" for split in ("all", "train", "validation")
        ]
    assert cells[first][-1] == "1.0"
    assert cells[second][-1] == f"{median[second] / median[first]:.1f}"
    best = max((first, second), key=lambda one: mean[one, "train"])
    held_out = f"on validation it has {mean[best, 'validation']:.3f}."
    assert chosen(folder, "ndcg_exp@3") == f"Highest on train: {best} ({mean[best, 'train']:.3f}); {held_out}"
    with pytest.raises(SystemExit, match="has no setting 'dense'"):
        table(folder, "ndcg_exp@3", "dense")
