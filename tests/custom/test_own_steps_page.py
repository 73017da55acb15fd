"""docs/own-steps.md: the errors that it shows are those of a run, its statuses those that are retried."""

import re
from pathlib import Path

from harness.steps.custom.sending import _PASSING
from tests.command import refused

PAGE = (Path(__file__).parents[2] / "docs" / "own-steps.md").read_text(encoding="utf-8")
MINE = """
def search(queries, passages, k):
    return [[99] for _ in queries]
def score(pairs):
    return [1.0, 2.0, 3.0]
"""


def test_the_errors_shown_are_those_of_a_run(write_config, corpus, monkeypatch, capsys):
    monkeypatch.chdir(corpus)
    (corpus / "steps_shown.py").write_text(MINE)
    lines = re.findall(r"^error: call: mine:.*", PAGE, re.MULTILINE)
    for section, line in zip(("retrieve", "rerank"), lines, strict=True):
        call = re.search(r"mine:(\w+)", line)[1]
        steps = {"retrieve": "{kind: bm25}", "rerank": "null"}
        steps[section] = f"{{kind: python, call: 'steps_shown:{call}', version: '1'}}"
        message = refused(capsys, "bench", write_config(chunk="{kind: page}", **steps))
        # the places, pairs and folders are those of this test
        expected = re.sub(r"\b(41|20)\b|docs/|mine\b", r"\\S+", re.escape(line).replace("\\ ", " "))
        assert re.search(expected, message), message


def test_the_statuses_that_are_retried_are_those_shown():
    shown = re.search(r"time-outs, ([\d, ]+) and 5xx are retried", PAGE)[1]
    assert {int(status) for status in shown.split(",")} == _PASSING
