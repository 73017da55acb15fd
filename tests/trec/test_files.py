"""Files as they come: odd spacing, gzip, other formats; and hostile ones, which must be refused by line."""

import gzip
import os
import random
import threading
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from harness.data import TrecError, evaluate, qrels_from_dict, read_qrels, read_run
from harness.data.trec import lines, sources
from harness.measures import seed_ratio
from harness.report import trec_qrels, trec_run
from harness.values import Ranking

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


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.txt", b"q Q0 d1 1 2 t\rq Q0 d2 2 1 t\r", "line 1: a carriage return within the line"),
        ("qrels.txt", b"q 0 d 99999999999999999999\n", "line 1: the grade 99999999999999999999 is too large"),
        ("run.tsv", "requ\u00eate,doc_id,score\n".encode("latin-1"), "names of the columns are not UTF-8"),
        (
            "run.csv.gz",
            gzip.compress("requ\u00eate,score\n".encode("latin-1"), mtime=0),
            "columns are not UTF-8",
        ),
        ("qrels.tsv", b"q1\t0\td1\t1\n", r"line 1: neither 'q1' .* give TREC text another ending"),
        ("utf16.csv", "query_id,doc_id,score\n".encode("utf-16"), "save it as UTF-8"),
        ("bad.csv", b"qid,docid\n1,2\n", r"no column named score or sim; it has qid, docid"),
    ],
)
def test_what_is_no_text_file_or_table_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TrecError, match=message) as caught:
        (read_qrels if name.startswith("qrels") else read_run)(tmp_path / name)
    assert name in str(caught.value)


def test_a_damaged_gzip_file_is_refused(tmp_path):
    """Whatever the damage does: to the packed data, its length, or its check sum."""
    path = tmp_path / "run.gz"
    whole = gzip.compress("".join(f"q Q0 d{i} 1 {i} t\n" for i in range(40)).encode())
    for place in range(15, 90, 5):
        packed = bytearray(whole)
        packed[place] ^= 0x55
        path.write_bytes(packed)
        with pytest.raises(TrecError, match="damaged or cut short"):
            read_run(path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_whole_and_one_of_a_table_is_refused(tmp_path, packed):
    """The bytes read to detect gzip are not lost; there are more than a pipe's buffer holds."""
    text = "".join(f"q Q0 d{i} {i} {-i} t\n" for i in range(10_000)).encode()
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[gzip.compress(text) if packed else text])
    writer.start()
    run = read_run(path)
    writer.join()
    assert (len(run.score), run.doc.name(0), run.doc.name(9_999)) == (10_000, "d0", "d9999")
    for name in ("pipe.csv", "pipe.parquet"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(TrecError, match="write it to a file"):
            read_run(tmp_path / name)


@pytest.mark.parametrize("comment", ["", "\n# lines are then read one by one"])
def test_marks_white_space_of_other_kinds_and_comments_change_no_id(tmp_path, comment):
    text = "\ufeffq Q0 a\u00a0b 1e30 1 t\nq\tQ0 \x0b\x0c  2 .5 my tag"
    run = read_run(written(tmp_path, text + comment))
    assert [run.query.name(0), run.doc.name(0), run.doc.name(1)] == ["q", "a\u00a0b", "\x0b\x0c"]
    assert run.score.tolist() == [1.0, 0.5]
    assert run.rank is None


@pytest.mark.parametrize("more", ["", "# judged by hand\n", "# q 0 d\n", "#a b c d e\n"])
def test_ids_that_begin_as_comments_do_are_read(tmp_path, more):
    """AP is 1 for both queries; it was 0.5 while `#1` vanished."""
    qrels = read_qrels(written(tmp_path, f"#1 0 d 1\n{more}2 0 d 1\n"))
    run = read_run(written(tmp_path, f"{more}#1 Q0 d 1 1 my tag\n2 Q0 d 1 1 t\n", "run.txt"))
    scores = evaluate(run, qrels, ["ap"], "trec_eval")
    assert (scores.query_ids, scores.values.tolist()) == (("#1", "2"), [[1.0], [1.0]])


def test_exported_ids_begin_no_comment():
    assert trec_run([Ranking("#1", ("#d",), (1.0,))], "s") == "%231 Q0 #d 1 1.0 s\n"
    assert trec_qrels([("#1", "#d", 2), ("%1", "d", 0)]) == "%231 0 #d 2\n%251 0 d 0\n"


BOMBS = {
    "zeros.gz": (b"\0" * (1 << 20), "longer than 32 MB"),
    "lines.gz": (b"\n" * (1 << 20), "unpacks to more than 100 times its size"),
    "rows.txt.gz": (b"q Q0 d 1 1 t\n" * 80_000, "unpacks to more than 100 times its size"),
    "rows.csv.gz": (
        b"query_id,doc_id,score\n" + b"q,d,1\n" * 150_000,
        "unpacks to more than 100 times its size",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_gzip_file_that_unpacks_without_end_is_refused_on_the_way(tmp_path, monkeypatch, name):
    unit, message = BOMBS[name]
    if "times" in message:
        monkeypatch.setattr(lines, "_FREE_BYTES", 1 << 20)
    (tmp_path / name).write_bytes(gzip.compress(unit, compresslevel=1) * 400)
    with pytest.raises(TrecError, match=message):
        read_run(tmp_path / name)


def test_what_a_gzip_file_may_unpack_to_is_counted_while_it_is_read(tmp_path, monkeypatch):
    """No more is unpacked than the error needs: a block of the reader beyond the limit."""
    monkeypatch.setattr(lines, "_FREE_BYTES", 1 << 20)
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"q Q0 d 1 1 t\n" * 1_000_000))
    seen = []

    def read_all():
        with lines.open_unpacked(path) as file:
            while data := file.read(1 << 16):
                seen.append(len(data))

    with pytest.raises(TrecError, match="unpacks to more than"):
        read_all()
    assert 0 < sum(seen) <= 100 * path.stat().st_size + (1 << 20)


BYTES, EMPTY = pa.array([b"a", b"\xff"]), pa.array(["a", ""])
NO_IDS = [
    (BYTES, "bytes that are not UTF-8 text"),
    (BYTES.dictionary_encode(), "bytes that are not UTF-8 text"),
    (pa.array([b"ab", b"\xffd"], pa.binary(2)), "an id is text or a number; the column holds fixed_size"),
    ([["a"], ["b"]], "an id is text or a number; the column holds list"),
    (EMPTY, "row 2: the id is empty"),
    (EMPTY.dictionary_encode(), "row 2: the id is empty"),
]
NO_GRADES = [
    ([[1], [2]], "a grade is a number; the column holds list"),
    ([b"1", b"2"], "a grade is a number; the column holds binary"),
    ([date(2026, 1, 1), date(2026, 1, 2)], "a grade is a number; the column holds date"),
    (pa.array([1, 2**63], pa.uint64()), "row 2: the grade 9223372036854775808 is too large"),
    ([1.0, 1e300], r"row 2: the grade 1e\+300 is too large"),
    ([1.0, 1.5], r"row 2: the grade 1.5 is not a whole number"),
]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        *((column, *row) for column in ("query_id", "doc_id") for row in NO_IDS),
        *(("grade", *row) for row in NO_GRADES),
    ],
)
def test_columns_that_hold_no_ids_or_no_grades_are_refused(tmp_path, column, values, message):
    table = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "grade": [1, 2], column: values}
    parquet.write_table(pa.table(table), tmp_path / "qrels.parquet")
    with pytest.raises(TrecError, match=message) as caught:
        read_qrels(tmp_path / "qrels.parquet")
    assert "qrels.parquet" in str(caught.value)


def test_a_damaged_parquet_file_is_refused_by_name_or_read(tmp_path):
    """A cut or a flipped bit anywhere: the error names the file, and nothing else comes out of it."""
    path = tmp_path / "run.parquet"
    table = {
        "query_id": [f"q{i // 20}" for i in range(400)],
        "doc_id": [f"document-{i % 20}" for i in range(400)],
        "score": [float(-i) for i in range(400)],
    }
    parquet.write_table(pa.table(table), path)
    whole, rng, refused = path.read_bytes(), random.Random(1), 0
    qrels = qrels_from_dict({"q1": {"document-3": 1}})
    for number in range(150):
        damaged = bytearray(whole)
        if number % 5:
            damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        else:
            del damaged[rng.randrange(len(whole)) :]
        path.write_bytes(damaged)
        try:
            evaluate(read_run(path), qrels, ["ap"])
        except TrecError as error:
            assert "run.parquet" in str(error)  # noqa: PT017
            refused += 1
    assert refused > 50


def test_a_parquet_file_of_endless_equal_rows_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_FREE_ROWS", 0)
    rows = 4_000_000
    column = pa.array(np.zeros(rows, np.int64))
    parquet.write_table(
        pa.table({"query_id": column, "doc_id": column, "score": column}), tmp_path / "r.parquet"
    )
    with pytest.raises(TrecError, match=f"{rows} rows in so few bytes"):
        read_run(tmp_path / "r.parquet")


def test_decimals_and_coded_text_are_numbers(tmp_path):
    coded = pa.array(["1", "3"]).dictionary_encode()
    for grades in ([Decimal(1), Decimal(3)], coded):
        # bytes that are text are ids
        parquet.write_table(
            pa.table({"qid": [b"q", b"q"], "docid": ["a", "b"], "rel": grades}), tmp_path / "q.parquet"
        )
        qrels = read_qrels(tmp_path / "q.parquet")
        assert (qrels.query.name(0), qrels.grade.tolist()) == ("q", [1, 3])


def test_ranks_that_say_nothing_of_the_order_are_dropped(tmp_path):
    for rank in ("inf", "x", "1.5", "1e300"):
        assert read_run(written(tmp_path, f"q Q0 d {rank} 2.5 t\n")).rank is None
    # many tools write a rank of 0 everywhere; then the scores decide: b, a, and of equals the first
    run = read_run(written(tmp_path, "q Q0 a 0 1.0 t\nq Q0 b 0 2.0 t\nq Q0 c 0 1.0 t\n"))
    for doc, expected in {"b": 1.0, "a": 1 / 2, "c": 1 / 3}.items():
        assert evaluate(run, qrels_from_dict({"q": {doc: 1}}), ["rr"], "harness").means() == {"rr": expected}


def test_exports_keep_our_order_in_trec_eval(tmp_path):
    ranking = Ranking("#1", ("a", "z", "c"), (1.0, 1.0 + 1e-12, 1.0))
    run = read_run(written(tmp_path, trec_run([ranking], "s"), "run.txt"))
    qrels = read_qrels(written(tmp_path, trec_qrels([("#1", "a", 4), ("#1", "z", 1)]), "qrels.txt"))
    assert [run.doc.name(i) for i in range(3)] == ["a", "z", "c"]
    for convention in ("trec_eval", "harness"):
        assert evaluate(run, qrels, ["ndcg_exp@10"], convention).means()["ndcg_exp@10"] == 1.0


def test_tables(tmp_path):
    run = read_run(written(tmp_path, "qid,docid,score\n007,d1,2\n007,d2,1\nNA,null,1\n", "run.CSV"))
    assert (run.query.name(0), run.query.name(2), run.doc.name(2)) == ("007", "NA", "null")
    beir = tmp_path / "beir" / "qrels"
    beir.mkdir(parents=True)
    written(beir, "query-id\tcorpus-id\tscore\n007\td2\t1\n", "test.tsv")
    scores = evaluate(run, read_qrels(tmp_path / "beir"), ["rr"], "trec_eval")
    assert scores.means() == {"rr": 0.5}


def test_seed_ratio_ignores_which_passage_is_good_and_can_exceed_1():
    # predicted 4 3 2 1 0 against a judge who gave 3 2 0 0 0, in whatever order
    expected = (15 + 7 / 1.584962500721156 + 3 / 2 + 1 / 2.321928094887362) / (7 + 3 / 1.584962500721156)
    assert seed_ratio([4, 3, 2, 1, 0], [0, 2, 0, 3, 0]) == pytest.approx(expected)
    assert seed_ratio([4, 3, 2, 1, 0], [3, 2, 0, 0, 0]) == pytest.approx(expected)
    assert expected > 1
    assert seed_ratio([1, 0], [0, 0]) == 0
    with pytest.raises(ValueError, match="not 1 and 2"):
        seed_ratio([1], [0, 0])


@pytest.mark.parametrize("name", ["run.txt", "run.csv", "run.parquet"])
def test_a_repeat_below_what_is_looked_at_is_an_error_in_trec_files_only(tmp_path, name):
    """As docs/conventions.md says."""
    rows = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)]
    path = tmp_path / name
    if name.endswith("txt"):
        path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows))
        with pytest.raises(TrecError, match="row 3: document a is ranked twice for query q"):
            read_run(path)
        return
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    run, qrels = read_run(path), qrels_from_dict({"q": {"a": 1}})
    assert evaluate(run, qrels, ["rr@2"]).means() == {"rr@2": 1.0}
    for measures in (["rr@3"], ["rr@2", "ap"]):
        with pytest.raises(TrecError, match="row 3: document a is ranked twice for query q"):
            evaluate(run, qrels, measures)
