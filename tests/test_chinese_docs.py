"""The Chinese README and start pages: their links lead somewhere, and they say what the English pages say."""

import re

import pytest

from tests.docs_commands import BLOCK, INLINE, PAGES, ROOT, SHELL
from tests.test_docs_pages import LINK, headings

CHINESE = [ROOT / "README.zh.md", *sorted((ROOT / "docs" / "zh").glob("*.md"))]
ENGLISH = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
NUMBER = re.compile(r"\d+\.\d+")


def without_comment(line):
    return line.partition(" #")[0].strip()


def commands(text):
    """The commands of a page, in blocks and in sentences, without comments."""
    blocks = [block for block in BLOCK.finditer(text) if block[2] in SHELL]
    in_blocks = [without_comment(line) for block in blocks for line in block[3].splitlines() if line.strip()]
    prose = BLOCK.sub("", text)
    return {*in_blocks, *(" ".join(inline[1].split()) for inline in INLINE.finditer(prose))}


KNOWN = {*commands(ENGLISH), *(part.strip() for line in commands(ENGLISH) for part in line.split(" && "))}


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve()
        assert target.exists(), link
        assert not heading or heading in headings(target), link


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_its_commands_are_those_of_the_english_pages(page):
    shown = commands(page.read_text(encoding="utf-8"))
    assert shown
    assert shown - KNOWN == set()


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_what_it_quotes_of_the_output_and_its_figures_are_in_the_english_pages(page):
    text = page.read_text(encoding="utf-8")
    english = " ".join(ENGLISH.replace("\n> ", " ").split())
    for quoted in re.findall(r"^> (.+)$", text, re.MULTILINE):
        assert quoted in english
    figures = set(NUMBER.findall(BLOCK.sub("", text)))
    assert figures <= set(NUMBER.findall(ENGLISH))


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_the_configurations_of_a_page_are_valid(page, tmp_path, monkeypatch):
    import yaml

    from harness import load_config
    from tests.test_docs_commands import MINE

    monkeypatch.chdir(ROOT)
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block[2] == "yaml":
            assert load_config({**yaml.safe_load(MINE), **yaml.safe_load(block[3])}).settings


def test_the_english_pages_lead_to_them():
    assert "(README.zh.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in CHINESE[1:]:
        assert f"(zh/{page.name})" in index
