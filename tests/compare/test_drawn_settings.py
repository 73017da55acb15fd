"""The picture of a verdict: every mark lies where its value is on the axis that is labelled."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from harness.comparison import Effect, Effects, Loss, Standing, glance_json, glance_lines, svg_of
from harness.report import colours
from harness.values import width
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


def texts_of(svg):
    """(x, y, class, words) of every text of a picture, in the order in which they are written."""
    drawn = [mark for mark in ElementTree.fromstring(svg).iter() if mark.tag.endswith("}text")]
    return [(*numbers(mark, "x", "y"), mark.get("class"), mark.text) for mark in drawn]


def shapes_of(svg, tag, *names):
    """The attributes of every element of one sort below the styles and fillings."""
    drawn = list(ElementTree.fromstring(svg))[3:]
    return [tuple(mark.get(name) for name in names) for mark in drawn if mark.tag.endswith(f"}}{tag}")]


def effect(level, against, low, difference, high, finding, words):
    found = replace(SOME.comparisons[0], setting=level, against=against, difference=difference)
    return Effect("f", replace(found, low=low, high=high, finding=finding), (("a", "b"),), words)


SOME = conclude(noisy(80, (0.7, 0.66, 0.4)))
# a filling is called after its part, or "change" where the part is a step without a colour of its own
LABELS = {"chunking": "badly chunked", "order": "ranked too low", "hyde": "by the rewriter"}
STANDINGS = (
    Standing("a", 0.8, 0.6, 1.0, group="use", words="a", losses=(Loss("order", LABELS["order"], 0.2),)),
    Standing(
        "b",
        0.5,
        0.3,
        0.7,
        words="b",
        losses=tuple(
            Loss(part, LABELS[part], loss) for part, loss in zip(LABELS, (0.25, 0.125, 0.125), strict=True)
        ),
    ),
    Standing(
        "c",
        0.3,
        0.2,
        0.4,
        group="out",
        why="another is better",
        words="c",
        losses=(Loss("order", LABELS["order"], 1.0),),
    ),
)
DRAWN = replace(
    SOME,
    standings=STANDINGS,
    effects=Effects(
        (
            effect("500", "250", 0.1, 0.2, 0.3, "real", "better"),
            effect("bm25", "vectors", -0.1, 0.004, 0.1, "open", "no difference found"),
        )
    ),
)


LONG = "recursive chunks of {} characters with a line of company and period before each, and its headings"


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_long_names_of_factors_are_whole_on_the_first_screen(count):
    changes = [(LONG.format(500 + at), LONG.format(250 + at)) for at in range(count)]
    short = effect("bm25", "vectors", 0.1, 0.2, 0.3, "real", "better")
    effects = [*(effect(*levels, 0.1, 0.2, 0.3, "real", "better") for levels in changes), short]
    lines = glance_lines(replace(SOME, standings=STANDINGS, effects=Effects(tuple(effects))))
    assert len(lines) <= 24
    assert all(width(line) <= 80 for line in lines)
    text = " ".join(" ".join(lines).split())
    shown = [levels for levels in changes if f"{levels[0]} instead of {levels[1]}" in text]
    # as many as there is room for, none of them cut
    assert shown == changes[: len(shown)]
    assert len(shown) >= min(count, 2)
    charts = [line for line in lines if "+0.20" in line]
    assert len(charts) == len(shown) + ("bm25 instead of vectors" in text)


def test_a_small_chart_of_factors_is_as_drawn_by_hand():
    svg = svg_of(DRAWN)
    texts = texts_of(svg)
    # a line is 24 high. Below a margin of 16 are a line of the sentence and two of what it holds for: 40, 64,
    # 88. A blank line follows, then the title at 136
    title = texts.index((0, 136, "title", "What matters (difference in score)"))
    assert [(x, y) for x, y, *_ in texts[:title]] == [(0, 40), (0, 64), (0, 88)]
    # the axis has -0.1 at 440 and 0.3 at 600: 400 a unit, so 0 is at 480
    assert texts[title + 1 : title + 7] == [
        (480, 136, "quiet middle", "no difference"),
        # below two rows
        (440, 208, "quiet middle", "-0.1"),
        (480, 208, "quiet middle", "0"),
        (520, 208, "quiet middle", "+0.1"),
        (560, 208, "quiet middle", "+0.2"),
        (600, 208, "quiet middle", "+0.3"),
    ]
    # a finding is in ink, what is open is not
    assert texts[title + 7 : title + 13] == [
        (0, 160, "", "500 instead of 250"),
        (424, 160, "end", "+0.20"),
        (616, 160, "", "better"),
        (0, 184, "", "bm25 instead of vectors"),
        # 0.004 has no sign, as it rounds to 0
        (424, 184, "end", "0.00"),
        (616, 184, "quiet", "no difference found"),
    ]
    # the line of 0 goes from a quarter of a line below the title to 2.4 lines below it; intervals are 4 above
    # the foot of their row
    lines = shapes_of(svg, "line", "x1", "y1", "x2", "y2", "class")
    assert lines[:3] == [
        ("480.0", "142.0", "480.0", "193.6", "line"),
        ("520.0", "156.0", "600.0", "156.0", "interval use"),
        ("440.0", "180.0", "520.0", "180.0", "interval may"),
    ]
    circles = shapes_of(svg, "circle", "cx", "cy", "r", "class")
    assert circles[:2] == [("560.0", "156.0", "5", "use"), ("481.6", "180.0", "5", "may")]


def test_a_small_chart_of_settings_is_as_drawn_by_hand():
    svg = svg_of(DRAWN)
    texts = texts_of(svg)
    # the chart of factors ends with its axis at 208; after a blank line comes the title, below it the legend
    title = texts.index((0, 256, "title", "Settings (score, 95% intervals)"))
    # a swatch takes 36 with the gap behind it, a letter 7: "reached" 36 + 49, "by the rewriter" 36 + 105,
    # "ranked too low" 36 + 98; words begin 18 after their swatch. The last step comes first
    assert texts[title + 1 : title + 5] == [
        (18, 280, "quiet", "reached"),
        (103, 280, "quiet", "by the rewriter"),
        (244, 280, "quiet", "badly chunked"),
        (371, 280, "quiet", "ranked too low"),
    ]
    # the axis has 0.2 at 440 and 1 at 600: 200 a unit
    assert texts[title + 5 :][:5] == [
        (440, 376, "quiet middle", "0.2"),
        (480, 376, "quiet middle", "0.4"),
        (520, 376, "quiet middle", "0.6"),
        (560, 376, "quiet middle", "0.8"),
        (600, 376, "quiet middle", "1.0"),
    ]
    # of the setting to use, of one that may be best, and of one that is ruled out
    assert texts[title + 10 : title + 16] == [
        (0, 304, "use", "a (use this)"),
        (424, 304, "end", "0.80"),
        (0, 328, "", "b"),
        (424, 328, "end", "0.50"),
        (0, 352, "quiet", "c (another is better)"),
        (424, 352, "end", "0.30"),
    ]
    (next_step,) = texts[title + 16 :]
    assert next_step[:3] == (0, 400, "")
    assert next_step[3].startswith("Next: ")
    assert shapes_of(svg, "line", "x1", "y1", "x2", "y2", "class")[3:] == [
        ("520.0", "300.0", "600.0", "300.0", "interval use"),
        ("460.0", "324.0", "540.0", "324.0", "interval may"),
        ("440.0", "348.0", "480.0", "348.0", "interval out"),
    ]
    assert shapes_of(svg, "circle", "cx", "cy", "class")[2:] == [
        ("560.0", "300.0", "use"),
        ("500.0", "324.0", "may"),
    ]
    # 0.3 is at 460: two strokes of 8 that cross there
    assert shapes_of(svg, "path", "d", "class") == [("M456.0,344l8,8m-8,0l8,-8", "cross")]


def test_the_bars_of_a_small_chart_are_as_drawn_by_hand():
    bars = shapes_of(svg_of(DRAWN), "rect", "x", "y", "width", "height", "style")
    left, late, chunk, change = (
        f"fill: {fill}"
        for fill in ("var(--left)", "url(#lost-order)", "url(#lost-chunking)", "url(#lost-change)")
    )
    # 13 high, and 11 of that above the foot of the words beside them
    assert bars == [
        ("0.0", "269.0", "13.0", "13", left),
        ("85.0", "269.0", "13.0", "13", change),
        ("226.0", "269.0", "13.0", "13", chunk),
        ("353.0", "269.0", "13.0", "13", late),
        # a perfect score is 244 wide, from 616 on: 0.8 and 0.2 of it
        ("616.0", "293.0", "195.2", "13", left),
        ("811.2", "293.0", "48.8", "13", late),
        # a half, two eighths and a quarter
        ("616.0", "317.0", "122.0", "13", left),
        ("738.0", "317.0", "30.5", "13", change),
        ("768.5", "317.0", "30.5", "13", late),
        ("799.0", "317.0", "61.0", "13", chunk),
        # nothing is left
        ("616.0", "341.0", "0.0", "13", left),
        ("616.0", "341.0", "244.0", "13", late),
    ]
    titles = [
        mark[0].text for mark in ElementTree.fromstring(svg_of(DRAWN)).iter() if mark.get("class") == "bar"
    ]
    assert titles[4:6] == ["left 0.80", "ranked too low 0.20"]


def test_the_picture_is_as_high_as_what_is_in_it():
    svg = svg_of(DRAWN)
    drawn = ElementTree.fromstring(svg)
    # the next step at 400, and margins of 16 all around a width of 860
    assert (drawn.get("viewBox"), drawn.get("width")) == ("-16 0 892 416", "892")
    assert numbers(drawn[2], "x", "width", "height") == [-16, 892, 416]
    # without a chart of factors all is five lines higher: title, two rows, its axis and the blank line
    alone = texts_of(svg_of(replace(DRAWN, effects=Effects())))
    assert alone[3] == (0, 136, "title", "Settings (score, 95% intervals)")
    assert alone[-1][1] == 400 - 5 * 24


def test_a_legend_goes_on_in_a_second_row():
    # six swatches of 36, seven letters of "reached" and 85 more of 7 each: 860, the whole width
    names = ("chunking", "candidates", "order", "x", "y")
    losses = [Loss(name, letter * 17, 0.125) for name, letter in zip(names, "abcde", strict=True)]

    def legend(*losses):
        only = replace(STANDINGS[0], losses=losses)
        labels = {"reached", *(loss.label for loss in losses)}
        texts = texts_of(svg_of(replace(DRAWN, standings=(only,))))
        return [(x, y, words) for x, y, _, words in texts if words in labels]

    # the last loss first: 18 behind 0, 85, 240, 395, 550 and 705
    full = legend(*losses)
    assert full == [
        (18, 280, "reached"),
        *((x, 280, letter * 17) for x, letter in zip((103, 258, 413, 568, 723), "edcba", strict=True)),
    ]
    longer = legend(replace(losses[0], label="a" * 18), *losses[1:])
    assert longer == [*full[:-1], (18, 304, "a" * 18)]


def test_lines_and_names_end_where_the_picture_does():
    # the sentence is in large letters, of which 78 fit
    around = len(glance_json(SOME)["sentence"]) - 1
    for letters, lines in ((78, 1), (79, 2)):
        name = "a" * (letters - around)
        verdict = conclude(replace(noisy(80, (0.7, 0.66, 0.4)), settings=(name, "b", "c")))
        texts = texts_of(svg_of(verdict))
        assert [kind for *_, kind, _ in texts].count("lead good") == lines
    # of those in sentences below it 96, with "But " before an interaction
    for letters, lines in ((92, 1), (93, 2)):
        words = f"{'x' * 60} {'y' * (letters - 61)}"
        texts = texts_of(svg_of(replace(DRAWN, effects=replace(DRAWN.effects, interactions=(words,)))))
        written = [text for *_, text in texts if "xxx" in text or "yyy" in text]
        assert (len(written), " ".join(written)) == (lines, f"But {words}")
    # of a name in front of its value 54
    for letters in (54, 55):
        name = "a" * (letters - len(" (use this)"))
        shown = texts_of(svg_of(replace(DRAWN, standings=(replace(STANDINGS[0], words=name),))))
        (row,) = [text for *_, kind, text in shown if kind == "use"]
        assert len(row) == 54
        assert (row == f"{name} (use this)") == (letters == 54)


def test_places_are_rounded_to_tenths_and_what_is_folded_stands_below_the_axis():
    one = effect("bm25", "vectors", -0.1, 0.05, 0.2, "open", "no difference found")
    twelve = (STANDINGS[0], *(replace(STANDINGS[1], setting=name, words=name) for name in "bcdefghijkl"))
    texts = texts_of(svg_of(replace(DRAWN, effects=Effects((one,)), standings=twelve)))
    # 0 is at a third of 160
    assert texts[4] == (493.3, 136, "quiet middle", "no difference")
    # ten rows of twelve; what is folded is written at the left, at the height of the axis
    ((x, y),) = [(x, y) for x, y, _, words in texts if words == "2 more: may be best"]
    assert x == 0
    assert {y for _, y, kind, words in texts if kind == "quiet middle" and words == "0.4"} == {y}


def test_every_colour_is_that_of_the_page_in_the_light_and_in_the_dark():
    svg = svg_of(DRAWN)
    light, dark = re.search(r"svg \{ (--.*?) color.*?dark\) \{ svg \{ (.*?) \}", svg, re.DOTALL).groups()
    shades = [dict(re.findall(r"--([\w-]+): (\S+);", block)) for block in (light, dark)]
    assert set(re.findall(r"var\(--([\w-]+)\)", svg)) <= set(shades[0]) == set(shades[1])
    for name in shades[0]:
        assert (shades[0][name], shades[1][name]) == tuple(colours()[name])
