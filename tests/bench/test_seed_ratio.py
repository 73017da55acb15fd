"""The ratio of the grades that a reranker predicts to those of the judge, and where there is none."""

import pytest

from tests.command import exit_code, refused, table
from tests.mission.helpers import FIVE, flow, run_in

PASSAGES = {f"d{at}": f"{word} passage of the report" for at, word in enumerate(FIVE, 1)}
GRADES = [4, 2, 3, 0, 1]
FORWARD, BACKWARD = dict(zip(FIVE, range(5, 0, -1), strict=True)), dict(zip(FIVE, range(1, 6), strict=True))


def reranker(scores, top_n=5):
    return {
        "kind": "python",
        "call": "tests.mission.steps:by_table",
        "version": "1",
        "top_n": top_n,
        "arguments": {"table": {"genius": scores}},
    }


def ratio(folder, *rerankers, depth=5, grades=GRADES):
    """The one row of the table, for one query and five passages."""
    labels = [("q1", name, grade) for name, grade in zip(PASSAGES, grades, strict=False)]
    results = run_in(
        folder,
        PASSAGES,
        ["genius"],
        labels,
        rerank=flow([list(rerankers)]) if rerankers else "null",
        relevance=f"{{seed_ratio: {depth}}}",
        measures="[ndcg_exp@5]",
    )
    (row,) = table(results / "seed_ratio.csv")
    means = {
        (row["stage"], row["mean"], row["n_queries"])
        for row in table(results / "summary.csv")
        if row["measure"] == f"seed_ratio@{depth}" and row["split"] == "all"
    }
    return row, means


def test_a_reranker_that_agrees_has_1_and_one_that_reverses_the_order_less(tmp_path):
    row, means = ratio(tmp_path / "same", reranker(FORWARD))
    assert (float(row["seed_ratio"]), row["stage"], row["depth"]) == (1.0, "rerank", "5")
    assert means == {("rerank", "1.0", "1")}
    row, _ = ratio(tmp_path / "reversed", reranker(BACKWARD))
    # 0 1 2 3 4 as they stand: 1 / log2(3) + 3 / 2 + 7 / log2(5) + 15 / log2(6) = 10.948
    assert float(row["seed_ratio"]) == pytest.approx(10.948459 / 21.347185)


def test_of_several_rerankers_the_last_predicts(tmp_path):
    row, _ = ratio(tmp_path, reranker(BACKWARD), reranker(FORWARD))
    # its own order of what was retrieved, whatever the one before it made of that
    assert (float(row["seed_ratio"]), row["stage"]) == (1.0, "rerank2")


def test_fewer_chunks_than_were_retrieved_are_graded_by_their_own_order(tmp_path):
    row, _ = ratio(tmp_path, reranker(BACKWARD), depth=2)
    # 0 1 as they stand over 4 2
    assert float(row["seed_ratio"]) == pytest.approx(0.63093 / (15 + 3 * 0.63093), abs=1e-5)


@pytest.mark.parametrize(
    ("rerankers", "grades", "reason"),
    [
        ([], GRADES, "no reranker predicts grades"),
        ([reranker(FORWARD, top_n=3)], GRADES, "the reranker scored only 3 of 5 chunks"),
        ([reranker(FORWARD)], GRADES[:3], "2 of 5 chunks are not judged"),
    ],
)
def test_it_is_empty_with_the_reason_where_a_grade_is_missing(tmp_path, rerankers, grades, reason):
    row, means = ratio(tmp_path, *rerankers, grades=grades)
    assert (row["seed_ratio"], row["reason"]) == ("", reason)
    assert means == {("rerank" if rerankers else "retrieve", "", "0")}


def test_settings_with_and_without_a_reranker_have_nothing_to_compare(tmp_path, capsys):
    results = run_in(
        tmp_path,
        PASSAGES,
        ["genius"],
        [("q1", name, grade) for name, grade in zip(PASSAGES, GRADES, strict=True)],
        rerank=flow([None, reranker(FORWARD)]),
        relevance="{seed_ratio: 5}",
        measures="[ndcg_exp@5]",
    )
    message = refused(capsys, "compare", results, "--measure", "seed_ratio@5")
    assert "seed_ratio.csv says what is missing, such as a reranker" in message


def test_a_judge_that_gives_zeros_alone_makes_it_0_and_that_counts(tmp_path):
    row, means = ratio(tmp_path, reranker(FORWARD), grades=[0] * 5)
    assert (row["seed_ratio"], row["reason"]) == ("0.0", "")
    assert means == {("rerank", "0.0", "1")}


def test_a_summary_without_the_ratio_of_a_split_is_damaged(tmp_path, capsys):
    ratio(tmp_path, reranker(FORWARD))
    (summary,) = tmp_path.rglob("summary.csv")
    assert exit_code("show", summary.parent) == 0
    assert "seed_ratio@5, which is not NDCG: 1.000 for train" in capsys.readouterr().out
    lines = summary.read_text("utf-8-sig").splitlines()
    kept = [line for line in lines if ",train,seed_ratio@5" not in line]
    assert len(kept) == len(lines) - 1
    summary.write_text("\n".join([*kept, ""]), encoding="utf-8")
    assert "seed_ratio@5 of base rerank is missing for train" in refused(capsys, "show", summary.parent)
