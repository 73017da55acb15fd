"""The pages of README and docs/: the index names every page, links lead somewhere, README is short."""

import re

import pytest
import yaml

from harness.running.config.load import load_config
from tests.docs_commands import PAGES, ROOT
from tests.test_docs_commands import MINE

INDEX = ROOT / "docs" / "README.md"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def headings(page):
    """What a link to a heading of a page ends with, as Markdown renderers name it."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_heading(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not heading or heading in headings(target), link


def test_the_index_has_a_line_for_every_page():
    text = INDEX.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert all(len(LINK.findall(line)) == 1 for line in lines)
    named = [link.partition("#")[0] for link in LINK.findall(text)]
    assert sorted(one for one in named if not one.startswith("..")) == sorted(
        page.name for page in INDEX.parent.glob("*.md") if page != INDEX
    )
    assert "(docs/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "docs/own-documents.md"])
def test_the_configurations_of_a_page_are_valid(name, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(
        r"^```yaml\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert blocks
    for block in blocks:
        path = tmp_path / "my.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(MINE) | yaml.safe_load(block)), encoding="utf-8")
        assert len(load_config(path).settings) >= 1


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
