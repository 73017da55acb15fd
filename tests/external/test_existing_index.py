"""The recipe of docs/stores.md: an index of others beside what would be built, in one verdict."""

import csv
import json
from pathlib import Path

import pytest

import harness
from benchmarks.example_index import make_index
from harness.running import Session, load_config, run_bench
from harness.values import Silent
from tests.command import table
from tests.shipped_models import Models

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "configs" / "recipes" / "existing-index.yaml"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of Chroma with pieces of 1,500 characters, cut anywhere."""
    # what is checked is no figure, and a reranker of 10,000 passages takes minutes
    monkeypatch.setattr(Models, "real", False)
    with Session.at(tmp_path / "cache", Silent()) as session:
        make_index(tmp_path / "my-index", session, ROOT / "corpora" / "meridian" / "documents")
    return tmp_path / "my-index"


@pytest.mark.slow
def test_the_recipe_compares_an_index_with_what_would_be_built(index, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = RECIPE.read_text(encoding="utf-8").replace("path: corpora/local/my-index", f"path: {index}")
    (tmp_path / "recipe.yaml").write_text(f"{text}cache: {tmp_path}/cache\nresults: {tmp_path}/results\n")
    before = {path: path.read_bytes() for path in index.rglob("*") if path.is_file()}
    results, folder = run_bench(load_config(tmp_path / "recipe.yaml"), Silent())
    assert {path: path.read_bytes() for path in index.rglob("*") if path.is_file()} == before
    settings = {name for name, _ in results.runs if name}
    stored = {name for name in settings if "chroma" in name}
    assert (len(stored), len(settings)) == (2, 12)
    # one verdict over all of them, which names one with a bound
    verdict = harness.read_results(folder).verdict
    assert str(verdict)
    # it says what indexing again takes, unless it names the index as it is
    advised = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    if advised["advice"]["setting"] in settings - stored:
        assert advised["indexing_again"]["tokens"] > 0
        assert any("Indexing again as" in line["text"] for line in advised["lines"])
    scores = {
        row["setting"]: float(row["mean"])
        for row in table(folder / "summary.csv")
        if row["measure"] == "ndcg_evidence@5000" and row["split"] == "all" and row["mean"]
    }
    assert {*scores} == settings
    assert all(score > 0 for score in scores.values())
    # what an encoder would read to index again: a line of company and period for each chunk costs more
    read = {row["setting"]: int(row["index_tokens"]) for row in table(folder / "prices.csv")}
    assert all(read[name] > 0 for name in settings)
    plain = next(name for name in settings - stored if "fields" not in name and "minmax" not in name)
    assert any(read[name] > read[plain] for name in settings if "fields" in name)


def test_the_recipe_has_a_line_for_every_document():
    with (RECIPE.parent / "existing-index_documents.csv").open(encoding="utf-8") as file:
        named = {row["document"] for row in csv.DictReader(file)}
    assert named == {path.stem for path in (ROOT / "corpora" / "meridian" / "documents").iterdir()}
