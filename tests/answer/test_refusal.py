"""Whether answers refuse, and whether they should."""

import pytest

from harness.measures import ANSWER_MEASURES, refuses

from .helpers import NO_TOOLS, ToyTools, case

Refusal = ANSWER_MEASURES["refusal"].config

NO = "I don’t know. The documents do not say."


@pytest.mark.parametrize(
    ("text", "refusing"),
    [
        (NO, True),
        ("The passages do not provide the revenue of 2022.", True),
        ("I can not answer the question because of the insufficient information in documents.", True),
        ("由于文档信息不足，无法回答该问题。", True),
        (
            "The information provided does not specify what the footballer did.\nIt seems to be about sales.",
            True,
        ),
        (
            "Based on the information provided from the report, there is no\nspecific mention of who won.",
            True,
        ),
        ("资料中没有具体提到该球员的贡献。", True),
        ("97 million.", False),
        ("The contract does not specify a date of termination.", False),
        # what an answer adds about what is not known is no refusal
        ("Revenue was 97 million. The margin is not mentioned.", False),
        ("收入为9700万元。利润未提及。", False),
    ],
)
def test_phrases(text, refusing):
    assert refuses(text) is refusing


def value(one, tools=NO_TOOLS, **options):
    (found,) = tools.score(Refusal(**options), [one])
    return found.value


def test_it_is_right_to_refuse_what_cannot_be_answered():
    assert value(case(NO, answerable=False)) == value(case("97.")) == 1
    assert value(case(NO)) == value(case("97.", answerable=False)) == 0
    # queries can be limited to one side
    assert value(case(NO, answerable=False), of="unanswerable") == 1
    assert value(case(NO), of="unanswerable") is None
    assert value(case(NO), of="answerable") == 0


def test_a_model_can_recognise_refusals_and_no_answer_is_none():
    tools = ToyTools(lambda name, query, texts, sample: '{"verdict": 1}')
    assert value(case("Hard to say.", answerable=False), tools, by="llm") == 1
    assert tools.asked == [("refuses v1", "What is it?", ("Hard to say.",), 0)]
    (found,) = NO_TOOLS.score(Refusal(), [case(None, answerable=False, reason="content_filter")])
    assert (found.value, found.failed) == (None, True)
