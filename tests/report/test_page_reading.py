"""report.html in a real browser: what it shows says what it is, on small screens too."""

import json

import pytest

from harness.running.bench.page import write_page
from tests.report.page_browser import MARKS, check
from tests.report.page_results import write_folder

pytestmark = MARKS


def test_the_headline_says_that_it_is_of_the_last_stage_while_another_is_shown(chromium, page):
    chromium.open(page)
    aside = "the answer is of the last stage"
    assert aside not in chromium.find("#answer").text
    output = chromium.find("#answer .verdict").text
    chromium.choose("#stage", "retrieve")
    assert aside in chromium.find("#answer").text
    assert chromium.find("#answer .stepped-back .verdict").text == output
    # rerank is the last stage of every setting: nothing to say
    chromium.choose("#stage", "rerank")
    assert aside not in chromium.find("#answer").text
    check(chromium)


def test_losses_start_with_the_leader_of_the_chosen_measure(chromium, page):
    chromium.open(page)
    picked = (
        "return [document.querySelector('#losses select').selectedOptions[0].textContent,"
        "document.querySelector('.verdict').textContent]"
    )
    shown, leader = chromium.run(picked)
    assert f"{shown} leads" in leader or f"Use {shown}." in leader
    # nothing leads by how much was judged
    chromium.choose("#measure", "judged@10")
    shown, leader = chromium.run(picked)
    assert shown
    assert "not how good a ranking is" in leader
    chromium.choose("#losses select", "0")
    chromium.choose("#measure", "ndcg_exp@10")
    assert chromium.run("return document.querySelector('#losses select').value") == "0"
    check(chromium)


def test_a_small_screen_shows_the_group_and_that_the_board_goes_on(chromium, page):
    keys = "return [...document.querySelectorAll('#board thead th')].map(h => h.dataset.key)"
    chromium.open(page, 1440)
    assert chromium.run(keys)[:4] == ["setting", "n", "mean", "interval"]
    chromium.open(page, 390)
    assert chromium.run(keys)[:3] == ["setting", "group", "mean"]
    right = chromium.run(
        "return document.querySelector('#board tbody tr').cells[2].querySelector('b')"
        ".getBoundingClientRect().right"
    )
    assert right < 390 - 16
    chromium.until("return document.querySelector('#board .edged')?.matches('.goes-on')")
    chromium.run("document.querySelector('#board .scroll').scrollLeft = 9999")
    chromium.until("return document.querySelector('#board .edged')?.matches('.goes-on') === false")
    check(chromium)


def test_seconds_of_work_that_this_run_did_not_do_are_a_dash(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=3)
    record = json.loads((folder / "record.json").read_text())
    # none, a part, and all of the work was done in this run
    for noted, share in zip(record["counts"]["settings"].values(), (0, 0.4, 1), strict=True):
        noted["computed_share"] = {"retrieve": share, "rerank": share}
    (folder / "record.json").write_text(json.dumps(record))
    chromium.open(write_page(folder)[0].as_uri())
    cells = chromium.run(
        "const at = document.querySelector('#price th[data-key=seconds]').cellIndex;"
        "return [...document.querySelectorAll('#price tbody tr')].map(r => r.cells[at].textContent)"
    )
    assert sorted(cells) == ["5.50 s", "–", "–"]
    check(chromium)


@pytest.mark.parametrize("width", [390, 1440])
def test_no_label_of_the_cost_plot_lies_on_its_line(chromium, tmp_path, width):
    folder = write_folder(tmp_path / "r", settings=6, queries=24, measures=("ndcg_exp@10", "ndcg_text@5000"))
    chromium.open(write_page(folder)[0].as_uri(), width)
    chromium.until("return document.querySelector('#price .front') !== null")
    hollow = "return document.querySelectorAll('#price circle.off-front').length > 0"
    explained = "return document.querySelectorAll('#price .key.off-front').length > 0"
    assert chromium.run(hollow) == chromium.run(explained)
    crossed = chromium.run(
        "const front = document.querySelector('#price .front');"
        "const boxes = [...document.querySelectorAll('#price .point-label')].map(l => l.getBBox());"
        "const out = [];"
        "for (let at = 0; at <= front.getTotalLength(); at += 1) {"
        "  const p = front.getPointAtLength(at);"
        "  if (boxes.some(b => p.x > b.x && p.x < b.x + b.width && p.y > b.y && p.y < b.y + b.height))"
        "    out.push(at);"
        "}"
        "return out"
    )
    assert crossed == []
    check(chromium)


def test_a_small_screen_folds_the_judged_text_above_the_ranking(chromium, page):
    chromium.open(page, 390)
    chromium.run("document.querySelector('#queries tbody tr').click()")
    fold = "document.querySelector('#drill .judged-fold')"
    assert not chromium.run(f"return {fold}.open")
    above = f"{fold}.getBoundingClientRect().bottom <= document.querySelector('#drill .rankings')"
    assert chromium.run(f"return {above}.getBoundingClientRect().top")
    chromium.find("#drill .judged-fold summary").click()
    chromium.until(f"return {fold}.open && {fold}.querySelector('.grade') !== null")
    # it stays open from question to question
    chromium.find("#drill [data-keep=next]").click()
    assert chromium.run(f"return {fold}.open")
    chromium.open(page, 1440)
    chromium.run("document.querySelector('#queries tbody tr').click()")
    assert chromium.run(f"return {fold}") is None
    assert "Judged text" in chromium.find("#drill aside").text
    check(chromium)


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
    assert "fewer than 10 questions" in chromium.find("#histograms").text
    assert chromium.run("return document.querySelectorAll('#histograms rect.of-all').length") == 0
    check(chromium)


def test_the_share_judged_and_the_bounds_have_columns_of_their_own(chromium, tmp_path):
    measures = ("ndcg_exp@10", "ndcg_exp_upper@10", "judged@10")
    folder = write_folder(tmp_path / "r", settings=3, measures=measures)
    chromium.open(write_page(folder)[0].as_uri())
    keys = chromium.run("return [...document.querySelectorAll('#judged thead th')].map(h => h.dataset.key)")
    assert keys == ["setting", "judged@10", "judged@10-bar", "mean", "upper", "bounds"]
    assert chromium.run(
        "return [...document.querySelectorAll('#judged tbody svg')]"
        ".every(s => !(s.querySelector('.judged-bar') && s.querySelector('.bound-dot')))"
    )
    # with everything in sight, no shadow says that there is more
    assert chromium.run("return document.querySelector('#judged .edged').matches('.goes-on')") is False
    check(chromium)


def test_a_measure_that_cannot_compare_chunkings_has_no_front(chromium, page):
    chromium.open(page)
    chromium.until("return document.querySelectorAll('#price circle').length === 6")
    assert chromium.run("return document.querySelector('#price .front, #price .on-front')") is None
    said = chromium.run("return document.querySelector('#price .lede').textContent")
    assert said.startswith(
        "No line joins the settings that none beats: the measure compares only settings over"
    )
    assert chromium.run("return document.querySelectorAll('#price .point-label').length") > 0
    check(chromium)
