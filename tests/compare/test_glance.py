"""The first screen: one model for terminal, picture and page, and what is printed below it can be copied."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import glance_json, glance_lines, svg_of
from harness.comparison.short_names import shortened
from harness.values import width
from tests.compare.build import conclude, matrix, noisy

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


@given(st.sets(st.text("ab 12营", min_size=1, max_size=40), min_size=1, max_size=12), st.integers(5, 30))
def test_shortened_names_fit_and_stay_distinct(names, columns):
    names = [name.strip() or "-" for name in names]
    short = shortened(names, columns)
    assert all(width(name) <= columns for name in short)
    assert len(set(short)) == len(set(names))
    assert all(a == b for a, b in zip(names, short, strict=True) if width(a) <= columns)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["bm25", "recursive 512"], ["bm25", "recur…512"]),
        # what differs is in the middle: the part where the names begin to differ is kept
        (["same words A same words", "same words B same words"], ["…A same w…", "…B same w…"]),
        # not in the middle, but behind a word
        (["chunk 128 of many", "chunk 256 of many"], ["chunk 128…", "chunk 256…"]),
    ],
)
def test_long_names_are_cut_in_the_middle_or_where_they_differ(names, short):
    assert shortened(names, 10) == short


def test_the_chart_keeps_a_third_of_the_room_beside_long_names():
    long = "recursive chunks of {} tokens with headings, bm25 and vectors fused, reranked by a cross-encoder"
    scores = noisy(60, (0.5, 0.49, 0.3))
    names = [long.format(size) for size in (128, 256, 512)]
    found = conclude(matrix(dict(zip(names, scores.values, strict=True))))
    rows = [line for line in glance_lines(found) if any(mark in line for mark in MARKS.values())]
    assert len(rows) == 3
    assert all(width(line) <= 80 for line in rows)
    for line, size in zip(rows, (128, 256, 512), strict=True):
        assert line.startswith(f"  recursive chunks of {size}…")
    begins, ends = min(line.index("─") for line in rows), max(line.rindex("─") for line in rows)
    # 80 columns without 10 around names and charts, and 9 of words: 61, of which a third is 21
    assert ends - begins + 1 == 21
