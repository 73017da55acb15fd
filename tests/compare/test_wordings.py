"""The table of sentences: each is whole, and every conclusion finds its own."""

import ast
import json
import re
from collections import Counter
from pathlib import Path
from string import Formatter

import numpy as np
import pytest

import harness
from harness.comparison import Options, Scores, sentence, sentence_of, verdict_json, verdict_of
from harness.comparison.conclusion import conclusion_of
from harness.comparison.line_wordings import LINES
from harness.comparison.step_wordings import CHECKS, FAULTS, STEPS
from harness.comparison.warning_wordings import WARNINGS
from harness.comparison.wordings import MOST_WORDS, NAMES, SENTENCES, VERDICTS, sentences_said
from tests.compare.build import matrix

SLOTS = {
    slot: "X"
    for text in SENTENCES.values()
    for _, slot, _, _ in Formatter().parse(text)
    if slot is not None and slot not in NAMES
}
NAMED = dict.fromkeys(NAMES, "A")


@pytest.mark.parametrize("code", SENTENCES)
def test_every_sentence_can_be_made_and_reads_whole(code):
    text = sentence_of(code, **SLOTS, **NAMED)
    # a step whose sentence ends with a colon is followed by what to copy
    assert text.endswith((".", ":") if code.startswith(("step.", "try.", "quick.")) else ".")
    assert text[0].isupper() or text[0].isdigit()
    # within, a sentence ends before a capital or a number
    assert not re.search(r"\. [a-z(]", text)
    assert "  " not in text
    assert text == text.strip()
    assert text.count("(") == text.count(")")
    # of braces only those of a line of YAML are left
    assert "{" not in re.sub(r"\{(labels|clusters|unit): \w+\}", "", text)


def test_no_code_is_in_two_parts_of_the_table_and_no_two_codes_say_the_same():
    parts = (VERDICTS, LINES, STEPS, CHECKS, FAULTS, WARNINGS)
    assert len(SENTENCES) == sum(map(len, parts))
    assert [text for text, times in Counter(SENTENCES.values()).items() if times > 1] == []


@pytest.mark.parametrize("code", VERDICTS)
def test_a_verdict_is_short_enough_for_names(code):
    text = sentences_said([code], SLOTS, NAMED, ["A"])
    assert len(text.split()) <= MOST_WORDS


def test_a_conclusion_is_data_and_the_sentence_comes_from_it():
    rng = np.random.default_rng(1)
    codes = set()
    for n, spread in ((12, 0.1), (60, 0.01), (60, 0.3)):
        for ahead in (0.0, 0.01, 0.3):
            rows = {
                name: 0.4 + shift + rng.normal(0, spread, n) for name, shift in (("a", ahead), ("b", 0.0))
            }
            scores = matrix(rows, "ndcg_evidence@5000")
            verdict = verdict_of(Scores(matrices={scores.measure: scores}, options=Options(resamples=200)))
            found = conclusion_of(verdict)
            codes.update(found.codes)
            plain = json.loads(json.dumps(verdict_json(verdict)))["conclusion"]
            assert tuple(plain["codes"]) == found.codes
            names = {slot: verdict.words(name) for slot, name in plain["settings"].items()}
            said = sentences_said(plain["codes"], plain["values"], names, ["a", "b"])
            assert said == sentence(verdict) == verdict.said
    assert {"few", "best"} < codes


def test_only_a_name_that_begins_with_a_size_is_that_of_chunks():
    names = ("500 characters, keyword search", "keyword search")
    values = {"bound": "0.05", "level": "95%"}
    sized, bare = (sentences_said(["open"], values, {"setting": name}, names) for name in names)
    assert sized.startswith("Use chunks of 500 characters, keyword search.")
    assert bare.startswith("Use keyword search.")


def test_names_are_cut_so_that_they_still_tell_settings_apart():
    many = [f"{size} characters, keyword search, reranked by a model of {size} words" for size in (500, 900)]
    long = "overlap 50, header of the table, " * 3 + "keyword search"
    text = sentences_said(["open"], {"bound": "0.05", "level": "95%"}, {"setting": long}, [long, *many])
    assert len(text.split()) <= MOST_WORDS
    assert "…" in text


CODE = [
    ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(Path(harness.__path__[0]).rglob("*.py"))
    if not path.stem.endswith("wordings")
]


def calls_of(name):
    """Every call in the code of a function or method of this name."""
    calls = (node for tree in CODE for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if name == getattr(call.func, "attr", getattr(call.func, "id", ""))]


def test_every_call_of_a_sentence_gives_its_values():
    calls = [call for call in calls_of("sentence_of") if isinstance(call.args[0], ast.Constant)]
    assert len(calls) > 50
    for call in calls:
        slots = {slot for _, slot, _, _ in Formatter().parse(SENTENCES[call.args[0].value]) if slot}
        values = {keyword.arg for keyword in call.keywords}
        assert slots <= values or None in values, ast.unparse(call)


def test_every_warning_is_said_somewhere():
    nodes = [node for tree in CODE for node in ast.walk(tree)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    codes = {code: code.removesuffix(".one").removesuffix(".zero") for code in WARNINGS}
    assert [code for code, stem in codes.items() if stem not in texts] == []
