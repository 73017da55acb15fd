"""``make studies``: what runs is compared, what cannot be loaded is named, and nothing is run twice."""

from pathlib import Path

import pytest
import yaml

from benchmarks import studies
from tests.models import tiny

ROOT = Path(__file__).parent.parent


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """The shipped collection of the plan, with a model made here and one that is nowhere."""
    monkeypatch.chdir(ROOT)
    plan = yaml.safe_load((ROOT / "configs" / "studies" / "models.yaml").read_text(encoding="utf-8"))
    base = {**plan["collections"]["lanchuan"], "cache": str(tmp_path / "cache")}
    made = tiny.bi_encoder(tmp_path / "made")
    plan["collections"] = {
        "lanchuan": base,
        "elsewhere": {**base, "queries": "corpora/elsewhere/queries.csv"},
    }
    plan["models"] = {
        "words": plan["models"]["words"],
        "made": {"retrieve": {"kind": "exact", "model": str(made), "top_k": 50}},
        "nowhere": {"retrieve": {"kind": "exact", "model": str(tmp_path / "nowhere"), "top_k": 50}},
    }
    path = tmp_path / "studies.yaml"
    path.write_text(yaml.safe_dump(plan, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.slow
def test_the_page_says_what_ran_and_what_did_not(plan, tmp_path):
    words = ["--config", str(plan), "--to", str(tmp_path / "out")]
    assert studies.main(words) == 0
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    # a head and two models, the better one first
    assert [row.split(" | ")[0] for row in rows] == ["| model", "| words", "| made"]
    assert "- **nowhere** could not be run: " in page
    assert "Not run: corpora/elsewhere/queries.csv is not there" in page
    record = (tmp_path / "out" / "lanchuan" / "record.json").read_bytes()
    assert studies.main(words) == 0
    # a run that is repeated has other timings in its record
    assert (tmp_path / "out" / "lanchuan" / "record.json").read_bytes() == record


def test_every_model_of_the_list_is_a_setting():
    plan = yaml.safe_load((ROOT / "configs" / "studies" / "models.yaml").read_text(encoding="utf-8"))
    for base in plan["collections"].values():
        made = studies.config("all", base, [*plan["models"].values()], "results")
        assert len(studies.harness.load_config(made).settings) == len(plan["models"])
