"""The pages that messages name are there, and messages name them by their path."""

import re
from pathlib import Path

from harness.values import guide

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "harness").rglob("*.py"))


def test_a_page_is_named_relative_to_the_working_folder_or_in_full(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    assert guide("judge.md") == "docs/judge.md"
    monkeypatch.chdir(tmp_path)
    assert guide("judge.md") == str(ROOT / "docs/judge.md")


def test_every_page_that_is_named_exists():
    named = {page for path in SOURCES for page in re.findall(r"guide\([\"'](.+?)[\"']\)", path.read_text())}
    assert len(named) > 5
    assert all((ROOT / "docs" / page).is_file() for page in named)
