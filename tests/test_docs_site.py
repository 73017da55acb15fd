"""The site of the docs: its navigation, links between pages, and the check that finds dead ones."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs_commands import PAGES, ROOT
from tests.report.page_browser import MARKS, Browser
from tools import docs_site, gallery, shipped
from tools.fresh_install import new_environment
from tools.package_index import NoIndexError
from tools.screenshots import load
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


@pytest.fixture(scope="module")
def zensical(tmp_path_factory):
    """The program that builds the site: the one on the path, that of `make site`, or one installed here."""
    of_make = ROOT / "build" / "site-env"
    if program := shutil.which("zensical"):
        return program
    if (of_make / ".done").exists():
        return of_make / "bin" / "zensical"
    environment = new_environment(tmp_path_factory.mktemp("zensical") / "environment")
    try:
        environment.install("--require-hashes", "--no-deps", "-r", str(ROOT / "requirements-docs.lock"))
    except NoIndexError:
        pytest.skip("needs a package index")
    return environment.python.with_name("zensical")


@pytest.fixture(scope="module")
def site(zensical, tmp_path_factory):
    """The site without its example pages, in a folder of its own: `make site` may be building another."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docs_site, "BUILD", folder)
        docs_site.stage(gallery=False)
    subprocess.run([zensical, "build", "--strict", "-f", folder / "zensical.toml"], check=True)
    return folder / "html"


class TestInABrowser:
    pytestmark = MARKS

    # what is searched is drawn in a shadow tree, which no selector enters
    FIELD = """
        const hosts = [...document.querySelectorAll('*')].filter(host => host.shadowRoot);
        return hosts.map(host => host.shadowRoot.querySelector('[role=combobox]')).find(field => field)"""
    HITS = """
        const hosts = [...document.querySelectorAll('*')].filter(host => host.shadowRoot);
        return hosts.flatMap(host => [...host.shadowRoot.querySelectorAll('a[href]')])"""

    def test_a_word_is_searched_and_a_hit_is_opened(self, site, driver):
        browser = Browser(driver)
        screen = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        load(driver, (site / "index.html").as_uri())
        browser.find(".md-search__button").click()
        browser.until(self.FIELD).send_keys("pgvector")
        hits = browser.until(f"const hits = (() => {{{self.HITS}}})(); return hits.length ? hits : null")
        places = [hit.get_attribute("href").removeprefix(f"{site.as_uri()}/") for hit in hits]
        names = [re.split(r"[?#]", place)[0] for place in places]
        assert [name for name in names if not (site / name).is_file()] == []
        assert len({*names}) > 1
        opened = names.index("stores.html")
        hits[opened].click()
        browser.until("return document.title.startsWith('Stores') && document.readyState === 'complete'")
        assert driver.current_url.startswith((site / "stores.html").as_uri())
        heading = places[opened].partition("#")[2]
        assert browser.run("return document.getElementById(arguments[0]) !== null", heading)
        assert "pgvector" in browser.find("article").text
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
