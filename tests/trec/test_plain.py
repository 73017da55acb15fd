"""Runs and judgments read without pyarrow: the same values as in columns, and errors with their place."""

import gzip
import random

import numpy as np
import pandas as pd
import pytest

from harness.data import TrecError, evaluate
from harness.data.trec import plain, sources
from harness.measures import CONVENTIONS, parse_measure

NAMES = ("ndcg_lin@5", "ndcg_lin", "ndcg_exp@3", "ap", "rr", "precision@10", "recall@5", "judged@10")


def rows(seed):
    """Rows of a run and of judgments, in any order, with ties of scores and ranks, and a query's id."""
    rng = random.Random(seed)
    ranked, judged = [], []
    for query in range(20):
        documents = [*rng.sample(range(40), 25), 100 + query]
        if query % 7 != 3:
            ranked += [
                (
                    f"q{query}",
                    f"d{doc}" if doc < 100 else f"q{query}",
                    rng.randrange(12),
                    rng.randrange(6) / 4,
                )
                for doc in documents
            ]
        if query % 9 != 5:
            judged += [(f"q{query}", f"d{doc}", rng.choice([-1, 0, 1, 3])) for doc in documents[::3]]
            judged.append((f"q{query}", f"q{query}", 1))
    rng.shuffle(ranked)
    return ranked, list(dict.fromkeys(judged))


@pytest.fixture(params=["trec", "csv", "tsv.gz", "frames"])
def readers(request, tmp_path):
    """Reads a run and judgments in a form, given a module that reads."""

    def both(module, seed):
        ranked, judged = rows(seed)
        if request.param == "trec":
            run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
            run.write_text("".join(f"{q} Q0 {d} {rank} {score} t\n" for q, d, rank, score in ranked))
            qrels.write_text("".join(f"{q}\t0 {d} {grade}\n" for q, d, grade in judged))
            return module.read_run(run), module.read_qrels(qrels)
        frames = (
            pd.DataFrame(ranked, columns=["query_id", "doc_id", "rank", "score"]),
            pd.DataFrame(judged, columns=["Query-ID", "corpus-id", "score"]),
        )
        if request.param == "frames":
            return module.run_from_frame(frames[0]), module.qrels_from_frame(frames[1])
        paths = [tmp_path / f"{name}.{request.param}" for name in ("run", "qrels")]
        for path, frame in zip(paths, frames, strict=True):
            frame.to_csv(path, index=False, sep="," if request.param == "csv" else "\t")
        return module.read_run(paths[0]), module.read_qrels(paths[1])

    return both


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_values_are_those_of_columns(readers, convention):
    for seed in range(6):
        columns, lines = readers(sources, seed), readers(plain, seed)
        assert lines[0].depth == columns[0].depth
        assert lines[1].useful == columns[1].useful
        averaged = CONVENTIONS[convention].order == "score_ties_averaged"
        names = [name for name in NAMES if not averaged or parse_measure(name).family.startswith("ndcg")]
        for some in (names, names[:1]):
            expected, scores = (evaluate(*pair, some, convention) for pair in (columns, lines))
            assert sorted(scores.query_ids) == sorted(expected.query_ids)
            place = [scores.query_ids.index(query) for query in expected.query_ids]
            np.testing.assert_array_equal(scores.values[place], expected.values)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.txt", "q Q0 d 1 x t\n", "line 1: the score must be a number, not 'x'"),
        ("run.txt", "q Q0 d 1 1 t\nq Q0 d 2 1 t\n", "row 2: document d is ranked twice for query q"),
        ("qrels.txt", "q 0 d 1\nq 0 d 2\n", "row 2: document d is judged twice for query q"),
        ("qrels.csv", "qid,docid,grade\nq,d,1.5\n", "row 1: the grade 1.5 is not a whole number"),
        ("qrels.csv", "qid,docid,grade\nq,d,99999999999999999999\n", "is too large"),
        ("run.csv", "qid,docid,score\nq,d,1\n,d,1\n", "row 2: there is no id"),
        ("run.csv", "qid,docid,score\nq,d,1\nq,e,nan\n", "row 2: query q, document e: the score is not a"),
        ("run.csv", "qid,docid,score\nq,d,1\nq,e,1_0\n", "row 2: the score '1_0' is not a number"),
        ("run.csv", "qid,docid,score\nq,d,1\nq,e\n", "line 3: Expected 3 columns, got 2"),
        ("run.csv", "qid,docid\n1,2\n", "no column named score or sim; it has qid, docid"),
        ("run.csv", "qid,qid,docid,score\n1,2,d,1\n", "several columns named qid"),
        ("run.csv", "", "the file is empty"),
        ("qrels.tsv", "q1\t0\td1\t1\n", "line 1: neither 'q1' .* give TREC text another ending"),
        ("run.parquet", "PAR1", r"pip install 'ndcg-harness\[parquet\]'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(TrecError, match=message) as caught:
        (plain.read_qrels if name.startswith("qrels") else plain.read_run)(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.tsv", "requ\u00eate,doc_id,score\n".encode("latin-1")),
        ("run.csv", "query_id,doc_id,score\n".encode("utf-16")),
        ("run.csv.gz", gzip.compress(b"query_id,doc_id,score\nq,d,1\n", mtime=0)[:-4]),
    ],
    ids=["latin-1", "utf-16", "gzip cut short"],
)
def test_what_is_no_text_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TrecError, match=name):
        plain.read_run(tmp_path / name)


def test_ids_of_dictionaries_that_meet_a_table_are_text():
    with pytest.raises(TrecError, match="not 7"):
        plain.run_from_dict({"q": {7: 1.0}})
    with pytest.raises(TrecError, match="query q, document d: the grade is not a whole number"):
        plain.qrels_from_dict({"q": {"d": 1.5}})
