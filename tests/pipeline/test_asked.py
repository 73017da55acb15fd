"""asked.csv: what was asked in place of every query."""

import csv

from harness.bench import run_bench
from harness.config import load_config
from harness.progress import Silent

from .conftest import QUERIES

DENSE = '{kind: chroma, model: "embedded:all-MiniLM-L6-v2", top_k: 5}'


def asked(folder):
    with (folder / "asked.csv").open(encoding="utf-8", newline="") as file:
        return [tuple(row.values()) for row in csv.DictReader(file)]


def test_every_query_of_a_rewritten_setting_and_route_stands_in_the_table(write_config):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve=f"""
  kind: rrf
  routes:
    - {DENSE}
    - {{kind: bm25, rewrite: {{kind: template, template: "({{query}})"}}}}""",
        rerank="null",
        more="rewrite: [null, {kind: statement}]\nmeasures: [ndcg_exp@3]",
    )
    _, folder = run_bench(load_config(path), Silent())
    rows = asked(folder)
    as_it_is, stated = sorted({setting for setting, *_ in rows}, key=lambda name: "statement" in name)
    steps = {}
    for setting, step, query_id, text in rows:
        steps.setdefault((setting, step), {})[query_id] = text
    whole = [as_it_is, "retrieve.bm25"], [stated, "retrieve.bm25"], [stated, "retrieve"]
    assert {tuple(one) for one in whole} <= steps.keys()
    assert (as_it_is, "retrieve") not in steps
    assert all(set(one) == {query[0] for query in QUERIES} for one in steps.values())
    assert steps[as_it_is, "retrieve.bm25"]["q5"] == "(Who is the chief executive?)"
    # a route rewrites what the setting's rewriter has made
    assert steps[stated, "retrieve"]["q5"] == "The chief executive is"
    assert steps[stated, "retrieve.bm25"]["q5"] == "(The chief executive is)"


def test_nothing_rewritten_is_no_table(write_config):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve="{kind: bm25}",
        rerank="null",
        more="measures: [ndcg_exp@3]",
    )
    _, folder = run_bench(load_config(path), Silent())
    assert not (folder / "asked.csv").exists()
