"""The labelling page looks like report.html, and its assets name nothing outside this machine."""

import re
from importlib.resources import files

import pytest

OURS = files("harness.label_page") / "assets"
REPORT = files("harness.report") / "page" / "assets" / "page.css"
SELECTORS = (":root {", ':root[data-theme="dark"]')


def colours(css, selector):
    block = css[css.index(selector) :]
    return dict(re.findall(r"--([a-z0-9-]+):\s*([^;]+);", block[: block.index("}")]))


@pytest.mark.parametrize("selector", SELECTORS)
def test_colours_are_those_of_the_report(selector):
    own = colours((OURS / "label.css").read_text(encoding="utf-8"), selector)
    theirs = colours(REPORT.read_text(encoding="utf-8"), selector)
    assert len(own) > 10
    assert own == {name: theirs[name] for name in own}


def test_dark_is_the_same_by_choice_and_by_the_system():
    css = (OURS / "label.css").read_text(encoding="utf-8")
    assert colours(css, ":root:not([data-theme") == colours(css, ':root[data-theme="dark"]')


def test_assets_load_nothing_from_elsewhere():
    for asset in OURS.iterdir():
        text = asset.read_text(encoding="utf-8")
        assert not re.search(r"https?://|@import|url\(|//cdn", text), asset.name
        assert "innerHTML" not in text, asset.name


def test_every_module_of_the_page_that_is_imported_is_there():
    names = {asset.name for asset in OURS.iterdir()}
    for asset in OURS.iterdir():
        if asset.name.endswith(".js"):
            found = re.findall(r"from '\./([a-z.]+)'", asset.read_text(encoding="utf-8"))
            assert set(found) <= names, asset.name
