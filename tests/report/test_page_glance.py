"""The first screen of report.html, and the views that its tabs lead to."""

import json
import re
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from harness.running import write_page
from tests.report.page_browser import MARKS
from tests.report.page_results import unpack, write_folder
from tests.report.test_page_browser import VIEWS

pytestmark = MARKS
MEASURES = ("ndcg_text@10000", "ndcg_exp@10", "judged@10")


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glance") / "r"
    write_folder(folder, settings=14, queries=40, measures=MEASURES)
    return write_page(folder)[0].as_uri()


def test_what_is_ruled_out_is_crossed_out_and_a_warning_is_told_apart_without_colour(chromium, swept):
    chromium.open(swept, every=False)
    assert len(chromium.all("#glance li.setting-row")) == 14
    marks = (
        "return [...document.querySelectorAll('#glance li.setting-row')].every(r => {"
        "const [dot, out] = [r.querySelector('.dots circle'), r.querySelector('.cross')];"
        "return r.classList.contains('out') ? out && !dot : dot && !out; })"
    )
    assert chromium.run(marks)
    # at the places that the payload has, which the picture in reports has too
    page = Path(url2pathname(urlparse(swept).path)).read_text(encoding="utf-8")
    payload = unpack(re.search(r'id="data">([^<]*)<', page)[1])
    places = {
        row["setting"]: row["drawn"][-1][2]
        for row in payload["statistics"][payload["headline"]]["glance"]["settings"]
    }
    shown = chromium.run(
        "return [...document.querySelectorAll('#glance li.setting-row')].map(r => "
        "[r.querySelector('.foreign').title, parseFloat(r.querySelector('circle') "
        "? r.querySelector('circle').getAttribute('cx') : r.querySelector('.dots svg').getAttribute('x'))])"
    )
    assert dict(shown) == pytest.approx({name: 100 * place for name, place in places.items()}, abs=0.001)
    bars = chromium.run(
        "return [...document.querySelectorAll('#glance li.setting-row .left-cell svg')].map(s => "
        "[...s.querySelectorAll('rect')].reduce((sum, r) => sum + parseFloat(r.getAttribute('width')), 0))"
    )
    assert bars == pytest.approx([100] * len(bars), abs=0.1)
    assert not chromium.all("#glance .warns")
    # the measure that is chosen in a view is that of the first screen, too
    chromium.choose("#measure", "judged@10")
    assert "not how good a ranking is" in chromium.find("#glance .sentence.warns").text
    # by a sign, and for those who hear the page
    assert chromium.find("#glance .warns svg").is_displayed()
    assert chromium.find("#glance .warns .hidden").get_property("textContent") == "Warning: "


def test_warnings_about_the_judge_stand_beside_its_name(chromium, tmp_path):
    folder = tmp_path / "r"
    write_folder(folder, settings=2, queries=40, measures=MEASURES)
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    record["judge"] = {"kind": "cosine", "name": "cosine of m"}
    for kind, said in (
        ("judge", "graded by cosine of m, with warnings"),
        ("models", "graded by cosine of m"),
    ):
        record["warnings"] = [{"kind": kind, "text": "It is partial.", "settings": [], "measures": []}]
        (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
        chromium.open(write_page(folder)[0].as_uri(), every=False)
        assert chromium.all("#glance .facts > span")[-1].text == said
        assert len(chromium.all("#glance .facts > span:last-child .term")) == (kind == "judge")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024), (1440, 900)])
def test_the_answers_to_five_questions_are_on_the_first_screen(chromium, swept, width, height):
    chromium.open(swept, width, every=False, height=height)
    bottoms = chromium.run(
        "return ['.sentence', '.sure', '.lost', '.next']"
        ".map(one => document.querySelector(`#glance ${one}`).getBoundingClientRect().bottom)"
    )
    assert bottoms == sorted(bottoms)
    assert bottoms[-1] <= height


def test_a_crossed_sweep_shows_what_each_factor_does(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=4, queries=40, measures=MEASURES)
    record = json.loads((folder / "record.json").read_text())
    for at, one in enumerate(record["config"]["settings"]):
        one["chunk"]["chunk_overlap"] = 0
        one["retrieve"] = {"kind": ("mine", "bm25")[at % 2]}
    (folder / "record.json").write_text(json.dumps(record))
    chromium.open(write_page(folder)[0].as_uri(), every=False)
    minus = chr(0x2212)
    shown = [one.text for one in chromium.all("#glance .factor b.num")]
    table = chromium.run("return [...document.querySelectorAll('#factors td.num b')].map(b => b.textContent)")
    assert len(shown) == 2
    exact = [float(one.replace(minus, "-")) for one in table]
    assert [float(one.replace(minus, "-")) for one in shown] == pytest.approx(exact, abs=0.0051)
    zero, tick = chromium.run(
        "const line = document.querySelector('#glance .zero');"
        "const box = line.getBoundingClientRect();"
        "const at = parseFloat(line.style.getPropertyValue('--at')) / 100;"
        "const tick = [...document.querySelectorAll('#glance .factor-axis .axis span')]"
        "  .find((one) => Number(one.textContent) === 0).getBoundingClientRect();"
        "return [box.left + at * box.width, tick.left + tick.width / 2]"
    )
    assert tick == pytest.approx(zero, abs=1)
    # a kind of somebody's own reads as ours do
    assert {"mine", "bm25"} <= {one.get_property("textContent") for one in chromium.all("#names dd code")}
    # a filled dot is a finding, a ring is none
    assert chromium.run(
        "return [...document.querySelectorAll('#glance .factor')].every(f => "
        "Boolean(f.querySelector('.found')) === Boolean(f.querySelector('.dots.use')))"
    )


def test_how_far_ahead_and_how_much_is_judged(chromium, swept):
    page = Path(url2pathname(urlparse(swept).path)).read_text(encoding="utf-8")
    payload = unpack(re.search(r'id="data">([^<]*)<', page)[1])
    found = payload["statistics"][payload["headline"]]
    settings = found["glance"]["settings"]
    own = next((one for one in settings if one["group"] == "use"), settings[0])
    others = [one for one in settings if one is not own]
    following = next((one for one in others if one["group"] != "out"), others[0])
    pair = {payload["settings"].index(one["setting"]) for one in (own, following)}
    difference = next(abs(row[2]) for row in found["pairs"]["rows"] if set(row[:2]) == pair)
    shares = [one["share"] for one in found["verdict"]["judged"]["settings"]]
    chromium.open(swept, every=False)
    lead, judged, *_ = (one.text for one in chromium.all(".sure dd"))
    far = f"{difference:.2f} {'ahead of' if own is settings[0] else 'behind'}"
    assert lead.startswith(far if difference >= 0.005 else "level with")
    assert following["words"] in lead
    assert f"{max(shares):.0%}" in judged


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_in_any_view_or_opened_question(chromium, swept, axe, width, theme):
    chromium.open(swept, width, theme, every=False)
    for view in VIEWS:
        chromium.find(f"#tabs [data-view={view}]").click()
        assert chromium.violations(axe) == [], view
    chromium.find("#tabs [data-view=queries]").click()
    chromium.run("document.querySelectorAll('#queries tbody tr')[2].click()")
    assert chromium.violations(axe) == [], "an opened question"
