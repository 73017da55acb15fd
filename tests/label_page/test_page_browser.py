"""The labelling page in a real browser: everything a rater does, clicked and typed through."""

import json
import signal
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from harness.labels import Envelope, PageState
from tests.label_page.pools import ITEMS, PLAIN, STRANGE, part, write_folder
from tests.label_page.served import Page
from tests.report.page_browser import MARKS, Browser

pytestmark = MARKS
LYON = ITEMS[0]


class Tab(Browser):
    """A tab of the page with the few things that the tests do."""

    def enter(self, url, name, **more):
        self.open(url, **more)
        if self.run("return document.documentElement.dataset.ready") == "sign-in":
            self.find("#name").send_keys(name, "\n")
        self.until("return document.documentElement.dataset.ready !== 'sign-in'")

    def status(self, words):
        self.until(f"return document.getElementById('status').textContent.includes({json.dumps(words)})")

    def keys(self, *names):
        """Press keys wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.driver).send_keys(*(getattr(Keys, name, name) for name in names)).perform()

    def grade(self, key):
        self.run("document.getElementById('status').textContent = ''")
        self.keys(key)
        self.status("Saved")

    def go_to(self, item_id):
        """Show one passage by going on until it comes; all are open."""
        for _ in range(30):
            before = self.shown()
            if before == item_id:
                return
            self.keys("ARROW_RIGHT")
            self.until(f"return document.querySelector('.work')?.dataset.item !== '{before}'")
        raise AssertionError(f"{item_id} was never shown")

    def opened(self, *keys):
        """Press keys that open a panel, and wait for it."""
        self.keys(*keys)
        self.until("return document.getElementById('panel').open")

    def closed(self):
        """Leave the panel."""
        self.keys("ESCAPE")
        self.until("return !document.getElementById('panel').open")

    def shown(self):
        return self.run("return document.querySelector('.work')?.dataset.item ?? null")

    def select(self, box, start, end):
        """Select units of the text of a box, as a pointer would."""
        self.run(
            """const box = document.querySelector(arguments[0]); box.focus();
            const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
            const range = document.createRange(); let at = 0;
            for (let node = walk.nextNode(); node; node = walk.nextNode()) {
              const next = at + node.length;
              if (at <= arguments[1] && arguments[1] <= next) range.setStart(node, arguments[1] - at);
              if (at < arguments[2] && arguments[2] <= next) { range.setEnd(node, arguments[2] - at); break; }
              at = next;
            }
            const s = getSelection(); s.removeAllRanges(); s.addRange(range);""",
            box,
            start,
            end,
        )


def units(text):
    """How long a text is for JavaScript."""
    return len(text.encode("utf-16-le")) // 2


@pytest.fixture
def tab(driver):
    # a tab whose server is gone goes on trying: each test has one of its own, which ends with it
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    tab = Tab(driver)
    tab.errors()
    yield tab
    errors = tab.errors()
    for handle in driver.window_handles:
        if handle != first:
            driver.switch_to.window(handle)
            driver.execute_script("window.stop()")
            driver.close()
    driver.switch_to.window(first)
    # the server of a test ends with it, perhaps while the page asks for one thing more
    assert [error for error in errors if "ERR_CONNECTION_" not in error] == []


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    with Page("--pool", "pool.csv", "--documents", "docs/*") as page:
        yield page


def labels(rater="Ada"):
    with PageState(Path("pool.labelling.sqlite")) as state:
        return {one.item_id: one.rating for one in state.labels(rater)}


def marks(query_id):
    with PageState(Path("pool.labelling.sqlite")) as state:
        return state.marks("Ada", query_id)


def test_everything_is_graded_by_keys_once_and_undone(tab, page):
    tab.enter(page.link, "Ada")
    assert "0 of 5 passages" in tab.find("#far").text
    first = tab.shown()
    tab.grade("3")
    assert labels()[first].grade == 3
    assert tab.shown() != first
    assert "1 of 5 passages" in tab.find("#far").text
    tab.keys("u")
    tab.status("undone")
    assert tab.shown() == first
    assert labels()[first].grade is None
    tab.grade("0")
    # a key that is held down grades one passage
    held = "new KeyboardEvent('keydown', {key: '0', repeat: true, bubbles: true})"
    tab.run(f"document.activeElement.dispatchEvent({held})")
    for key in "1234":
        tab.grade(key)
    tab.until("return document.documentElement.dataset.ready === 'end'")
    assert sorted(one.grade for one in labels().values()) == [0, 1, 2, 3, 4]
    tab.keys("u")
    tab.until("return document.documentElement.dataset.ready === 'item'")
    # what was graded is shown as such when one goes back
    tab.keys("ARROW_LEFT")
    tab.until("return document.querySelector('.grades [aria-pressed=\"true\"]') !== null")


def test_a_passage_is_skipped_with_a_reason_and_has_a_note(tab, page):
    tab.enter(page.link, "Ada")
    first = tab.shown()
    tab.keys("n")
    tab.find("#note").send_keys("0 is not 4, s")
    tab.status("Saved: note")
    assert labels()[first].note == "0 is not 4, s"
    assert labels()[first].grade is None
    tab.keys("ESCAPE")
    tab.opened("s")
    tab.find("#reason").send_keys("my own reason", "\n")
    tab.until("return !document.getElementById('panel').open")
    tab.status("Saved: skipped")
    tab.keys("e")
    tab.find("#evidence").send_keys("a fact")
    # a grade by the pointer right after typing: both are kept
    third = tab.shown()
    tab.find('.grades [data-grade="2"]').click()
    tab.status("Saved: 2")
    tab.until(f"return document.querySelector('.work')?.dataset.item !== '{third}'")
    assert (labels()[third].grade, labels()[third].evidence) == (2, "a fact")
    assert labels()[first].skipped == "my own reason"


@pytest.mark.parametrize("words", ["𠮷野家 🚗 在", "Head\r\nA first line\nof text.\rEnd", "שלום and 🚗🚗"])
def test_a_selection_is_marked_to_the_character(tab, page, words):
    tab.enter(page.link, "Ada")
    tab.go_to(ITEMS[3].item_id)
    tab.until("return document.getElementById('leaf') !== null")
    assert tab.run("return document.getElementById('leaf').textContent") == STRANGE
    start = STRANGE.index(words)
    before = units(STRANGE[:start])
    tab.select("#leaf", before, before + units(words))
    tab.keys("m")
    tab.until("return document.getElementById('marking') !== null")
    tab.until("return !document.getElementById('marking').textContent.includes('Looking for copies')")
    tab.find('input[name="mark-grade"][value="3"]').click()
    tab.find("#mark-name").send_keys("the fact")
    tab.find("#marking .main").click()
    tab.status("Saved: 1 mark")
    ((mark, rating),) = marks("q2")
    assert STRANGE[mark.start : mark.end] == words
    assert (rating.grade, rating.evidence) == (3, "the fact")
    assert tab.run("return document.querySelector('#leaf .marked').textContent") in words
    assert tab.run("return document.getElementById('leaf').textContent") == STRANGE
    tab.keys("u")
    tab.until("return document.querySelector('.marks') === null")


def test_a_mark_by_the_keyboard_alone_joins_its_copies(tab, page):
    tab.enter(page.link, "Ada")
    tab.go_to(LYON.item_id)
    tab.until("return document.getElementById('leaf')?.textContent.startsWith('The plant in Lyon')")
    # the caret at the beginning of the text, as Ctrl-Home puts it
    tab.run("document.getElementById('leaf').focus()")
    tab.run("getSelection().collapse(document.getElementById('leaf'), 0)")
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    words = "The plant in Lyon was closed in May."
    moves = ActionChains(tab.driver).key_down(Keys.SHIFT)
    for _ in words:
        moves.send_keys(Keys.ARROW_RIGHT)
    moves.key_up(Keys.SHIFT).perform()
    tab.keys("x")
    assert tab.run("return document.getElementById('leaf').textContent") == PLAIN
    tab.keys("m")
    tab.until("return document.getElementById('copies') !== null")
    assert "1 other place" in tab.find("#copies legend").text
    tab.keys("ARROW_DOWN", "ARROW_DOWN")
    tab.keys("ENTER")
    tab.status("Saved: 2 marks")
    assert [(one.doc_id, one.text, rating.evidence) for one, rating in marks("q1")] == [
        ("copy", "The plant in Lyon was\nclosed in May.", "The plant in Lyon was closed in May."),
        ("plain", words, "The plant in Lyon was closed in May."),
    ]


def test_a_passage_is_shown_with_the_rest_of_its_sentence_and_marked_exactly(tab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path, [part("q1", "plain", "Lyon was closed in May. It emp")])
    with Page("--pool", "pool.csv", "--documents", "docs/*") as page:
        tab.enter(page.link, "Ada")
        text = "The plant in Lyon was closed in May. It employed 300 people."
        assert tab.run("return document.getElementById('passage').textContent") == text
        start = text.index("employed")
        tab.select("#passage", start, start + len("employed 300"))
        tab.opened("m")
        tab.find('input[name="mark-grade"][value="4"]').click()
        tab.find("#marking .main").click()
        tab.status("Saved: 1 mark")
        ((mark, _),) = marks("q1")
        assert PLAIN[mark.start : mark.end] == "employed 300"
        tab.keys("ESCAPE")
        tab.grade("2")
        (rated,) = (one for one in labels() if one != mark.item_id)
        with PageState(Path("pool.labelling.sqlite")) as state:
            assert state.item(rated).text == "Lyon was closed in May. It emp"


def test_two_raters_are_blind_to_each_other_and_resolve_their_differences(tab, page, driver):
    tab.enter(page.link, "Ada")
    for key in "44444":
        tab.grade(key)
    ada = driver.current_window_handle
    driver.switch_to.new_window("tab")
    tab.open(page.home)
    assert "Ada" in tab.find(".choices").text
    tab.find("#name").send_keys("Bob", "\n")
    tab.until("return document.documentElement.dataset.ready === 'item'")
    assert tab.run("return document.querySelector('.grades [aria-pressed=\"true\"]')") is None
    tab.grade("1")
    tab.grade("4")
    tab.keys("r")
    tab.until("return document.querySelectorAll('.difference').length === 1")
    tab.until("return document.querySelector('#panel-body table')?.textContent.includes('50 %')")
    tab.find('.difference [aria-label^="Resolve as 3"]').click()
    tab.until("return document.querySelector('.difference').textContent.includes('Saved: 3, by Bob')")
    with PageState(Path("pool.labelling.sqlite")) as state:
        assert [one.grade for one in state.decisions().values()] == [3]
    driver.close()
    driver.switch_to.window(ada)
    # this tab is Ada's still, also when it is loaded again
    driver.refresh()
    tab.until("return document.documentElement.dataset.ready === 'end'")
    assert "Ada" in tab.find("#who").text


def test_what_is_not_on_the_disk_is_not_shown_as_saved(tab, page):
    tab.enter(page.link, "Ada")
    first = tab.shown()
    lock = sqlite3.connect("pool.labelling.sqlite", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    tab.keys("4")
    tab.status("Saving")
    assert tab.shown() == first
    lock.execute("ROLLBACK")
    lock.close()
    tab.status("Saved: 4")
    page.stop(signal.SIGKILL)
    tab.keys("2")
    tab.until("return !document.getElementById('alarm').hidden")
    assert "does not answer" in tab.find("#alarm").text
    assert "Not saved" in tab.find("#status").text
    assert list(labels()) == [first]
    # the browser says that it could not connect; that is what was tested
    tab.run("window.onbeforeunload = null")
    assert all("ERR_CONNECTION_REFUSED" in error for error in tab.errors())


def test_nothing_sticks_out_and_all_of_it_works_on_a_phone(tab, page):
    width = 390
    tab.enter(page.link, "Ada", width=width)
    tab.go_to(LYON.item_id)
    assert tab.run("return document.documentElement.scrollWidth") <= width
    for button in tab.driver.find_elements("css selector", ".work > .grades button"):
        place = button.rect
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= width
        assert place["height"] >= 44
    assert not tab.find("#document-panel").is_displayed()
    tab.find(".work .narrow").click()
    tab.until("return document.getElementById('leaf') !== null")
    tab.select("#leaf", 0, 9)
    tab.find("#mark").click()
    tab.until("return document.getElementById('marking') !== null")
    assert tab.run("const p = document.getElementById('panel'); return p.scrollWidth <= p.clientWidth + 1")
    tab.closed()
    tab.find("#document-panel .narrow").click()
    tab.find('.grades [data-grade="3"]').click()
    tab.status("Saved: 3")
    assert labels()[LYON.item_id].grade == 3


def test_nothing_that_a_document_or_a_rater_writes_becomes_markup(tab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    monkeypatch.setitem(__import__("tests.label_page.pools", fromlist=["TEXTS"]).TEXTS, "plain", bad + PLAIN)
    write_folder(tmp_path, [part("q1", "plain", bad)])
    (tmp_path / "how.md").write_text(f"# {bad}\n\n- 4: {bad}\n", encoding="utf-8")
    with Page("--pool", "pool.csv", "--documents", "docs/*", "--guidelines", "how.md") as page:
        tab.enter(page.link, bad[:34])
        tab.keys("n")
        tab.find("#note").send_keys(bad)
        tab.status("Saved: note")
        tab.opened("ESCAPE", "g")
        assert tab.run("return window.hit ?? null") is None
        assert tab.run("return document.querySelectorAll('main img, dialog img').length") == 0


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1440, "dark")])
def test_axe_finds_nothing(tab, page, axe, theme, width):
    tab.open(page.link, width=width, theme=theme)
    assert tab.violations(axe) == []
    with PageState(Path("pool.labelling.sqlite")) as state:
        for rater, grade in (("Ada", 4), ("Bob", 1)):
            by = Envelope(rater, f"request-of-{rater}")
            state.change(
                by, ITEMS[1].item_id, "grade", lambda rating, grade=grade: replace(rating, grade=grade)
            )
    tab.enter(page.home, "Ada", width=width, theme=theme)
    tab.go_to(LYON.item_id)
    assert tab.violations(axe, "label-content-name-mismatch") == []
    tab.select("#passage", 0, 9)
    for key in ("m", "g", "s", "/", "q", "r", "?"):
        tab.opened(key)
        tab.until("return !document.getElementById('panel-body').textContent.match(/Loading|Looking/)")
        if key == "r":
            tab.until("return document.querySelectorAll('.difference').length === 1")
            tab.until("return document.querySelector('#panel-body table') !== null")
        assert tab.violations(axe, "label-content-name-mismatch") == [], key
        tab.closed()
