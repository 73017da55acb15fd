"""docs/retrieval.md: its synonyms do what it says, its figures are those of its commands."""

import re
from pathlib import Path

import pytest

from harness.running import load_config, run_bench
from harness.steps import Analyser, Synonyms
from harness.values import Silent

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8")
TABLES_OF_FIGURES = {
    "meridian_retrieval": PAGE.partition("<!-- meridian")[2].partition("<!-- end -->")[0],
    "meridian_entities": PAGE.partition("<!-- entities")[2].partition("<!-- end -->")[0],
    "meridian_late_interaction": PAGE.partition("<!-- late interaction")[2].partition("<!-- end -->")[0],
}


def test_the_synonyms_on_the_page_do_what_is_said_of_them():
    terms = Analyser("auto", "long").terms
    rules = Synonyms.parse(re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1], "synonyms.txt", terms)
    assert rules.expand(terms("The capex")) == terms("capex capital expenditure")
    assert rules.expand(terms("CEO")) == terms("chief executive officer")


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES_OF_FIGURES)
def test_the_figures_are_those_of_the_command(name, tmp_path, computed, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = load_config(ROOT / "configs" / f"{name}.yaml")
    results, _ = run_bench(
        config.model_copy(update={"results": tmp_path / "results", "cache": computed}), Silent()
    )
    means = {(row.setting, row.stage, row.measure): row.mean for row in results.summary if row.split == "all"}
    table = TABLES_OF_FIGURES[name].splitlines()
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table if "|" in line]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    assert {row["setting"] for row in rows} == {setting for setting, _, _ in means}
    for row in rows:
        setting, stage = row.pop("setting"), row.pop("stage", "retrieve")
        expected = [float(cell) for cell in row.values()]
        # figures of a model move in their last digits between processors
        assert expected == pytest.approx([means[setting, stage, measure] for measure in row], abs=0.01)
