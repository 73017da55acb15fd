"""report.html in a real browser: no error, no request, nothing hostile runs, and it works by keyboard."""

from itertools import pairwise

import pytest

from harness.running.bench.page import write_page
from tests.bench.test_table_rows import PLAN, run_rows
from tests.command import write_table
from tests.report.page_browser import MARKS
from tests.report.page_results import HOSTILE, TEXT, fuse, write_folder

pytestmark = MARKS
SECTIONS = (
    *("glance", "answer", "names", "board", "differences", "curves", "reranked", "splits", "kinds", "price"),
    *("answers", "losses", "queries", "histograms", "method", "judged", "health", "origin", "conventions"),
    "terms",
)
DOCUMENT = HOSTILE + TEXT[len(HOSTILE) :]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_every_section_is_drawn_and_nothing_sticks_out(chromium, page, width, theme):
    chromium.open(page, width, theme)
    shown = chromium.run("return [...document.querySelectorAll('main section:not([hidden])')].map(s => s.id)")
    assert shown == list(SECTIONS)
    for section in SECTIONS:
        chromium.run("document.getElementById(arguments[0]).scrollIntoView()", section)
        assert chromium.run(
            "return document.getElementById(arguments[0]).getBoundingClientRect().height > 40", section
        )
    assert chromium.run("return document.documentElement.scrollWidth") <= width
    chromium.until("return [...document.querySelectorAll('.plot')].every(p => p.querySelector('svg'))")
    assert chromium.run("return [...document.querySelectorAll('canvas')].every(c => c.width > 10)")
    dark = chromium.run(
        "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 60"
    )
    assert dark == (theme == "dark")


def test_a_measure_a_stage_and_a_split_change_the_whole_page(chromium, page):
    chromium.open(page)
    before = chromium.find("#board tbody").text
    chromium.choose("#measure", "judged@10")
    assert "judged@10" in chromium.find("#board thead").text
    assert "judged@10" in chromium.find("#answer .verdict").text
    assert chromium.find("#board tbody").text != before
    chromium.choose("#measure", "ndcg_exp@10")
    chromium.choose("#stage", "retrieve")
    # tests look at the last stage alone
    assert chromium.run("return document.getElementById('differences').hidden")
    chromium.choose("#stage", "final")
    chromium.choose("#split", "validation")
    assert chromium.find("#queries [role=status]").text.startswith("8 queries shown")


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
    chromium.keys(
        "ARROW_DOWN",
    )
    chromium.keys("ARROW_DOWN")
    assert (
        chromium.run("return [...document.activeElement.parentNode.children].indexOf(document.activeElement)")
        == 2
    )
    chromium.keys("ENTER")
    assert chromium.run("return document.getElementById('drill').open")
    chromium.keys("ESCAPE")
    assert not chromium.run("return document.getElementById('drill').open")
    assert chromium.run("return document.activeElement.tagName") == "TR"


def test_questions_are_found_by_text_type_and_order(chromium, page):
    chromium.open(page)
    chromium.run("document.querySelector('#queries [data-keep=find]').focus()")
    chromium.keys("of q11?")
    chromium.until(
        "return document.querySelector('#queries [role=status]').textContent.startsWith('1 query ')"
    )
    assert chromium.run("return document.activeElement.dataset.keep") == "find"
    chromium.keys("zzz")
    chromium.until("return document.querySelector('#queries .nothing') !== null")
    chromium.run(
        "const f = document.querySelector('#queries [data-keep=find]'); f.value = '';"
        "f.dispatchEvent(new Event('input'))"
    )
    chromium.until("return document.querySelector('#queries canvas') !== null")
    chromium.choose("#queries [data-keep=type]", "kind1")
    assert chromium.find("#queries [role=status]").text.startswith("8 queries")
    for order in ("worst", "difference", "file"):
        chromium.choose("#queries [data-keep=order]", order)


def test_the_drill_down_shows_passages_with_their_evidence_marked(chromium, page):
    chromium.open(page)
    chromium.choose("#queries [data-keep=order]", "file")
    chromium.run("document.querySelectorAll('#queries tbody tr')[1].click()")
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
    read = chromium.find("#drill").text
    assert "grade 4" in read
    assert "unjudged" in read
    chromium.choose("#drill [data-keep=other]", "1")
    assert len(chromium.all("#drill .ranking")) == 2
    chromium.choose("#drill [data-keep=stage]", "retrieve")
    chromium.find("#drill [data-keep=s3]").click()
    assert chromium.find("#drill [data-keep=s3]").get_attribute("aria-pressed") == "true"
    chromium.find("#drill [data-keep=next]").click()
    assert chromium.find("#drill-title").text.startswith("What of q2?")
    chromium.find("#drill [data-keep=close]").click()


def test_the_drill_down_says_what_was_asked_in_place_of_the_question(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=1, queries=2)
    name = "chunk=200/0"
    rows = [
        ("retrieve", "q0", 1, "first <b>wording</b>"),
        ("retrieve", "q0", 2, "second wording"),
        ("retrieve", "q1", 1, "What of q1? "),
        ("retrieve.bm25", "q0", 1, "first <b>wording</b>"),
        ("retrieve.bm25", "q0", 2, "second wording"),
        ("retrieve.chroma", "q1", 1, "a name"),
    ]
    columns = ("setting", "step", "query_id", "number", "text")
    write_table(folder / "asked.csv", columns, ((name, *row) for row in rows))
    chromium.open(write_page(folder)[0].as_uri())
    chromium.choose("#queries [data-keep=order]", "file")
    chromium.run("document.querySelectorAll('#queries tbody tr')[0].click()")
    # the route that asked what its fusion asked is not said again; the other one asked nothing
    output = [one.text for one in chromium.all("#drill .asked li")]
    assert output == [
        "asked by retrieve first <b>wording</b> · second wording",
        "asked by retrieve.chroma nothing",
    ]
    chromium.find("#drill [data-keep=next]").click()
    output = [one.text for one in chromium.all("#drill .asked li")]
    assert output == ["asked by retrieve.bm25 nothing", "asked by retrieve.chroma a name"]


def test_pairs_losses_costs_and_folds_answer(chromium, page):
    chromium.open(page)
    chromium.run("document.querySelector('#differences canvas').focus()")
    assert "against" in chromium.find("#differences .readout").text
    before = chromium.find("#losses tbody").text
    chromium.choose("#losses select", "0")
    assert chromium.find("#losses tbody").text != before
    # these settings were computed in part only, so their seconds are no cost to plot
    offered = chromium.run("return [...document.querySelector('#price select').options].map(o => o.value)")
    assert offered == ["tokens_read", "index_tokens"]
    chromium.choose("#price select", "index_tokens")
    chromium.until(
        "return document.querySelector('#price .axis-title')?.textContent === 'tokens in the index'"
    )
    for fold in chromium.all("#origin .body summary"):
        fold.click()
    assert "0000" in chromium.find("#origin").text
    assert "gain: exponential" in chromium.find("#conventions").text
    chromium.find("#board input").send_keys("400/1")
    chromium.until("return document.querySelectorAll('#board tbody tr').length === 1")


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
    heads = chromium.run("return [...document.querySelectorAll('#losses thead th')].map(h => h.textContent)")
    assert [head.rstrip(" ↑↓") for head in heads[-3:]] == [
        "ranked too low",
        "by the rerank step",
        "by the rerank_again step",
    ]


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
    chromium.run("document.querySelector('#queries tbody tr').click()")
    assert "no ranking" in chromium.find("#drill").text


def test_a_row_shows_the_heading_of_its_table_and_what_is_judged_in_both(chromium, tmp_path):
    _, folder = run_rows(tmp_path, tmp_path / "cache", "{kind: rows}")
    path, _ = write_page(folder)
    chromium.open(path.as_uri())
    chromium.choose("#queries [data-keep=order]", "file")
    chromium.run("document.querySelectorAll('#queries tbody tr')[1].click()")
    passages = chromium.run(
        "return [...document.querySelectorAll('#drill .passage-text')].map(p => {"
        "const marks = [...p.querySelectorAll('mark')].map(m => m.children[1].textContent);"
        "p = p.cloneNode(true);"
        "p.querySelectorAll('.hidden').forEach(h => h.remove());"
        "return [p.textContent, marks]; })"
    )
    head, _, second, *_ = PLAN.splitlines(keepends=True)
    # the mark stands where text between heading and row is left out
    assert [f"{head} […] {second.strip()}", [head.strip(), second.strip()]] in passages
    assert all(text.startswith(head) and marks[0] == head.strip() for text, marks in passages)


def test_histograms_share_a_scale_and_are_left_out_of_a_handful(chromium, page, tmp_path):
    chromium.open(page)
    tall, bins, largest = chromium.run(
        "const panels = [...document.querySelectorAll('#histograms .smalls')[0].children];"
        "const tall = Math.max(...panels.map(p => Math.max(...[...p.querySelectorAll('rect')]"
        ".map(r => r.getAttribute('height')))));"
        "const sums = panels.map(p => [...p.querySelectorAll('rect')]"
        ".reduce((sum, r) => sum + Number(r.getAttribute('height')), 0));"
        "const told = document.querySelector('#histograms').textContent;"
        "return [tall, sums, Number(/height is (\\d+)/.exec(told)[1])]"
    )
    assert tall == pytest.approx(58)
    # 24 questions under every setting, so on one scale the bars of every panel are as high together
    assert bins == pytest.approx([24 * 58 / largest] * 6)
    folder = write_folder(tmp_path / "r", settings=2, queries=9)
    chromium.open(write_page(folder)[0].as_uri())
    assert "fewer than 10 queries" in chromium.find("#histograms").text
    assert chromium.run("return document.querySelectorAll('#histograms rect.of-all').length") == 0
