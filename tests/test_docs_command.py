"""`harness docs`: all pages as one file that needs no network, single pages, and the list of them."""

import re
from pathlib import Path

import pytest

from tests.command import printed, refused, run
from tests.docs_commands import ROOT
from tests.report.page_browser import MARKS
from tools.screenshots import load
from tools.site_links import dead_links

DOCS = ROOT / "docs"
NAMES = {path.relative_to(DOCS).as_posix().removesuffix(".md") for path in DOCS.rglob("*.md")} - {"README"}


@pytest.fixture
def page(tmp_path, capsys):
    """The file with all pages."""
    target = tmp_path / "docs" / "all.html"
    assert printed(capsys, "docs", "--output", target).strip() == str(target)
    return target


def test_the_file_holds_every_page_and_no_link_in_it_is_dead(page):
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r'<article id="([^"]+)"', text)) == {"start", *NAMES}
    assert dead_links(page.parent) == []
    assert 'href="#judge--cheaper-judges"' in text
    # what leads to no page in the file is text
    assert "CONTRIBUTING.md" not in re.findall(r'href="([^"]*)"', text)
    assert not re.search(r'(?:src|href)="(?!data:|#|https://)', text)
    # each picture as what it is
    assert {*re.findall(r'src="data:([^;]+);', text)} == {"image/png", "image/svg+xml"}


def test_without_output_it_lies_in_the_home_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    shown = Path(printed(capsys, "docs").strip())
    assert shown.is_relative_to(tmp_path)
    assert "<article" in shown.read_text(encoding="utf-8")


def test_a_page_is_opened_by_its_name(tmp_path, capsys):
    target = tmp_path / "all.html"
    assert printed(capsys, "docs", "judge.md", "--output", target).strip() == f"{target.as_uri()}#judge"


def test_a_browser_opens_it_where_there_is_a_screen(tmp_path, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("harness.cli.commands.docs.can_show_pages", lambda: True)
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert printed(capsys, "docs", "hits", "--output", tmp_path / "all.html") == ""
    assert opened == [f"{(tmp_path / 'all.html').as_uri()}#hits"]


def test_the_list_names_every_page(capsys):
    listed = printed(capsys, "docs", "--list")
    assert {name for name in NAMES if name not in listed} == set()


def test_text_is_the_page_as_it_was_written(capsys):
    for name, path in (("errors", "errors.md"), (None, "README.md")):
        words = ["docs", *([name] if name else []), "--text"]
        assert run(capsys, *words)[1] == (ROOT / "docs" / path).read_text(encoding="utf-8")


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(capsys):
    message = refused(capsys, "docs", "jugde")
    assert "judge?" in message
    assert "harness docs --list" in message


class TestInABrowser:
    pytestmark = MARKS

    def test_pages_are_shown_alone_and_searched(self, page, driver):
        load(driver, f"{page.as_uri()}#judge--cheaper-judges")
        shown = "return [...document.querySelectorAll('article')].filter(a => !a.hidden).map(a => a.id)"
        assert driver.execute_script(shown) == ["judge"]
        field = driver.find_element("css selector", "nav input")
        field.send_keys("late interaction")
        hits = driver.find_elements("css selector", "#search-hits a")
        assert hits
        hits[0].click()
        assert driver.execute_script(shown) == [hits[0].get_attribute("hash")[1:].partition("--")[0]]
        field.clear()
        field.send_keys("zzzyx")
        assert "No section" in driver.find_element("css selector", "#search-count").text
        severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert severe == []
