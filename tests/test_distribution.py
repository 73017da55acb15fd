"""The name under which the package is installed: another project has the name `harness` on the index."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUFFIXES = {".py", ".md", ".toml", ".yaml", ".js", ".html", ".txt"}
PLACES = ("harness", "docs", "tests", "tools", "configs", "benchmarks", "corpora")


def texts():
    files = [path for place in PLACES for path in (ROOT / place).rglob("*") if path.suffix in SUFFIXES]
    for path in [*files, *ROOT.glob("*.md"), ROOT / "pyproject.toml"]:
        if path != Path(__file__):
            yield path, path.read_text(encoding="utf-8")


def test_both_commands_are_the_same():
    assert PROJECT["name"] == "ndcg-harness"
    assert PROJECT["scripts"]["harness"] == PROJECT["scripts"]["ndcg-harness"] == "harness.cli:main"


@pytest.mark.parametrize("stranger", [r"(?<![\w-])harness\[(?=[a-z{])", r"pip install [\"']?harness\b"])
def test_no_sentence_installs_the_package_of_a_stranger(stranger):
    assert [path.name for path, text in texts() if re.search(stranger, text)] == []


def test_every_extra_that_a_sentence_names_exists():
    named = {
        extra.strip()
        for _, text in texts()
        for found in re.findall(r"ndcg-harness\[([a-z,0-9 ]+)\]", text)
        for extra in found.split(",")
    }
    assert named
    assert named <= set(PROJECT["optional-dependencies"])
