"""The names in a question, by rules: docs/rewriting.md shows these."""

import re
from pathlib import Path

import pytest

from harness.steps.search.rewrite.names import names_in

PAGE = (Path(__file__).parent.parent.parent / "docs" / "rewriting.md").read_text(encoding="utf-8")
CASES = {
    "What was the FY2018 capital expenditure of 3M?": ["FY2018", "3M"],
    "When did Bank of America buy Merrill Lynch & Co. in 2008?": [
        "Bank of America",
        "Merrill Lynch & Co",
        "2008",
    ],
    "We look at AMD. What are its segments? Use the filing.": ["AMD"],
    "Is U.S. GAAP net income of Johnson & Johnson's Q2 above 12 %?": [
        "U.S. GAAP",
        "Johnson & Johnson",
        "Q2",
        "12 %",
    ],
    "How much did revenue grow, from $1.2 million to 4,200?": ["$1.2 million", "4,200"],
    'Who said "never again" in Berlin?': ["never again", "Berlin"],
    "Does Meridian, or Voss, pay for IT in the US?": ["Meridian", "Voss", "IT", "US"],
    "In 2024, which plant did Meridian's rival close?": ["2024", "Meridian"],
    "what happens if workers stop turning up": [],
    "《静夜思》的作者是谁？": ["静夜思"],
    "2023年腾讯控股有限公司的净利润是多少亿元？": ["2023年", "腾讯控股有限公司"],
    "比亚迪在深圳市的工厂有多少台GPU？": ["深圳市", "GPU"],
    "李白的朋友是谁？": [],
    "": [],
}


@pytest.mark.parametrize("question", CASES)
def test_names_in_the_order_in_which_they_occur(question):
    assert names_in(question) == CASES[question]


def test_the_examples_of_the_page():
    shown = re.findall(r"^(.+?) →(.*)$", PAGE, re.MULTILINE)
    assert len(shown) == 5
    assert [" ".join(names_in(question)) for question, _ in shown] == [asked.strip() for _, asked in shown]
