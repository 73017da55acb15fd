"""Files as they come: odd spacing, gzip, other formats; and hostile ones, which must be refused by line."""

import gzip

import pandas as pd
import pytest

from harness.measures.seed_ratio import seed_ratio
from harness.trec import (
    evaluate,
    qrels_from_dict,
    read_qrels,
    read_run,
    trec_id,
    write_trec_qrels,
    write_trec_run,
)
from harness.trec.ids import TrecError
from harness.types import Ranking

RUN = "q1 Q0 d1 1 2.5 t\nq1\tQ0  d2   2\t1.5 t\r\n\n  q2 Q0 d1 1 -3e-2 t"
QRELS = "q1 0 d1 2\nq1 0.5 d2 -1\n\nq2  0\td9 1\n"


def written(folder, text, name="file.txt"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["run.txt", "run.gz"])
def test_odd_spacing_and_gzip(tmp_path, name):
    run = read_run(written(tmp_path, RUN, name))
    assert [(run.query.name(i), run.doc.name(i), run.score[i]) for i in range(3)] == [
        ("q1", "d1", 2.5),
        ("q1", "d2", 1.5),
        ("q2", "d1", -0.03),
    ]
    assert run.rank.tolist() == [1, 2, 1]
    assert read_qrels(written(tmp_path, QRELS, "q" + name)).grade.tolist() == [2, -1, 1]


@pytest.mark.parametrize("comment", ["", "\n# lines are then read one by one"])
def test_ids_with_white_space_of_other_kinds_and_ranks_that_are_none(tmp_path, comment):
    run = read_run(written(tmp_path, "\ufeffq Q0 a\u00a0b 1e30 1 t\nq\tQ0 \x0b\x0c  2 .5 my tag" + comment))
    assert [run.query.name(0), run.doc.name(0), run.doc.name(1)] == ["q", "a\u00a0b", "\x0b\x0c"]
    assert run.score.tolist() == [1.0, 0.5]
    assert run.rank is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 d1 1 2 t\nq Q0 d2 2 t\n", r"line 2: a run line has 6 fields .* this one 5"),
        ("q Q0 d1 1 2 t\n\nq Q0 d2 2 high t\n", "line 3: the score must be a number, not 'high'"),
        ("q Q0 d1 1 nan t\n", "line 1: the score is NaN"),
        ("# c\nq Q0 d1 1 2 t\n\nq Q0 d1 2 1 t\n", "line 4: document d1 is ranked twice for query q"),
        ("q Q0 d1 1 1_0 t\n", "line 1: the score must be a number, not '1_0'"),
        ("q Q0 d1 1 2 t\rq Q0 d2 2 1 t\r", "line 1: a carriage return stands within the line"),
    ],
)
def test_hostile_runs_are_refused_by_line(tmp_path, text, message):
    with pytest.raises(TrecError, match=message):
        read_run(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 d 1.5\n", "line 1: the grade must be a whole number, not '1.5'"),
        ("q 0 d 1\nq 0 d 2\n", "line 2: document d is judged twice for query q"),
        ("q 0 d\n", "a judgment line has 4 fields"),
        (f"q 0 d {2**63}\n", "line 1: the grade must be a whole number, not '9223372036854775808'"),
    ],
)
def test_hostile_judgments_are_refused_by_line(tmp_path, text, message):
    with pytest.raises(TrecError, match=message):
        read_qrels(written(tmp_path, text))


def test_a_cut_gzip_file_is_refused(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"q Q0 d 1 1 t\n" * 1000)[:40])
    with pytest.raises(TrecError, match="damaged or cut short"):
        read_run(path)


def test_exports_keep_our_order_in_trec_eval(tmp_path):
    ranking = Ranking("q 1", ("a b", "z", "c%"), (1.0, 1.0 + 1e-12, 1.0))
    write_trec_run(tmp_path / "run.txt", [ranking], "s")
    write_trec_qrels(tmp_path / "qrels.txt", [("q 1", "a b", 4), ("q 1", "z", 1)])
    run, qrels = read_run(tmp_path / "run.txt"), read_qrels(tmp_path / "qrels.txt")
    assert [run.doc.name(i) for i in range(3)] == [trec_id("a b"), "z", "c%25"]
    for convention in ("trec_eval", "harness"):
        assert evaluate(run, qrels, ["ndcg_exp@10"], convention).means()["ndcg_exp@10"] == 1.0


def test_tables(tmp_path):
    run = read_run(written(tmp_path, "qid,docid,score\n007,d1,2\n007,d2,1\n", "run.csv"))
    assert run.query.name(0) == "007"
    beir = tmp_path / "beir" / "qrels"
    beir.mkdir(parents=True)
    written(beir, "query-id\tcorpus-id\tscore\n007\td2\t1\n", "test.tsv")
    scores = evaluate(run, read_qrels(tmp_path / "beir"), ["rr"], "trec_eval")
    assert scores.means() == {"rr": 0.5}
    with pytest.raises(TrecError, match=r"no column named score or sim; it has qid, docid"):
        read_run(written(tmp_path, "qid,docid\n1,2\n", "bad.csv"))


def test_seed_ratio_ignores_which_passage_is_good_and_can_exceed_1():
    # seeds 4 3 2 1 0 against a judge who gave 3 2 0 0 0, in whatever order
    expected = (15 + 7 / 1.584962500721156 + 3 / 2 + 1 / 2.321928094887362) / (7 + 3 / 1.584962500721156)
    assert seed_ratio([4, 3, 2, 1, 0], [0, 2, 0, 3, 0]) == pytest.approx(expected)
    assert seed_ratio([4, 3, 2, 1, 0], [3, 2, 0, 0, 0]) == pytest.approx(expected)
    assert expected > 1
    with pytest.raises(ValueError, match="nothing relevant"):
        seed_ratio([1, 0], [0, 0])


@pytest.mark.parametrize("name", ["run.txt", "run.csv", "run.parquet"])
def test_a_repeat_below_what_is_looked_at_is_an_error_in_trec_files_only(tmp_path, name):
    """As docs/conventions.md says."""
    rows = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)]
    path = tmp_path / name
    if name.endswith("txt"):
        path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows))
        with pytest.raises(TrecError, match="line 3: document a is ranked twice for query q"):
            read_run(path)
        return
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    run, qrels = read_run(path), qrels_from_dict({"q": {"a": 1}})
    assert evaluate(run, qrels, ["rr@2"]).means() == {"rr@2": 1.0}
    for measures in (["rr@3"], ["rr@2", "ap"]):
        with pytest.raises(TrecError, match="row 3: document a is ranked twice for query q"):
            evaluate(run, qrels, measures)
