"""The first screen: one model for terminal, picture and page, and what is printed below it can be copied."""

from xml.etree import ElementTree

import pytest

from harness.comparison import glance_json, glance_lines, svg_of
from tests.compare.build import conclude, noisy

SVG = "{http://www.w3.org/2000/svg}"
MARKS = {"dot": "●", "ring": "○", "cross": "×"}


def test_terminal_picture_and_page_mark_every_setting_at_the_same_place():
    found = conclude(noisy(60, (0.5, 0.49, 0.49, 0.3, 0.2)))
    payload = glance_json(found)
    marks = [row["drawn"][-1] for row in payload["settings"]]
    assert [mark[0] for mark in marks] == ["dot", "ring", "ring", "cross", "cross"]
    # the axis spans all intervals, and its ticks are where their values belong
    bounds = [(row["low"], row["mean"], row["high"]) for row in payload["settings"]]
    low, high = min(row[0] for row in bounds), max(row[2] for row in bounds)
    for mark, (_, mean, _) in zip(marks, bounds, strict=True):
        assert mark[2] == pytest.approx((mean - low) / (high - low), abs=1e-4)
    for value, place in payload["setting_axis"]["ticks"]:
        assert place == pytest.approx((value - low) / (high - low), abs=1e-4)
    # the strip of the picture has 160 units from 440 on
    drawn = list(ElementTree.fromstring(svg_of(found)).iter())
    circles = [float(one.get("cx")) for one in drawn if one.tag == f"{SVG}circle"]
    crosses = [float(one.get("d")[1:].split(",")[0]) + 4 for one in drawn if one.get("class") == "cross"]
    assert [*circles, *crosses] == pytest.approx([440 + 160 * mark[2] for mark in marks], abs=0.06)
    # that of the terminal has as many columns as its longest line
    rows = [line for line in glance_lines(found) if any(mark in line for mark in MARKS.values())]
    begins = min(line.index("─") for line in rows)
    last = max(line.rindex("─") for line in rows) - begins
    for line, (shape, _, place, _) in zip(rows, marks, strict=True):
        assert line.index(MARKS[shape]) - begins == round(place * last)


def test_a_path_that_is_longer_than_a_line_stays_whole():
    path = f"/{'results-of-may/' * 8}report.html"
    lines = glance_lines(conclude(noisy(80, (0.7, 0.4))), [f"Page: {path}"])
    assert [line for line in lines if line.endswith(path)]
