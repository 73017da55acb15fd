"""report.html in a real browser: no error, no request, nothing hostile runs, and it works by keyboard."""

from itertools import pairwise

import pytest

from harness.running import write_page
from tests.command import table, write_table
from tests.report.page_browser import MARKS, VIEWS
from tests.report.page_results import HOSTILE, TEXT, fuse, rewrite, write_folder

pytestmark = MARKS
SECTIONS = (
    *("glance", "answer", "names", "board", "differences", "curves", "reranked", "splits", "kinds", "price"),
    *("answers", "losses", "queries", "histograms", "method", "judged", "health", "origin", "conventions"),
    "terms",
)
DOCUMENT = HOSTILE + TEXT[len(HOSTILE) :]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_every_section_of_every_view_is_drawn_and_nothing_sticks_out(chromium, page, width, theme):
    chromium.open(page, width, theme)
    shown = chromium.run("return [...document.querySelectorAll('main section:not([hidden])')].map(s => s.id)")
    assert shown == list(SECTIONS)
    for section in SECTIONS:
        chromium.run("document.getElementById(arguments[0]).scrollIntoView()", section)
        plots = f"[...document.querySelectorAll('#{section} .plot')]"
        chromium.until(f"return {plots}.every(p => p.querySelector('svg'))")
        assert chromium.find(f"#{section}").rect["height"] > 40, section
    assert chromium.run("return [...document.querySelectorAll('canvas')].every(c => c.width > 10)")
    dark = chromium.run(
        "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 60"
    )
    assert dark == (theme == "dark")
    for view in VIEWS:
        chromium.find(f"#tabs [data-view={view}]").click()
        assert chromium.find("#tabs [aria-current=page]").get_attribute("data-view") == view
        assert chromium.run("return document.documentElement.scrollWidth") <= width, view


def test_tables_sort_by_their_headers_and_walk_by_arrow_keys(chromium, page):
    chromium.open(page)
    head = "#board th[data-key=train]"
    chromium.find(f"{head} button").click()
    assert chromium.find(head).get_attribute("aria-sort") == "descending"
    column = (
        "return [...document.querySelectorAll('#board tbody tr')]"
        ".map(r => parseFloat(r.cells[arguments[0]].textContent))"
    )
    place = chromium.run("return document.querySelector(arguments[0]).cellIndex", head)
    values = chromium.run(column, place)
    assert values == sorted(values, reverse=True)
    chromium.keys("ENTER")
    assert chromium.find(head).get_attribute("aria-sort") == "ascending"
    chromium.run("document.querySelector('#queries tbody tr').focus()")
    chromium.keys("ARROW_DOWN", "ARROW_DOWN")
    assert (
        chromium.run("return [...document.activeElement.parentNode.children].indexOf(document.activeElement)")
        == 2
    )
    chromium.keys("ENTER")
    assert chromium.run("return document.getElementById('drill').open")
    chromium.keys("ESCAPE")
    assert not chromium.run("return document.getElementById('drill').open")
    assert chromium.run("return document.activeElement.tagName") == "TR"


def opened(chromium, path):
    """Open the second question."""
    chromium.open(path if isinstance(path, str) else path.as_uri())
    chromium.choose("#queries [data-keep=order]", "file")
    chromium.run("document.querySelectorAll('#queries tbody tr')[1].click()")


def test_the_drill_down_shows_passages_with_their_evidence_marked(chromium, page):
    opened(chromium, page)
    assert chromium.find("#drill-title").text.startswith("What of q1?")
    passages = chromium.run(
        "return [...document.querySelectorAll('#drill .ranking:first-child .passage')].map(p => ["
        "p.querySelector('.passage-text').cloneNode(true), p.querySelector('.num:last-child')])"
        ".map(([t, n]) => {"
        "const marks = [...t.querySelectorAll('mark')].map(m => m.children[1].textContent);"
        "t.querySelectorAll('.hidden').forEach(h => h.remove());"
        "return [n.textContent.replace(/[^0-9–]/g, ''), t.textContent, marks]; })"
    )
    # six chunks of 600 characters are all that the best setting has
    assert len(passages) == 6
    # q1 is judged at 20 to 50, grade 1
    marked = 0
    for place, text, marks in passages:
        start, end = map(int, place.split("–"))
        assert text == DOCUMENT[start:end]
        inside = DOCUMENT[max(start, 20) : min(end, 50)] if start < 50 and end > 20 else ""
        assert "".join(marks) == inside
        marked += bool(inside)
    assert marked == 1
    assert {"grade 4", "unjudged"} <= set(chromium.find("#drill").text.splitlines())


def test_bars_of_losses_fill_their_row_whatever_the_steps(chromium, tmp_path):
    path, _ = write_page(fuse(write_folder(tmp_path / "r")))
    chromium.open(path.as_uri())
    # a name of a row is its setting, or that of one of its two routes
    bars = chromium.run(
        "const [kind, n] = [r => r.className.baseVal, (r, name) => parseFloat(r.getAttribute(name))];"
        "return [...document.querySelectorAll('#losses svg')].filter(s => s.querySelector('rect.left')).map("
        "s => [...s.querySelectorAll('rect')].filter(r => kind(r).match(/^(left|gain|loss-)/)).map("
        "r => [kind(r), n(r, 'x'), n(r, 'width')]))"
    )
    assert len(bars) == 6
    for bar in bars:
        # what was won back lies over what was lost before
        below = sorted((x, x + width) for kind, x, width in bar if kind != "gain")
        assert below[0][0] == 0
        assert below[-1][1] == pytest.approx(100, abs=0.01)
        assert all(one[1] == pytest.approx(other[0], abs=0.01) for one, other in pairwise(below))
        assert all(width >= 0 and x + width <= 100.01 for _, x, width in bar)


def test_hostile_text_is_shown_as_text(chromium, page):
    chromium.open(page)
    assert (
        chromium.run("return document.querySelectorAll('img, iframe, object, embed, base, form').length") == 0
    )
    assert chromium.run("return document.scripts.length") == 2
    assert "<script>window.hit=1</script>" in chromium.find("#names tbody").get_property("textContent")


@pytest.mark.parametrize(("settings", "queries"), [(1, 6), (2, 2), (3, 1)])
def test_small_results_make_a_whole_page(chromium, tmp_path, settings, queries):
    folder = write_folder(tmp_path / "r", settings=settings, queries=queries, extras=False)
    for name in ("rankings", "passages"):
        (folder / f"{name}.csv").unlink()
    path, _ = write_page(folder)
    chromium.open(path.as_uri())
    assert chromium.run("return document.querySelectorAll('#board tbody tr').length") == settings
    if queries < 5:
        assert chromium.run("return document.querySelectorAll('#board .whisker line').length") == 0
    assert "fewer than 10 queries" in chromium.find("#histograms").text
    chromium.run("document.querySelector('#queries tbody tr').click()")
    assert "no ranking" in chromium.find("#drill").text


def ranked(folder, setting):
    wanted = (setting, "rerank", "q1")
    rows = table(folder / "rankings.csv")
    return [row["chunk_id"] for row in rows if (row["setting"], row["stage"], row["query_id"]) == wanted]


def test_the_text_around_passages_shows_on_request(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=1, queries=2)
    end = max(int(chunk.rpartition("-")[2]) for chunk in ranked(folder, "chunk=200/0"))
    # no other passage may show what follows the last one
    rewrite(folder / "passages.csv", lambda row: row | {"text": "x"} if int(row["end"]) > end else row)
    columns = ("document", "start", "end", "text")
    write_table(folder / "surroundings.csv", columns, [("doc", end, end + 20, "what follows it here")])
    opened(chromium, write_page(folder)[0])
    shown = (
        "return [...document.querySelectorAll('#drill .around')].filter(n => n.offsetParent)"
        ".map(n => n.textContent)"
    )
    assert chromium.run(shown) == []
    chromium.find("#drill [data-keep=around]").click()
    found = chromium.run(shown)
    assert "After it: what follows it here …" in found
    # what other passages show is text around this one, too; what no file holds is not made up
    assert all(one.startswith(("Before it: … ", "After it: ")) for one in found)
