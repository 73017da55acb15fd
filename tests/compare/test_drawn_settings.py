"""The picture of a verdict: every mark lies where its value is on the axis that is labelled."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from harness.comparison import svg_of
from tests.compare.build import conclude, noisy

LOST = {
    "a": {"chunking": 0.1, "order": 0.2},
    "b": {"chunking": 0.3, "candidates": 0.1, "order": 0.2},
    "c": {"order": 0.9},
}


@pytest.fixture(scope="module")
def picture():
    verdict = conclude(noisy(80, (0.7, 0.66, 0.4)), lost=LOST)
    marks = [(mark.tag.rpartition("}")[2], mark) for mark in ElementTree.fromstring(svg_of(verdict)).iter()]
    return verdict, marks


def marked(marks, tag, kind):
    return [mark for name, mark in marks if name == tag and (mark.get("class") or "").split(" ")[0] == kind]


def numbers(mark, *names):
    return [float(mark.get(name)) for name in names]


def test_marks_and_intervals_lie_at_their_values(picture):
    verdict, marks = picture
    labels = {mark.text: float(mark.get("x")) for mark in marked(marks, "text", "quiet") if mark.text}
    ticks = [(float(text), x) for text, x in labels.items() if re.fullmatch(r"0\.\d", text)]
    (first, at_first), *_, (last, at_last) = ticks
    scale = (at_last - at_first) / (last - first)

    def place(value):
        return at_first + (value - first) * scale

    lines = [numbers(line, "x1", "y1", "x2", "y2") for line in marked(marks, "line", "interval")]
    points = [numbers(circle, "cx", "cy") for name, circle in marks if name == "circle"]
    for cross in marked(marks, "path", "cross"):
        x, y, wide, high, back, none, again, up = map(float, re.findall(r"-?\d+(?:\.\d+)?", cross.get("d")))
        # two strokes of one size with one middle
        assert (back, none, again, up) == (-wide, 0, wide, -high)
        points.append([x + wide / 2, y + high / 2])
    assert len(lines) == len(points) == len(verdict.standings) == 3
    for standing, (x1, y1, x2, y2), (x, y) in zip(verdict.standings, lines, points, strict=True):
        low, mean, high = standing.bounds
        assert (x1, x2, x) == pytest.approx((place(low), place(high), place(mean)), abs=0.2)
        assert y1 == y2 == y


def test_bars_share_out_a_perfect_score_without_gaps(picture):
    _, marks = picture
    rows = {}
    for bar in marked(marks, "rect", "bar"):
        rows.setdefault(bar.get("y"), []).append((*numbers(bar, "x", "width"), bar[0].text))
    legend, *settings = rows.values()
    assert [title for *_, title in legend] == ["reached", "not found", "ranked too low", "badly chunked"]
    assert len(settings) == 3
    for bars in settings:
        left, right = bars[0][0], bars[-1][0] + bars[-1][1]
        for (x, wide, _), (following, _, _) in pairwise(bars):
            assert following == pytest.approx(x + wide, abs=0.2)
        for _, wide, title in bars:
            assert wide / (right - left) == pytest.approx(float(title.rpartition(" ")[2]), abs=0.005)
        assert (left, right) == pytest.approx((616, 860), abs=0.2)


def test_what_is_said_of_a_setting_stands_on_one_line_and_lines_below_each_other(picture):
    verdict, marks = picture
    texts = [
        (*numbers(mark, "x", "y"), mark.get("class"), mark.text) for name, mark in marks if name == "text"
    ]
    values = [text for text in texts if text[2] == "end"]
    assert [text[3] for text in values] == [f"{standing.bounds[1]:.2f}" for standing in verdict.standings]
    lines = [y for _, y, *_ in values]
    assert {following - y for y, following in pairwise(lines)} == {24}
    names = [(y, name) for x, y, _, name in texts if y in lines and x == 0]
    assert [y for y, _ in names] == lines
    assert [name.split()[0] for _, name in names] == [standing.setting for standing in verdict.standings]
    # strokes and bars are at half of the height of small letters, values before the chart, words behind it
    intervals = marked(marks, "line", "interval")
    assert [numbers(line, "y1")[0] + 4 for line in intervals] == lines
    bars = sorted({numbers(bar, "y")[0] + 11 for bar in marked(marks, "rect", "bar")})
    assert bars[1:] == lines
    assert bars[0] + 24 == lines[0]
    low, high = (
        choose(numbers(line, "x1", "x2")[end] for line in intervals) for choose, end in ((min, 0), (max, 1))
    )
    assert [x for x, *_ in values] == [low - 16] * 3
    assert high == low + 160
    ticks = {y for _, y, kind, _ in texts if kind == "quiet middle"}
    assert ticks == {lines[-1] + 24}
    # nothing lies on anything, and all of it in the picture
    rows = sorted({y for _, y, *_ in texts})
    assert all(following - y in (24, 48) for y, following in pairwise(rows))
    (drawn,) = [mark for name, mark in marks if name == "svg"]
    left, top, wide, height = map(float, drawn.get("viewBox").split())
    assert (left, top, height) == (-16, 0, rows[-1] + 16)
    assert all(0 <= x < left + wide for x, *_ in texts)
