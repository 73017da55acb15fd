"""The page of claims: its figures are on the pages that it links to, and five tools give the same NDCG."""

import re
from math import log2

import pytest

from benchmarks import same_ndcg
from tests.docs_commands import INLINE, ROOT
from tests.test_docs_pages import LINK

PAGE = ROOT / "docs" / "claims.md"
CLAIMS = re.findall(r"^\*\*.+?(?=^\*\*|^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"\d+\.\d+|\d+(?= queries)|\d+(?= documents)|\d+(?= filings)")
WORDS = re.compile(r"(?:nine|eleven) settings of twelve|no chunking of twelve")


def title(claim):
    return " ".join(claim[2:].split("**")[0].split())[:40]


def figures(text):
    # a minus may be a hyphen or a sign
    return {*FIGURE.findall(text), *WORDS.findall(" ".join(text.split()))}


@pytest.mark.parametrize("claim", CLAIMS, ids=title)
def test_a_claim_has_a_command_and_figures_of_the_pages_it_links_to(claim):
    assert INLINE.search(claim)
    pages = [ROOT / "docs" / link.partition("#")[0] for link in LINK.findall(claim)]
    assert pages
    said = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in pages)
    if "same_ndcg" not in claim:
        shown = figures(claim)
        assert shown
        assert {figure for figure in shown if figure not in said} == set()


def test_there_are_four_findings_and_three_comparisons():
    assert len(CLAIMS) == 7


RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 2.0, "e": 1.0}}
QRELS = {"q1": {"b": 4, "c": 1, "z": 2}, "q2": {"e": 3, "d": 0, "y": 4}}


@pytest.mark.slow
@pytest.mark.parametrize("tool", same_ndcg.TOOLS)
def test_five_tools_give_the_same_ndcg(tool):
    # the first of q1 is unjudged, z and y were not retrieved but are in the ideal
    first = (4 / log2(3) + 1 / 2) / (4 + 2 / log2(3) + 1 / 2)
    second = (3 / log2(3)) / (4 + 3 / log2(3))
    assert same_ndcg.TOOLS[tool](RUN, QRELS) == pytest.approx((first + second) / 2)
