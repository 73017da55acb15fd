"""NDCG@10 of one run by this harness and by other tools, from a file, DataFrames or dictionaries.

A case prepares its input outside the clock (imports, and what the case starts from) and returns the function
to time; that returns the mean NDCG@10.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from pathlib import Path

MEASURE = "ndcg_lin@10"
Timed = Callable[[], float]


def frames(folder: Path):
    import pandas as pd

    return pd.read_parquet(folder / "run.parquet"), pd.read_parquet(folder / "qrels.parquet")


def nested(frame, value: str) -> dict[str, dict[str, float]]:
    """The fastest known conversion of a DataFrame to the dictionaries that other tools need."""
    result: dict[str, dict[str, float]] = {}
    columns = (frame["query_id"].tolist(), frame["doc_id"].tolist(), frame[value].tolist())
    for query, doc, number in zip(*columns, strict=True):
        inner = result.get(query)
        if inner is None:
            inner = result[query] = {}
        inner[doc] = number
    return result


def dictionaries(folder: Path):
    run, qrels = frames(folder)
    return nested(run, "score"), nested(qrels, "grade")


def ours_parquet(folder: Path) -> Timed:
    from harness.data.trec.evaluate import evaluate
    from harness.data.trec.sources import read_qrels, read_run

    def timed() -> float:
        run, qrels = read_run(folder / "run.parquet"), read_qrels(folder / "qrels.parquet")
        return evaluate(run, qrels, [MEASURE], "trec_eval").means()[MEASURE]

    return timed


def ours_frames(folder: Path) -> Timed:
    from harness.data.trec.evaluate import evaluate
    from harness.data.trec.sources import qrels_from_frame, run_from_frame

    run, qrels = frames(folder)
    return lambda: evaluate(run_from_frame(run), qrels_from_frame(qrels), [MEASURE], "trec_eval").means()[
        MEASURE
    ]


def ours_dicts(folder: Path) -> Timed:
    from harness.data.trec.evaluate import evaluate_dicts

    run, qrels = dictionaries(folder)
    return lambda: evaluate_dicts(run, qrels, [MEASURE], "trec_eval").means()[MEASURE]


def pytrec_eval_parquet(folder: Path) -> Timed:
    _pytrec_eval({}, {"q": {"d": 1}})
    return lambda: _pytrec_eval(*dictionaries(folder))


def pytrec_eval_frames(folder: Path) -> Timed:
    run, qrels = frames(folder)
    return lambda: _pytrec_eval(nested(run, "score"), nested(qrels, "grade"))


def pytrec_eval_dicts(folder: Path) -> Timed:
    run, qrels = dictionaries(folder)
    return lambda: _pytrec_eval(run, qrels)


def _pytrec_eval(run, qrels) -> float:
    import pytrec_eval

    values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run).values()
    return sum(value["ndcg_cut_10"] for value in values) / max(len(values), 1)


def python_parquet(folder: Path) -> Timed:
    return lambda: _python(*dictionaries(folder))


def python_frames(folder: Path) -> Timed:
    run, qrels = frames(folder)
    return lambda: _python(nested(run, "score"), nested(qrels, "grade"))


def python_dicts(folder: Path) -> Timed:
    run, qrels = dictionaries(folder)
    return lambda: _python(run, qrels)


def _python(run, qrels) -> float:
    """A version written by hand: no rule for ties, missing queries drop out."""
    discount = [1 / log2(rank + 2) for rank in range(10)]
    total, queries = 0.0, 0
    for query, scores in run.items():
        grades = qrels.get(query)
        if grades is None:
            continue
        queries += 1
        ideal = sum(map(float.__mul__, map(float, sorted(grades.values(), reverse=True)[:10]), discount))
        if ideal:
            top = sorted(scores, key=scores.get, reverse=True)[:10]
            total += sum(grades.get(doc, 0) * d for doc, d in zip(top, discount, strict=False)) / ideal
    return total / queries


def ir_measures_parquet(folder: Path) -> Timed:
    return lambda: _ir_measures(*frames(folder))


def ir_measures_frames(folder: Path) -> Timed:
    run, qrels = frames(folder)
    return lambda: _ir_measures(run, qrels)


def ir_measures_dicts(folder: Path) -> Timed:
    import ir_measures

    run, qrels = dictionaries(folder)
    return lambda: ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)[ir_measures.nDCG @ 10]


def _ir_measures(run, qrels) -> float:
    import ir_measures

    qrels = qrels.rename(columns={"grade": "relevance"})
    return ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)[ir_measures.nDCG @ 10]


def ranx_frames(folder: Path) -> Timed:
    """After ranx has compiled itself: the first of the repeats is the cold start."""
    import ranx

    run, qrels = frames(folder)
    # it knows one kind of text column, and only these kinds of numbers
    run = run.astype({"query_id": object, "doc_id": object, "score": "float64"})
    qrels = qrels.astype({"query_id": object, "doc_id": object, "grade": "int64"})

    def timed() -> float:
        return ranx.evaluate(
            ranx.Qrels.from_df(qrels, q_id_col="query_id", doc_id_col="doc_id", score_col="grade"),
            ranx.Run.from_df(run, q_id_col="query_id", doc_id_col="doc_id", score_col="score"),
            "ndcg@10",
            make_comparable=True,
        )

    return timed


def ranx_dicts(folder: Path) -> Timed:
    """After ranx has compiled itself: the first of the repeats is the cold start."""
    import ranx

    run, qrels = dictionaries(folder)
    return lambda: ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@10", make_comparable=True)


SOURCES = ("parquet", "frames", "dicts")
FAST = ("ours", "python", "pytrec_eval")
SLOW = ("ir_measures", "ranx")


def find(tool: str, source: str) -> Callable[[Path], Timed] | None:
    """The case of a tool from a source; None if the tool does not take that source."""
    return globals().get(f"{tool}_{source}")
