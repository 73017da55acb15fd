"""NDCG@10 of the same rankings by five tools: python -m benchmarks.same_ndcg results/quickstart

Reads the runs and qrels that a benchmark has exported for other tools (runs/, qrels/), and gives the same to
each: this harness by trec_eval's rules, pytrec_eval, ir_measures, ranx and scikit-learn. Gains are linear, as
all five can. Documents are ranked as the file ranks them, which leaves no ties: what becomes of those is a
convention of each tool (docs/conventions.md). The last line is the largest difference in any row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import harness

Scores = dict[str, dict[str, Any]]
K = 10


def by_harness(run: Scores, qrels: Scores) -> float:
    return float(harness.score(run, qrels, [f"ndcg_lin@{K}"], convention="trec_eval").mean().iloc[0])


def by_pytrec_eval(run: Scores, qrels: Scores) -> float:
    import pytrec_eval

    scored = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{K}"}).evaluate(run)
    return float(np.mean([values[f"ndcg_cut_{K}"] for values in scored.values()]))


def by_ir_measures(run: Scores, qrels: Scores) -> float:
    import ir_measures

    return float(ir_measures.calc_aggregate([ir_measures.nDCG @ K], qrels, run)[ir_measures.nDCG @ K])


def by_ranx(run: Scores, qrels: Scores) -> float:
    import ranx

    return float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), f"ndcg@{K}"))


def by_scikit_learn(run: Scores, qrels: Scores) -> float:
    from sklearn.metrics import ndcg_score

    values = []
    for query, scores in run.items():
        # it draws the ideal from what is ranked: what is judged and was not retrieved is ranked last, below K
        # documents without a grade, so that it cannot fill a ranking that is shorter than K
        missing = [grade for document, grade in qrels[query].items() if document not in scores]
        last = min(scores.values())
        grades = [*(qrels[query].get(document, 0) for document in scores), *[0] * K, *missing]
        ranked = [*scores.values(), *[last - 1] * K, *[last - 2] * len(missing)]
        values.append(ndcg_score([grades], [ranked], k=K))
    return float(np.mean(values))


TOOLS: dict[str, Callable[[Scores, Scores], float]] = {
    "harness": by_harness,
    "pytrec_eval": by_pytrec_eval,
    "ir_measures": by_ir_measures,
    "ranx": by_ranx,
    "scikit-learn": by_scikit_learn,
}


def read(path: Path, column: int) -> Scores:
    """A file of TREC as {query: {document: rank or grade}}, by its column."""
    table: Scores = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.split()
        table.setdefault(parts[0], {})[parts[2]] = int(parts[column])
    return table


def rankings_of(folder: Path) -> Iterator[tuple[str, Scores, Scores]]:
    """The name, rankings and grades of each run that a folder of results holds.

    Only queries that are judged and ranked: what becomes of the others is a convention of each tool.
    """
    for path in sorted((folder / "runs").glob("*.trec")):
        setting = path.name.split(".")[0]
        qrels = read(folder / "qrels" / f"{setting}.trec", 3)
        ranks = {query: ranked for query, ranked in read(path, 3).items() if query in qrels}
        run = {query: {doc: -float(rank) for doc, rank in ranked.items()} for query, ranked in ranks.items()}
        yield path.stem, run, {query: qrels[query] for query in run}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="a folder of results, such as results/quickstart")
    folder = parser.parse_args().results
    print(f"| run | queries | {' | '.join(TOOLS)} |\n|---|--:|{'--:|' * len(TOOLS)}")
    largest = 0.0
    for name, run, qrels in rankings_of(folder):
        values = [tool(run, qrels) for tool in TOOLS.values()]
        largest = max(largest, max(values) - min(values))
        print(f"| {name} | {len(run)} | {' | '.join(f'{value:.6f}' for value in values)} |")
    print(f"\nLargest difference between two tools: {largest:.1e}")


if __name__ == "__main__":
    main()
