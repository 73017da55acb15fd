"""The page of claims: its figures are on the pages that it links to, and five tools give the same NDCG."""

import os
import re
import subprocess
from math import log2

import pytest
import yaml

from benchmarks import chunklab_sizes, same_ndcg
from harness.running import load_config, quick_part, run_bench
from harness.values import Silent
from tests.command import table
from tests.docs_commands import INLINE, ROOT
from tests.test_docs_pages import LINK

PAGE = ROOT / "docs" / "claims.md"
CLAIMS = re.findall(r"^\*\*.+?(?=^\*\*|^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"\d+\.\d+|\d+(?= queries)|\d+(?= documents)|\d+(?= filings)")
WORDS = re.compile(r"(?:nine|eleven) settings of twelve|no chunking of twelve")


def title(claim):
    return " ".join(claim[2:].split("**")[0].split())[:40]


def figures(text):
    # a minus may be a hyphen or a sign
    return {*FIGURE.findall(text), *WORDS.findall(" ".join(text.split()))}


@pytest.mark.parametrize("claim", CLAIMS, ids=title)
def test_a_claim_has_a_command_and_figures_of_the_pages_it_links_to(claim):
    assert INLINE.search(claim)
    pages = [ROOT / "docs" / link.partition("#")[0] for link in LINK.findall(claim)]
    assert pages
    said = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in pages)
    # these print what the page says; the machine of chunklab_sizes decides on its seconds
    if "same_ndcg" not in claim and "chunklab_sizes" not in claim:
        shown = figures(claim)
        assert shown
        assert {figure for figure in shown if figure not in said} == set()


def test_there_are_four_findings_and_four_comparisons():
    assert len(CLAIMS) == 8


@pytest.mark.slow
def test_the_comparison_with_chunklab_runs(tmp_path, monkeypatch):
    peer = os.environ.get("HARNESS_PEERS", "")
    if not peer or subprocess.run([peer, "-c", "import chunklab"], check=False).returncode:
        pytest.skip("set HARNESS_PEERS to a Python that has chunklab")
    runs = chunklab_sizes.measure(peer, queries=4, repeats=1)
    assert list(runs) == ["this harness", "chunklab"]
    assert all(run.cpu > 0 and run.megabytes > 20 for run in runs.values())


def test_both_tools_are_given_the_same_texts_queries_and_passages(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    chunklab_sizes.write_inputs(tmp_path, queries=3)
    (questions,) = yaml.safe_load((tmp_path / "questions.yaml").read_text(encoding="utf-8")).values()
    rows, texts = table(tmp_path / "labels.csv"), tmp_path / "texts"
    assert [question["id"] for question in questions] == [
        row["query_id"] for row in table(tmp_path / "queries.csv")
    ]
    for question in questions:
        spans = [row for row in rows if row["query_id"] == question["id"]]
        assert question["gold_snippets"] == [
            (texts / f"{row['document']}.txt").read_bytes().decode()[int(row["start"]) : int(row["end"])]
            for row in spans
        ]


RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 2.0, "e": 1.0}}
QRELS = {"q1": {"b": 4, "c": 1, "z": 2}, "q2": {"e": 3, "d": 0, "y": 4}}


@pytest.mark.slow
@pytest.mark.parametrize("tool", same_ndcg.TOOLS)
def test_five_tools_give_the_same_ndcg(tool):
    # the first of q1 is unjudged, z and y were not retrieved but are in the ideal
    first = (4 / log2(3) + 1 / 2) / (4 + 2 / log2(3) + 1 / 2)
    second = (3 / log2(3)) / (4 + 3 / log2(3))
    assert same_ndcg.TOOLS[tool](RUN, QRELS) == pytest.approx((first + second) / 2)


def test_keyword_search_over_the_included_collection_has_the_ndcg_of_the_claim(tmp_path, monkeypatch):
    # what `harness bench configs/quickstart.yaml --quick` runs; the test above gives all tools the same
    monkeypatch.chdir(ROOT)
    places = {"cache": tmp_path / "cache", "results": tmp_path / "results"}
    config = quick_part(load_config(ROOT / "configs/quickstart.yaml")).model_copy(update=places)
    shown = {
        name: f"{same_ndcg.by_harness(run, qrels):.6f} of {len(run)} queries"
        for name, run, qrels in same_ndcg.rankings_of(run_bench(config, Silent())[1])
    }
    assert shown == {
        "chunk=500-0_bm25.retrieve": "0.604713 of 130 queries",
        "chunk=1000-0_bm25.retrieve": "0.685077 of 130 queries",
    }
    (claim,) = (claim for claim in CLAIMS if "same_ndcg" in claim)
    assert "(130 queries, linear" in claim
    assert "0.604713 with chunks of 500 characters and of 0.685077 with 1,000" in claim
