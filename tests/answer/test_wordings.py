"""Golden answers within answers, errors that are seen, and parity with RGB's script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import ANSWER_MEASURES, Case
from harness.values import Query

from .helpers import NO_TOOLS, case


def make(answer, parts=(("Norway",),), *, changed=False, passages=1):
    """A case with a golden answer of parts; the passage read is altered where ``changed``."""
    base = case(answer, "; ".join(part[0] for part in parts), passages=["text"] * passages)
    return Case(
        Query("q", "Which?", "train"),
        base.passages,
        base.answer,
        base.reason,
        base.references,
        changed=(0,) if changed else (),
        parts=parts,
    )


def value(kind, given, **options):
    (score,) = NO_TOOLS.score(ANSWER_MEASURES.find(kind).config(**options), [given])
    return score.value


def test_contains_and_exact_match_on_a_sentence():
    sentence = make("The answer is norway.")
    # the sentence has more words than the golden answer, which exact_match takes for wrong
    assert (value("exact_match", sentence), value("contains", sentence)) == (0, 1)
    assert value("contains", make("Sweden.")) == 0
    assert (
        value(
            "contains", make("Insufficient information, maybe Norway."), unless=("insufficient information",)
        )
        == 0
    )


def test_all_parts():
    parts = (("3 January", "January 3"), ("12 January",))
    assert value("all_parts", make("On January 3, and 12  january.", parts)) == 1
    assert value("all_parts", make("On January 3.", parts)) == 0
    assert value("all_parts", make("The answer is Norway.", ())) is None
    assert value("all_parts", make(None)) is None


@pytest.mark.parametrize(
    ("answer", "changed", "detected", "corrected"),
    [
        ("There are factual errors in the provided documents. It is Norway.", True, 1, 1),
        ("There are factual errors in the provided documents.", True, 1, 0),
        ("提供的文档存在事实性错误。Norway", True, 1, 1),
        ("U.S.", True, 0, None),
        # nothing that was read is false
        ("There are factual errors. It is Norway.", False, None, None),
    ],
)
def test_errors(answer, changed, detected, corrected):
    given = make(answer, changed=changed)
    assert (value("error_detected", given), value("error_corrected", given)) == (detected, corrected)
    assert value("error_detected", given, of="all") == float("factual error" in answer or "事实" in answer)


REJECTS, DETECTS = ("insufficient information", "信息不足"), ("factual errors", "事实性错误")


def rgb_label(answer, parts):
    """What RGB's script marks a reply with: -1 where it rejects, else 1 or 0 for each part of the answer."""
    if any(phrase in answer for phrase in REJECTS):
        return [-1]
    return [int(any(word.lower() in answer.lower() for word in part)) for part in parts]


WORDS = st.sampled_from(
    ["norway", "Norway", "1987", "insufficient information", "factual errors", "信息不足", "no"]
)
REPLIES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=8)


@given(REPLIES, st.sampled_from([(("Norway",),), (("Norway", "Norge"), ("1987",))]))
def test_parity_with_the_rates_of_rgb(replies, parts):
    # its evalue.py: right where no part is missing and the reply does not reject; with noise alone a
    # rejection is right; detected where the phrase is there; corrected: right among those that detect
    labels = [rgb_label(reply, parts) for reply in replies]
    right = [0 not in label and 1 in label for label in labels]
    detects = [any(phrase in reply for phrase in DETECTS) for reply in replies]
    cases = [make(reply, parts, changed=True) for reply in replies]
    assert [value("all_parts", one, unless=REJECTS) for one in cases] == [float(mark) for mark in right]
    refusal = {"where": "anywhere", "phrases": REJECTS, "answer_in": "documents"}
    alone = [make(reply, parts) for reply in replies]
    refused = [value("refusal", one, **refusal) for one in alone]
    # the query has an answer, so a refusal is wrong: the rate of rejection is one minus the mean
    assert [1 - mark for mark in refused] == [float(label == [-1]) for label in labels]
    assert [value("error_detected", one, phrases=DETECTS) for one in cases] == [
        float(mark) for mark in detects
    ]
    for one, reply, label, seen in zip(cases, replies, labels, detects, strict=True):
        corrected = value("error_corrected", one, phrases=DETECTS)
        if not seen:
            assert corrected is None
        elif label != [-1]:
            # a reply that detects and rejects is counted as corrected by RGB's script, and not here
            assert corrected == float(0 not in label), reply
