"""The site of the docs: its navigation, links between pages, and the check that finds dead ones."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs_commands import PAGES, ROOT
from tools import docs_site, gallery, shipped
from tools.site_links import dead_links


def test_a_dead_link_is_named_with_its_page_and_what_is_missing(tmp_path):
    (tmp_path / "index.html").write_text(
        '<h2 id="start">Start</h2><a href="#start">a</a><a href="more/page.html#there">b</a>'
        '<a href="/index.html">c</a><a href="https://example.org/x">d</a>'
        '<a href="gone.html">e</a><a href="more/page.html#missing">f</a><img src="picture.png">'
    )
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "page.html").write_text(
        '<h1 id="there">Page</h1><a href="../">up</a><a href="#no">g</a>'
    )
    assert dead_links(tmp_path) == [
        "index.html: gone.html: no such file",
        "index.html: more/page.html#missing: no such place on that page",
        "index.html: picture.png: no such file",
        "more/page.html: #no: no such place on that page",
    ]


def test_every_picture_that_a_page_shows_is_on_the_site_and_in_the_wheel():
    pictures = {
        f"docs/{name}"
        for page in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"!\[[^]]*\]\(([^):]+)\)", page.read_text("utf-8"))
    }
    assert {Path(picture).suffix for picture in pictures} == {".png", ".svg"}
    assert pictures <= set(docs_site.pages())
    in_wheel = {path.relative_to(ROOT).as_posix() for pattern in shipped.FILES for path in ROOT.glob(pattern)}
    assert pictures <= in_wheel


@pytest.mark.parametrize(
    ("page", "before", "after"),
    [
        ("README.md", "[a](docs/judge.md#batches)", "[a](judge.md#batches)"),
        ("docs/README.md", "[a](../README.md#two-commands)", "[a](index.md#two-commands)"),
        ("docs/judge.md", "![a](report.png) [b](#here)", "![a](report.png) [b](#here)"),
        ("docs/chinese.md", "[a](../corpora/lanchuan)", "[a](corpora/lanchuan.md)"),
        ("corpora/meridian/README.md", "[a](../../docs/meridian.md)", "[a](../meridian.md)"),
    ],
)
def test_links_are_as_the_site_has_the_pages(page, before, after):
    assert docs_site.on_site(page, before) == f"{after}\n"


def test_a_link_off_the_site_stops_the_build():
    with pytest.raises(ValueError, match=r"docs/judge\.md: the link \.\./harness/door\.py"):
        docs_site.on_site("docs/judge.md", "[code](../harness/door.py)")


def test_what_belongs_to_an_item_is_four_columns_in():
    text = "1. One:\n\n   ```csv\n   a,b\n   ```\n\n   More.\n2. Two\n\n- a\n  b\n\n    code\n"
    assert docs_site.indented(text) == (
        "1. One:\n\n    ```csv\n    a,b\n    ```\n\n    More.\n2. Two\n\n- a\n    b\n\n      code\n"
    )


def test_the_navigation_leads_to_every_page():
    def leaves(entry):
        if isinstance(entry, str):
            yield entry
        for part in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
            yield from leaves(part)

    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    named = set(leaves(docs_site.navigation(index)))
    # the index itself is the navigation
    expected = {docs_site.place_of(str(page.relative_to(ROOT))) for page in PAGES} - {"pages.md"}
    assert expected <= named


def test_the_gallery_has_the_pages_that_runs_have_left_and_says_by_what(tmp_path, monkeypatch):
    for example in gallery.EXAMPLES:
        assert (ROOT / "configs" / f"{example.config}.yaml").is_file()
        (tmp_path / "results" / example.name).mkdir(parents=True)
        (tmp_path / "results" / example.name / "report.html").write_text(example.title, encoding="utf-8")
    monkeypatch.setattr(gallery, "ROOT", tmp_path)
    gallery.write_gallery(tmp_path / "gallery")
    index = (tmp_path / "gallery" / "index.md").read_text(encoding="utf-8")
    for example in gallery.EXAMPLES:
        page = tmp_path / "gallery" / f"{example.name}.html"
        assert page.read_text(encoding="utf-8") == example.title
        assert f"[{example.title}]({example.name}.html)" in index
    assert "by `harness tune configs/recipes/tune.yaml`" in index


def test_a_run_of_answers_asks_the_rules_wherever_a_proxy_leads(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "localhost")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    body = {"model": "rules", "messages": [{"role": "user", "content": "<passage a>\nBy me.\n</passage a>"}]}
    asking = (
        "import httpx, json, sys; print(httpx.post('http://localhost:8000/v1/chat/completions', "
        "json=json.loads(sys.argv[1])).json()['id'])"
    )
    with gallery.environment(rules=True) as variables:
        done = subprocess.run(
            [sys.executable, "-c", asking, json.dumps(body)],
            env=variables,
            check=False,
            capture_output=True,
            text=True,
        )
    assert done.stdout == "rules\n", done.stderr
