"""The drill-down of report.html: two rankings beside each other, readable passages, words looked for."""

import pytest

from harness.running.bench.page import write_page
from tests.command import table, write_table
from tests.report.page_browser import MARKS
from tests.report.page_results import rewrite, write_folder

pytestmark = MARKS
TEXT = "A table follows\n1,200\t1,300\n\nIt ends\x7f here, with a pump. " * 40


@pytest.fixture(scope="module")
def drilled(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("drill") / "r", settings=4, queries=6, text=TEXT)
    return write_page(folder)[0]


def opened(chromium, path, width=1440):
    chromium.open(path.as_uri(), width)
    chromium.choose("#queries [data-keep=order]", "file")
    chromium.run("document.querySelectorAll('#queries tbody tr')[1].click()")


def ranked(folder, setting):
    wanted = (setting, "rerank", "q1")
    rows = table(folder / "rankings.csv")
    return [row["chunk_id"] for row in rows if (row["setting"], row["stage"], row["query_id"]) == wanted]


def test_two_settings_are_next_to_each_other_with_what_moved(chromium, drilled):
    opened(chromium, drilled)
    names = chromium.names("#drill .ranking h3")
    assert len(set(names)) == 2
    left, right = (ranked(drilled.parent, name) for name in names)

    def place(chunk):
        return tuple(map(int, chunk.partition(":")[2].split("-")))

    def in_both(chunk):
        start, end = place(chunk)
        return any(start < stop and end > begin for begin, stop in map(place, right))

    both = sum(map(in_both, left))
    assert f"Of {len(left)} passages on the left {both} are" in chromium.find("#drill .two-rankings").text
    assert chromium.run("return document.querySelectorAll('#drill .moves line').length") == both
    only = chromium.run("return document.querySelectorAll('#drill .ranking:first-child .badge.only').length")
    assert only == len(left) - both
    # beside itself a setting has nothing to be compared with
    chromium.choose("#drill [data-keep=other]", "-1")
    assert chromium.run("return document.querySelector('#drill .two-rankings')") is None


def test_the_text_around_passages_shows_on_request(chromium, tmp_path):
    folder = write_folder(tmp_path / "r", settings=1, queries=2)
    end = max(int(chunk.rpartition("-")[2]) for chunk in ranked(folder, "chunk=200/0"))
    # no other passage may show what follows the last one
    rewrite(folder / "passages.csv", lambda row: row | {"text": "x"} if int(row["end"]) > end else row)
    columns = ("document", "start", "end", "text")
    write_table(folder / "surroundings.csv", columns, [("doc", end, end + 20, "what follows it here")])
    path, _ = write_page(folder)
    opened(chromium, path)
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
    chromium.find("#drill [data-keep=around]").click()
    assert chromium.run(shown) == []
