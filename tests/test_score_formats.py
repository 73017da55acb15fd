"""`harness score` says the same of the same data in every format, and of every part that may be missing."""

import csv
import gzip
import io
from math import log2

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.command import run

FORMATS = ("txt", "gz", "csv", "tsv", "parquet", "beir")
RUN = {"q1": {"b": 9.5, "a": 9.0}, "q2": {"d": 1.0}}
QRELS = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"d": 1}}
# q1 finds a at the second rank; the ideal is a, c. q2 is perfect.
Q1 = (3 / log2(3)) / (3 + 1 / log2(3))

CASES = {
    # name: run, qrels, mean under trec_eval (missing queries drop out), trec_eval_c (they are 0), harness
    "whole": (RUN, QRELS, (Q1 + 1) / 2, (Q1 + 1) / 2, (Q1 + 1) / 2),
    "no run": ({}, QRELS, None, 0.0, 0.0),
    "part of a run": ({"q2": RUN["q2"]}, QRELS, 1.0, 1 / 2, 1 / 2),
    "no qrels": (RUN, {}, None, None, None),
    "part of the qrels": (RUN, {"q1": QRELS["q1"]}, Q1, Q1, Q1),
    "neither": ({}, {}, None, None, None),
    # k is 10 in all cases, and no list that long; here the lists are one long
    "k larger than the list": ({"q1": {"b": 1.0}, "q2": {"d": 1.0}}, QRELS, 1 / 2, 1 / 2, 1 / 2),
    # nothing to find: 0 for trec_eval, no value for the harness
    "all grades 0": (RUN, {"q1": {"a": 0, "b": 0}, "q2": {"d": 0}}, 0.0, 0.0, None),
    # ties: trec_eval puts the higher id first (d c b a: c at rank 2), the harness keeps the order (a first)
    "ties everywhere": (
        {"q1": dict.fromkeys("abcd", 1.0)},
        {"q1": {"a": 1}},
        1 / log2(5),
        1 / log2(5),
        1.0,
    ),
}


def rows(nested):
    return [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]


def columns(nested, number):
    table = rows(nested)
    kind = pa.float64() if number == "score" else pa.int64()
    return {
        "query_id": pa.array([row[0] for row in table], pa.string()),
        "doc_id": pa.array([row[1] for row in table], pa.string()),
        number: pa.array([row[2] for row in table], kind),
    }


def as_text(nested, number):
    if number == "score":
        return "".join(f"{q} Q0 {d} 0 {score} t\n" for q, d, score in rows(nested))
    return "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in rows(nested))


def as_lines(nested, number, delimiter):
    lines = [("query_id", "doc_id", number), *rows(nested)]
    return "".join(delimiter.join(map(str, line)) + "\n" for line in lines)


def written(folder, name, nested, number, form):
    """The data as a file of a format; runs have no BEIR folder and are TREC text beside one."""
    path = folder / f"{name}.{'txt' if form == 'beir' else form}"
    if form == "parquet":
        parquet.write_table(pa.table(columns(nested, number)), path)
    elif form in ("csv", "tsv"):
        path.write_text(as_lines(nested, number, "," if form == "csv" else "\t"))
    elif form == "gz":
        path.write_bytes(gzip.compress(as_text(nested, number).encode()))
    elif form == "beir" and number == "grade":
        path = folder / "beir"
        (path / "qrels").mkdir(parents=True)
        lines = [("query-id", "corpus-id", "score"), *rows(nested)]
        (path / "qrels" / "test.tsv").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    else:
        path.write_text(as_text(nested, number))
    return str(path)


def score(capsys, *words):
    return run(capsys, "score", *words)


# how a file with nothing in it, and one without ranks, is read depends on the format; the rest does not
OF_FORMATS = ("whole", "no run", "no qrels", "ties everywhere")


@pytest.mark.parametrize(
    ("case", "form"),
    [(case, form) for case in CASES for form in FORMATS if case in OF_FORMATS or form == FORMATS[0]],
)
def test_every_part_that_may_be_missing_in_every_format(tmp_path, capsys, case, form):
    ranked, qrels, *expected = CASES[case]
    if form in ("txt", "gz", "beir") and case == "ties everywhere":
        # a TREC run has a rank column, which the harness believes
        expected[2] = 1.0
    files = (
        *("--run", written(tmp_path, "run", ranked, "score", form)),
        *("--qrels", written(tmp_path, "qrels", qrels, "grade", form)),
    )
    for convention, value in zip(("trec_eval", "trec_eval_c", "harness"), expected, strict=True):
        words = ("--measures", "ndcg_lin@10", "--format", "csv", "--convention", convention)
        code, out, err = score(capsys, *files, *words)
        assert code == 0, err
        (row,) = csv.DictReader(io.StringIO(out))
        assert (row["query_id"], row["measure"]) == ("all", "ndcg_lin@10")
        assert (float(row["value"]) if row["value"] else None) == (
            None if value is None else pytest.approx(value, abs=1e-12)
        ), (convention, err)
