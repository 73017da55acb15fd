"""report.html keeps its state in the address, gives its tables and drawings as files."""

import time
import xml.etree.ElementTree as ET
from urllib.parse import parse_qs

import pytest

from harness.running import write_page
from tests.command import table
from tests.report.page_browser import MARKS
from tests.report.page_results import write_folder

pytestmark = MARKS


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("state") / "r", settings=6, queries=12)
    return write_page(folder)[0].as_uri()


def chosen(chromium):
    return {key: values[0] for key, values in parse_qs(chromium.run("return location.hash.slice(1)")).items()}


def test_a_link_brings_the_choices_back_and_back_undoes_them(chromium, plain):
    chromium.open(plain)
    assert chosen(chromium) == {}
    before = chromium.find("#board tbody").text
    chromium.choose("#measure", "judged@10")
    assert chromium.find("#board tbody").text != before
    assert "judged@10" in chromium.find("#answer .verdict").text
    chromium.choose("#stage", "retrieve")
    # tests look at the last stage alone
    assert chromium.run("return document.getElementById('differences').hidden")
    assert chosen(chromium) == {"measure": "judged@10", "stage": "retrieve"}
    link = chromium.run("return location.href")
    chromium.run("history.back()")
    chromium.until("return document.getElementById('stage').value === 'final'")
    assert chromium.find("#measure").get_property("value") == "judged@10"
    chromium.driver.get("about:blank")
    chromium.open(link)
    assert chromium.find("#stage").get_property("value") == "retrieve"
    assert "judged@10" in chromium.find("#board thead").text


def test_an_opened_question_has_an_address_and_back_closes_it(chromium, plain):
    chromium.open(plain)
    chromium.run("document.querySelectorAll('#queries tbody tr')[2].click()")
    title = chromium.find("#drill-title").text
    link = chromium.run("return location.href")
    assert set(chosen(chromium)) == {"query", "setting", "beside"}
    names = [one.text for one in chromium.all("#drill .ranking h3")]
    chromium.run("history.back()")
    chromium.until("return !document.getElementById('drill').open")
    chromium.driver.get("about:blank")
    chromium.open(link)
    assert chromium.find("#drill-title").text == title
    shown = [one.text for one in chromium.all("#drill .ranking h3")]
    assert shown == names
    chromium.keys("ESCAPE")
    chromium.until("return location.hash.length < 2")


def test_what_an_address_names_and_the_page_does_not_have_is_passed_over(chromium, plain):
    chromium.open(f"{plain}#measure=no&stage=none&split=x&order=constructor&a=gone&query=q99")
    assert chromium.find("#measure").get_property("value") == "ndcg_exp@10"
    assert not chromium.run("return document.getElementById('drill').open")
    chromium.driver.get("about:blank")
    chromium.open(f"{plain}#queries")
    assert chromium.run("return document.getElementById('queries').getBoundingClientRect().top") < 400


def saved(chromium, folder, selector):
    before = set(folder.iterdir())
    chromium.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    chromium.run("document.querySelector(arguments[0]).click()", selector)
    for _ in range(3_000):
        new = [one for one in folder.iterdir() if one not in before and one.suffix in (".csv", ".svg")]
        if new and new[0].stat().st_size:
            return new[0]
        time.sleep(0.1)
    raise AssertionError(f"nothing was saved by {selector}")


def test_tables_are_saved_as_csv(chromium, plain, tmp_path):
    chromium.open(plain)
    path = saved(chromium, tmp_path, "#board .save")
    assert path.name == "made-Leader-board.csv"
    rows = table(path)
    # the page has settings in words, files have their names
    assert [row["setting"] for row in rows] == chromium.names("#board tbody th")
    means = [float(row["mean"]) for row in rows]
    assert means == sorted(means, reverse=True)
    assert rows[0]["difference"] in ("", "0")
    assert {"factor-size", "factor-overlap"} <= set(rows[0])


def test_text_that_a_spreadsheet_would_run_is_saved_behind_an_apostrophe(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=2)
    for path in folder.glob("*.*"):
        text = path.read_text(encoding="utf-8").replace("chunk=200/0", "=1+1")
        path.write_text(text, encoding="utf-8")
    chromium.open(write_page(folder)[0].as_uri())
    out = tmp_path / "saved"
    out.mkdir()
    assert "'=1+1," in saved(chromium, out, "#board .save").read_text(encoding="utf-8")


DRAWINGS = {"curves": "path", "reranked": "line", "price": "circle", "queries": "rect", "losses": "rect"}


def test_drawings_are_saved_as_svg_with_their_style(chromium, plain, tmp_path):
    chromium.open(plain)
    chromium.until("return [...document.querySelectorAll('.plot')].every(p => p.querySelector('svg'))")
    for section, elements in DRAWINGS.items():
        path = saved(chromium, tmp_path, f"#{section} .save[aria-label*=SVG]")
        root = ET.parse(path).getroot()
        assert len(list(root.iter(f"{{http://www.w3.org/2000/svg}}{elements}"))) > 3, section
        assert not [one for one in root.iter() if one.get("class")], section
        text = path.read_text(encoding="utf-8")
        assert "var(" not in text
        assert "color(" not in text
        # with what the colours mean, where the page has a legend
        legend = chromium.run(f"return document.querySelector('#{section} .legend li')?.innerText")
        assert (legend or "") in "\n".join(root.itertext()), section
