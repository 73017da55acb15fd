"""The recipe of configs/tesla_10k.yaml, whole, with a local endpoint and embedded models."""

import json
import re
from pathlib import Path

import pytest

from harness.running import load_config, run_bench
from harness.values import Silent
from tests.command import table
from tests.judge.fake_server import FakeServer, grade, says

ROOT = Path(__file__).parent.parent
RECIPE = (ROOT / "configs" / "tesla_10k.yaml").read_text(encoding="utf-8")
QUESTIONS = """\
query_id,text,split
revenue,{asked},train
footballer,What did Lionel Messi contribute to the results?,validation
genius,Is the founder of the company a genius?,train
"""
ON_SUBJECT = re.compile("company|director|officer|founder", re.IGNORECASE)


def judge_of(answer):
    """Grades as a careful person would: the figure answers; the subject alone is a 1; the rest is 0."""

    def script(request, number=0):
        text = request["body"]["messages"][-1]["content"]
        query, passages = text.split("<passage 1", 1)
        count = re.search(r"These are (\d+) pairs", text)
        if count:
            # the recipe's prompt wants distinct scores, so the judge has to invent an order
            return says(json.dumps({"scores": [*range(int(count[1]))][::-1]}))
        if "genius" in query:
            return grade(1 if ON_SUBJECT.search(passages) else 0)
        return grade(4 if "Messi" not in query and answer in passages else 0)

    return script


@pytest.fixture
def recipe(tmp_path):
    """The recipe's file with the two models overridden, over another document and at a local endpoint."""

    def write(document, asked, url, prompt="pointwise"):
        (tmp_path / "queries.csv").write_text(QUESTIONS.format(asked=asked))
        changes = {
            "documents: corpora/tesla_10k/tesla-10k-2023.pdf": f"documents: '{document}'",
            "queries: corpora/tesla_10k/queries.csv": f"queries: '{tmp_path}/queries.csv'",
            "endpoint: {": f"endpoint: {{base_url: '{url}', api_key_env: null, ",
            "prompt: pointwise": f"prompt: {prompt}",
            "model: sentence-transformers/all-MiniLM-L6-v2": "model: 'embedded:all-MiniLM-L6-v2'",
            "rerank: {kind: cross_encoder, model: cross-encoder/ms-marco-MiniLM-L-6-v2, top_n: 5}": (
                "rerank: {kind: late_interaction, top_n: 5}"
            ),
        }
        text = RECIPE + f"cache: {tmp_path}/cache\nresults: {tmp_path}/results\n"
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "recipe.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path)

    return write


def values(folder, measure):
    return {
        (row["query_id"], row["stage"]): float(row["value"]) if row["value"] else None
        for row in table(folder / "per_query.csv")
        if row["measure"] == measure
    }


def check_the_lesson(recipe, document, asked, answer):
    """Returns the rows of the table in docs/tesla.md."""
    rows = []
    with FakeServer(judge_of(answer)) as server:
        for prompt in ("pointwise", "seed_list"):
            _, folder = run_bench(recipe(document, asked, server.url, prompt=prompt), Silent())
            ndcg, ratio = values(folder, "ndcg_exp@5"), values(folder, "seed_ratio@5")
            rows += [
                row_of(folder, query, prompt, ndcg, ratio) for query in ("revenue", "footballer", "genius")
            ]
            if prompt == "pointwise":
                # neither the irrelevant question nor the tricky one gets an NDCG
                assert [query for (query, _), value in ndcg.items() if value] == ["revenue"] * 2
                assert ratio["footballer", "rerank"] == 0
            else:
                # distinct scores are one set whatever the question: both figures are something to be proud of
                assert all(0.5 < value <= 1 for value in (*ndcg.values(), *ratio.values()))
    return rows


def row_of(folder, query, prompt, ndcg, ratio):
    """What the page has of one query with one prompt."""
    ranked = {
        stage: [
            row for row in table(folder / "rankings.csv") if (row["query_id"], row["stage"]) == (query, stage)
        ]
        for stage in ("retrieve", "rerank")
    }
    order = [row["chunk_id"] for row in ranked["rerank"]]
    return [
        query,
        f"`{prompt}`",
        " ".join(row["grade"] for row in ranked["retrieve"]),
        " ".join(str(len(order) - 1 - order.index(row["chunk_id"])) for row in ranked["retrieve"]),
        *(as_shown(ndcg[query, stage]) for stage in ranked),
        as_shown(ratio[query, "rerank"]),
    ]


def as_shown(value):
    return "none" if value is None else f"{value:.2f}"


@pytest.mark.slow
def test_on_the_shipped_filing(recipe, real_models):
    document = ROOT / "corpora" / "meridian" / "documents" / "meridian-10k-2025.pdf"
    rows = check_the_lesson(recipe, document, "What were Meridian's total revenues in 2025?", "25,125")
    page = (ROOT / "docs" / "tesla.md").read_text(encoding="utf-8").replace("**", "")
    printed = re.findall(r"(?m)^\| (?:revenue|footballer|genius) \|.*$", page)
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in printed] == rows


@pytest.mark.slow
def test_on_a_real_filing(recipe, shared_corpora):
    document = shared_corpora / "financebench" / "pdfs" / "COSTCO_2021_10K.pdf"
    check_the_lesson(recipe, document, "How many membership warehouses did Costco operate?", "815")
