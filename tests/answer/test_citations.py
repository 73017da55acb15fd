"""Citations against labelled spans, and similarity."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import ANSWER_MEASURES, Case
from harness.values import Chunk, Judgment, Query

from .helpers import NO_TOOLS, ToyTools, case

AnswerSimilarity = ANSWER_MEASURES["answer_similarity"].config
CitationPrecision = ANSWER_MEASURES["citation_precision"].config
CitationRecall = ANSWER_MEASURES["citation_recall"].config

QUERY = Query("q", "?", "train")


def label(doc, start, end, grade=3, evidence="", answer=None):
    return Judgment("q", doc, start, end, grade, evidence, answer=answer)


def cited(cited, judgments, spans=(("a", 0, 100), ("a", 100, 200), ("b", 0, 100), ("c", 0, 100))):
    passages = tuple(Chunk(f"{d}:{s}-{e}", d, s, e, "x" * (e - s)) for d, s, e in spans)
    return Case(QUERY, passages, "so", cited=tuple(cited), judgments=tuple(judgments))


def precision(one, **options):
    return NO_TOOLS.score(CitationPrecision(**options), [one])[0]


def recall(one, **options):
    return NO_TOOLS.score(CitationRecall(**options), [one])[0]


# Facts: revenue, twice (a:10-40 and b:0-30), margin (a:150-160), c:0-20 is judged irrelevant, d is not read.
LABELS = [
    label("a", 10, 40, 4, "revenue"),
    label("b", 0, 30, 4, "revenue"),
    label("a", 150, 160, 2, "margin"),
    label("c", 0, 20, 0),
    label("d", 0, 20, 4, "outlook"),
]


def test_worked_example():
    # cites passage 0 (revenue) twice, and 3 (irrelevant): 1 of 2 passages; of revenue and margin, one fact
    one = cited([0, 3, 0], LABELS)
    assert precision(one).value == 0.5
    assert precision(one).details == {"cited": [0, 3], "with_evidence": [0], "judged": 1.0}
    assert recall(one).value == 0.5
    assert recall(one).details == {"facts_cited": 1, "facts_read": 2, "facts_labelled": 3}
    # outlook was never read: of all three facts, one
    assert recall(one, of="all").value == pytest.approx(1 / 3)


def test_what_is_evidence_and_what_is_judged():
    # a copy of a fact is the fact
    one = cited([0, 2], LABELS)
    assert (precision(one).value, recall(one).value, recall(cited([2, 1], LABELS)).value) == (1, 0.5, 1)
    # grades below rel are no evidence
    assert precision(cited([1], LABELS), rel=3).value == 0
    assert recall(cited([0], LABELS), rel=3).value == 1
    # rel itself is: the margin has grade 2, beside the revenue it is one of two facts
    assert precision(cited([1], LABELS), rel=2).value == 1
    assert recall(cited([1], LABELS), rel=2).value == 0.5
    # unjudged passages earn nothing
    one = cited([0, 2], LABELS[:1])
    assert (precision(one).value, precision(one).details["judged"]) == (0.5, 0.5)
    # failed judgments count as unjudged
    one = cited([3], [label("a", 0, 50), label("c", 0, 50, None)])
    assert precision(one).details["judged"] == 0


def test_a_span_is_held_by_half_or_by_its_answering_words():
    half = [label("a", 60, 140, 3)]
    # 40 of 80 characters on either side
    assert [precision(cited([place], half)).value for place in (0, 1)] == [1, 1]
    words = [label("a", 60, 140, 3, answer=(120, 130))]
    assert [precision(cited([place], words)).value for place in (0, 1)] == [0, 1]
    assert precision(cited([0], half), rule="full_cover").value == 0


def test_an_undefined_value_has_a_reason():
    assert precision(cited([], LABELS)).reason == "nothing is cited"
    assert recall(cited([], LABELS)).value == 0
    assert precision(cited([0], [])).reason == recall(cited([0], [])).reason == "no evidence is labelled"
    assert recall(cited([0], LABELS[4:])).reason == "no labelled evidence was read"
    assert recall(cited([0], LABELS[4:]), of="all").value == 0
    assert precision(case("so", judgments=LABELS)).reason == "nothing was read"


@given(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_citing_more_never_lowers_recall(some, more):
    assert recall(cited(some, LABELS)).value <= recall(cited(some | more, LABELS)).value <= 1


def test_similarity_is_the_cosine():
    vectors = {"good": [1, 0], "fine": [3, 4], "bad": [-2, 0], "nothing": [0, 0]}
    measure = AnswerSimilarity()
    cases = [case("good", "fine"), case("good", "bad"), case("good", None), case("nothing", "good")]
    found = ToyTools(vector_of=vectors.get).score(measure, cases)
    # (1, 0) · (3, 4) / 5
    assert [one.value for one in found] == [pytest.approx(0.6), -1, None, None]
    assert [one.reason for one in found[2:]] == ["no golden answer is known", "a vector is zero"]
    assert not any(one.failed for one in found)


def test_a_cross_encoder_reads_the_answer_first_and_the_best_golden_answer_counts():
    scores = {("a", "near"): 0.9, ("a", "far"): 0.2, ("near", "a"): 0.1, ("b", "near"): -3.5}
    measure = AnswerSimilarity(by="cross_encoder", model="mine")
    cases = [
        replace(case("a", "far"), references=("far", "near")),
        case("b", "near"),
        case("b", None),
        case(None, "near"),
    ]
    found = ToyTools(score_of=lambda *pair: scores[pair]).score(measure, cases)
    # a logit stays one
    assert [one.value for one in found] == [0.9, -3.5, None, None]
    assert found[0].details == {"golden": "near"}
    assert [one.failed for one in found] == [False, False, False, True]
    assert measure.needs == {"answer", "reference"}
