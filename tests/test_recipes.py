"""The recipes of docs/recipes.md on the shipped collection, whole; the model answers by rules."""

import re
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.rule_endpoint import QUERIES, Rules, server
from harness.measures.answer.measures import ANSWER_MEASURES
from harness.running.bench.flow import run_bench
from harness.running.config.load import load_config
from harness.values.progress import Silent
from tests.command import save_table, table
from tests.testset.helpers import run

ROOT = Path(__file__).parent.parent
RECIPES = ROOT / "configs" / "recipes"
ENDPOINT = re.compile(r"endpoint: (?:&endpoint )?\{model: rules.*\}")
WITH_MODEL = ("ten_k", "rag", "answer_measures", "testset")
STEPS = ("propose", "choose", "gather", "grade", "answer", "review", "export")
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")


@contextmanager
def endpoint():
    """The URL of a server that answers by rules."""
    with server(0, Rules.of(QUERIES)) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://localhost:{serving.server_port}/v1"
        serving.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of the cache and the results, for all recipes."""
    return tmp_path_factory.mktemp("recipes")


def written(name, folder, url=""):
    """A recipe with its cache and results in ``folder``, at another endpoint."""
    text = (RECIPES / f"{name}.yaml").read_text(encoding="utf-8").replace("http://localhost:8000/v1", url)
    path = folder / f"{name}.yaml"
    path.write_text(f"{text}cache: {folder}/cache\nresults: {folder}/results\n", encoding="utf-8")
    return path


def ran(name, folder, monkeypatch):
    """The folder of the results of a recipe."""
    monkeypatch.chdir(ROOT)
    with endpoint() as url:
        return run_bench(load_config(written(name, folder, url)), Silent())[1]


def means(results, measure, split="all", stage="retrieve"):
    """The mean of a measure by setting, to two decimals."""
    return {
        row["setting"]: f"{float(row['mean']):.2f}"
        for row in table(results / "summary.csv")
        if (row["measure"], row["split"], row["stage"]) == (measure, split, stage)
    }


@pytest.mark.parametrize("name", WITH_MODEL)
def test_a_key_takes_one_line(name):
    text = (RECIPES / f"{name}.yaml").read_text(encoding="utf-8")
    other = re.search(r"With a key, replace the line of the endpoint:\n# +(endpoint: .*)", text)[1]
    # one line in the comment's place, and nothing else names the local model
    assert len(ENDPOINT.findall(text)) == 1
    changed = ENDPOINT.sub(other, text)
    assert "localhost" not in changed.split("\nname:")[-1]
    assert "model: gpt-4.1" in changed.replace(other, "", 1)


@pytest.mark.slow
def test_the_ten_k_recipe_cannot_see_an_order(folder, monkeypatch, real_models):
    results = ran("ten_k", folder, monkeypatch)
    for split in ("train", "validation"):
        for stage in ("retrieve", "rerank"):
            # distinct scores of five passages are one set whatever the passages say
            assert set(means(results, "seed_ratio@5", split, stage).values()) == {"1.00"}
            assert 0 < float(means(results, "ndcg_exp@5", split, stage)["base"]) < 1


@pytest.mark.slow
def test_rag_answers_from_the_passages_or_refuses(folder, monkeypatch, real_models):
    results = ran("rag", folder, monkeypatch)
    replies = {(row["setting"], row["query_id"]): row["answer"] for row in table(results / "replies.csv")}
    assert len(replies) == 2 * 14
    assert {answer for (_, query), answer in replies.items() if query in ("mq020", "mq091")} == {
        "I cannot answer this from the passages."
    }
    assert "39,717" in {answer for (_, query), answer in replies.items() if query == "mq001"}


@pytest.mark.slow
def test_every_measure_of_answers_has_a_value(folder, monkeypatch, real_models):
    results = ran("answer_measures", folder, monkeypatch)
    scored = {row["measure"] for row in table(results / "answer_summary.csv") if int(row["n_queries"])}
    # the criterion has a name of its own
    assert scored == {*ANSWER_MEASURES} - {"aspect_critic"} | {"figure"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hybrid_vectors", "table_rows"])
def test_the_page_has_the_figures(name, folder, monkeypatch, real_models):
    results = ran(name, folder, monkeypatch)
    part = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
    for measure, column in zip(head[1:], zip(*(row[1:] for row in rows), strict=True), strict=True):
        assert means(results, measure) == dict(zip((row[0] for row in rows), column, strict=True))


@pytest.mark.slow
def test_the_path_to_a_reviewed_test_set(folder, monkeypatch, real_models):
    monkeypatch.chdir(ROOT)
    own = folder / "reviewed"
    own.mkdir()
    with endpoint() as url:
        (own / "testset.yaml").write_text(written("testset", folder, url).read_text(encoding="utf-8"))
        sheet = folder / "second.csv"
        steps = re.findall(r"^harness testset reviewed (.*?) *(?:#.*)?$", PAGE, re.MULTILINE)
        for step in steps:
            words = step.replace("second.xlsx", str(sheet)).split()
            if "--from" in words:
                graded(sheet)
            assert run("testset", own, *words) in (0, None), step
    assert {step.split()[0] for step in steps} == {*STEPS}
    assert len(table(own / "proposed.csv")) == 150
    assert sum(row["keep"] == "yes" for row in table(own / "chosen.csv")) == 100
    assert len(table(own / "export" / "labels.csv")) == 900
    # the person's grades are in the datasheet beside the model's, with their agreement
    assert "Ann" in (own / "export" / "datasheet.md").read_text(encoding="utf-8")


def graded(sheet):
    """A person finds that every passage of a sheet answers."""
    rows = [{**row, "grade": 4} for row in table(sheet)]
    assert len(rows) == 270
    save_table(sheet, rows)
