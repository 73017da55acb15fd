"""The graph of passages grades by agreement; it is weak, says so, and never makes a grade of nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.judge import JUDGES, Pair
from harness.judge.graph import ALONE, GraphConfig, GraphJudge, rarity_in, strength, terms_of
from harness.values.progress import Silent
from harness.values.types import Chunk, Query


def pairs(*texts, query="total revenue"):
    asked = Query("q", query, "train")
    return [
        Pair(asked, Chunk(f"d:{n}", "d", 100 * n, 100 * n + len(text), text), n)
        for n, text in enumerate(texts)
    ]


def grades(*texts, query="total revenue"):
    found = []
    summary = GraphJudge(GraphConfig()).grade(pairs(*texts, query=query), found.append, reporter=Silent())
    return [one.judgment.grade for one in found], found, summary


def scored(query, passages, restart):
    return strength(query, passages, restart, rarity_in(passages))


def test_scores_are_shares_of_the_highest_times_the_highest_cosine():
    """Two passages "a b" and "a c", question "b", restart 0.5.

    Each leads only to the other one, so steps are [[0, 1], [1, 0]]; b is in the first alone, so the bias is
    [1, 0]. The fixed point of w = 0.5 [1, 0] + 0.5 (w2, w1): w1 = 0.5 + 0.5 w2, w2 = 0.5 w1, so weights 2/3
    and 1/3, and shares 1 and 1/2.

    Of two passages both hold a, one b: b weighs log(1 + 2 / 1.5) = log(7/3), a log(1 + 2 / 2.5) = log(9/5).
    The cosine of "b" with "a b" is log(7/3) / hypot(log(7/3), log(9/5)).
    """
    passages = ["a b", "a c"]
    rarity = rarity_in(passages)
    assert rarity.of("b") == pytest.approx(np.log(7 / 3))
    cosine = np.log(7 / 3) / np.hypot(np.log(7 / 3), np.log(9 / 5))
    assert strength("b", passages, 0.5, rarity) == pytest.approx([cosine, cosine / 2])
    # the question's words alone
    assert strength("b", passages, 1.0, rarity) == pytest.approx([cosine, 0])


def test_pairs_that_can_be_read_once_only_are_graded_alike():
    some = pairs("total revenue 96", "revenue was 96", "weather")
    one, other = [], []
    GraphJudge(GraphConfig()).grade(some, one.append, reporter=Silent())
    GraphJudge(GraphConfig()).grade(iter(some), other.append, reporter=Silent())
    assert [each.judgment.grade for each in one] == [each.judgment.grade for each in other]
    assert len(one) == 3


def test_what_others_repeat_and_the_question_names_is_graded_highest():
    (repeated, again, beside, other), _, _ = grades(
        "total revenue was 96 million in 2023",
        "in 2023 total revenue was 96 million",
        "total cost of the garden party",
        "the weather in Lyon",
    )
    assert repeated == again == 4
    assert repeated > beside >= other == 0


def test_without_agreement_the_walk_stays_with_the_question():
    # no passage shares a word with another one: weights are the shares of the question's words, 1 and 0,
    # and the cosine of the question with the first is 1
    found = scored("revenue", ["revenue", "weather"], 0.5)
    # the second has no edges and no bias; what leaves the first comes back to it
    assert found == pytest.approx([1.0, 0.0])


def test_a_passage_alone_has_no_grade_and_a_question_without_a_shared_word_grades_0():
    (only,), (graded,), summary = grades("total revenue")
    assert only is None
    assert graded.reason == ALONE
    assert summary.unscored == {ALONE: 1}
    assert grades("one text", "one text", query="nothing of it")[0] == [0, 0]


def test_chinese_is_compared_by_pairs_of_characters():
    assert terms_of("苏州工厂 A1") == ["苏州", "州工", "工厂", "a1"]
    found, _, _ = grades("苏州工厂有员工", "员工在苏州工厂", "天气很好", query="苏州工厂")
    assert found[0] > found[2]


texts = st.lists(st.text("ab c", max_size=12), min_size=1, max_size=6)


@given(st.text("ab c", max_size=8), texts, st.floats(0.1, 1))
def test_the_highest_score_is_the_highest_cosine(query, passages, restart):
    found = scored(query, passages, restart)
    assert (found >= 0).all()
    # restart 1 leaves the cosines as they are
    assert found.max() == pytest.approx(scored(query, passages, 1.0).max())
    assert found.max() <= 1 + 1e-9


@given(texts)
def test_the_order_of_the_passages_does_not_matter(passages):
    one, other = scored("a b", passages, 0.5), scored("a b", passages[::-1], 0.5)
    assert one == pytest.approx(other[::-1])


def test_it_is_a_kind_of_judge_and_named_as_weak():
    assert "weak" in GraphConfig().title
    assert JUDGES.find("graph").config is GraphConfig
    with pytest.raises(ValidationError, match="thresholds rise"):
        GraphConfig(thresholds=(0.5, 0.4, 0.6, 0.7))
