"""A step of the user's own that breaks its contract ends the run, and the error says how."""

import re

import pytest

from tests.command import refused
from tests.custom.test_own_steps_page import PAGE

SHOWN = re.findall(r"^error: call: mine:\w+ (.*?)\. docs/own-steps", PAGE, re.MULTILINE)
FUNCTIONS = """
def search(queries, passages, k):
    return [[99] for _ in queries]
def score(pairs):
    return [1.0, 2.0, 3.0]
def rephrase(questions):
    return questions[:1]
def said(pairs):
    return ["0.5"] * len(pairs)
def yes(text):
    return [(False, True)]
def endless(text):
    return [(0, float("inf"))]
def late(text):
    yield 0, 1
    raise ValueError("too late")
def lazy(queries, passages, k):
    return [late(query) for query in queries]
"""


@pytest.mark.parametrize(
    ("section", "call", "says"),
    [
        ("retrieve", "search", re.sub(r"41|q1", r"\\S+", re.escape(SHOWN[0]))),
        ("rerank", "score", re.sub("20", r"\\d+", re.escape(SHOWN[1]).replace("\\ ", " "))),
        ("rewrite", "rephrase", "returned 1 text, not one text for each of \\d+ questions"),
        ("rerank", "said", "returned scores that are not numbers"),
        ("chunk", "yes", r"returned \(False, True\) for \S+, which is not \(start, end\)"),
        ("chunk", "endless", r"returned \(0, inf\) for \S+, which is not \(start, end\)"),
        ("chunk", "late", r"failed: ValueError: too late \(broken_steps.py:16\)"),
        ("retrieve", "lazy", r"failed: ValueError: too late \(broken_steps.py:16\)"),
    ],
)
def test_a_step_that_breaks_its_contract_ends_the_run(
    section, call, says, write_config, corpus, monkeypatch, capsys
):
    monkeypatch.chdir(corpus)
    (corpus / "broken_steps.py").write_text(FUNCTIONS)
    own = f"{{kind: python, call: 'broken_steps:{call}', version: '1'}}"
    steps = {"chunk": "{kind: page}", "retrieve": "{kind: bm25}", "rerank": "null"}
    path = write_config(**(steps | ({section: own} if section in steps else {"more": f"{section}: {own}"})))
    message = refused(capsys, "bench", path)
    assert re.search(f"call: broken_steps:{call} {says}", message)
    assert "own-steps.md says what it" in message
