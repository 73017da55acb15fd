"""The pages that messages name are there, and messages name them by their path."""

import ast
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


def test_no_message_names_a_page_as_if_everybody_had_a_clone():
    """Descriptions of keys and columns may: they are printed in docs/ alone."""
    found = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = {
            text
            for node in ast.walk(tree)
            if isinstance(node, ast.keyword) and node.arg == "description"
            for text in ast.walk(node.value)
        }
        # docstrings, and descriptions that several keys share
        told |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr)
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("_TEXT"))
        }
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else ""
            if node not in told and isinstance(text, str) and re.search(r"\bdocs/[a-z-]+\.md", text):
                found.append((path.name, text))
    assert found == []
