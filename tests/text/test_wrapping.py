"""Chinese and Japanese on lines: joined without blanks, broken by cells, marks kept where they belong."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.values import main_script, on_one_line, outside_latin, snippet, width, wrapped

CHINESE = "公司在青岬、临汐和宁洲设有三个生产基地；截至2025年12月31日，“海堤”系列的年产能合计为18.6吉瓦时。"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("总\n部位于青岬市", "总部位于青岬市"),
        ("报告期末  \n ，余额", "报告期末，余额"),
        ("称为“潮\n汐云”的\n“平台”", "称为“潮汐云”的“平台”"),
        ("two\n words\tand  more\n", "two words and more"),
        ("2025\n年 中文\nword 한국\n어", "2025 年 中文 word 한국 어"),
        # a paragraph ends
        ("第一节\n\n正文", "第一节 正文"),
    ],
)
def test_a_line_break_within_chinese_is_no_blank(text, line):
    assert on_one_line(text) == line
    assert snippet(text) == line


@given(st.text("ab \n\t-.“”", max_size=40))
def test_other_text_is_joined_and_broken_as_ever(text):
    assert on_one_line(text) == " ".join(text.split())
    assert wrapped(text, 8) == textwrap.wrap(text, 8)


@pytest.mark.parametrize("cells", [20, 33, 80])
def test_lines_are_no_wider_than_they_may_be_and_hold_all_text(cells):
    lines = wrapped(CHINESE * 3, cells, "  ")
    assert max(map(width, lines)) <= cells
    # filled but for a character and the marks that cling to it
    assert min(map(width, lines[:-1])) >= cells - 12
    assert "".join(line.strip() for line in lines) == CHINESE * 3
    assert not any(line.strip()[0] in "、。，；”" for line in lines)
    assert not any(line[-1] == "“" for line in lines)


@given(st.text("中文，。“”ab 1\n", max_size=60), st.integers(20, 40))
def test_no_line_is_too_wide_whatever_the_text(text, cells):
    lines = wrapped(text, cells)
    assert all(width(line) <= cells for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "share", "script"),
    [
        ("plain English, 2025", 0.0, "Latin"),
        ("Ünïcode naïve", 0.0, "Latin"),
        ("中文字 abc", 0.5, "Chinese"),
        ("Москва", 1.0, "Cyrillic"),
        ("カタカナ", 1.0, "Japanese"),
        ("12 34 %", 0.0, "Latin"),
    ],
)
def test_the_script_of_a_text_is_known_by_its_letters(text, share, script):
    assert outside_latin(text) == share
    assert main_script(text) == script
