"""Exact match and token F1 by SQuAD's rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import ANSWER_MEASURES, words_of
from harness.values import ANSWER, QueryScore

from .helpers import NO_TOOLS, case

AnswerSimilarity = ANSWER_MEASURES["answer_similarity"].config
ExactMatch = ANSWER_MEASURES["exact_match"].config
TokenF1 = ANSWER_MEASURES["token_f1"].config

EXACT, F1 = ExactMatch(), TokenF1()


def value(measure, answer, reference):
    (found,) = NO_TOOLS.score(measure, [case(answer, reference)])
    return found.value


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "f1"),
    [
        ("The Eiffel Tower.", "eiffel tower", 1, 1),
        # words: in paris france | paris; P = 1/3, R = 1, F1 = 2 * 1 / (3 + 1)
        ("in Paris, France", "Paris", 0, 0.5),
        # repetitions count once each: {no: 2} & {no: 1} = 1; 2 * 1 / (2 + 1)
        ("no no", "no", 0, 2 / 3),
        ("Berlin", "Paris", 0, 0),
        # characters 北京市 | 北京: 2 * 2 / (3 + 2)
        ("北京市。", "北京", 0, 0.8),
        ("《北京》", "北京", 1, 1),
        # both kinds: 2022 年 | 2022: 2 * 1 / (2 + 1)
        ("2022年", "2022", 0, 2 / 3),
        # SQuAD 2.0: nothing but articles and punctuation on both sides agrees
        ("The!", "a", 1, 1),
        ("The!", "cat", 0, 0),
    ],
)
def test_worked_examples(answer, reference, exact, f1):
    assert value(EXACT, answer, reference) == exact
    assert value(F1, answer, reference) == pytest.approx(f1, abs=1e-12)


def test_articles_within_words_stay():
    assert words_of("Theatre and an A股 a") == ("theatre", "and", "a", "股")


TEXTS = st.text("ab The北京，. ", min_size=1).filter(lambda text: text.strip())


@given(TEXTS, TEXTS)
def test_f1_is_symmetric_and_bounds_exact_match(one, other):
    assert value(F1, one, other) == value(F1, other, one)
    assert 0 <= value(EXACT, one, other) <= value(F1, one, other) <= 1
    assert value(F1, one, one) == 1


@pytest.mark.parametrize("kind", ["exact_match", "token_f1"])
def test_a_missing_input_gives_no_value_and_never_zero(kind):
    measure = ANSWER_MEASURES.make(ANSWER_MEASURES[kind].config())
    (unanswered,) = NO_TOOLS.score(measure, [case(None, "Paris", reason="timeout")])
    assert unanswered == QueryScore("", ANSWER, "q", kind, None, "not answered: timeout", failed=True)
    (unknown,) = NO_TOOLS.score(measure, [case("Paris", None)])
    assert unknown == QueryScore("", ANSWER, "q", kind, None, "no golden answer is known")


ENDPOINT = {"model": "m", "base_url": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        # what is wrong, and what to name instead
        ({"model": "m"}, "model is for by: cross_encoder.*answer_embedding"),
        ({"endpoint": ENDPOINT}, "endpoint is for by: cross_encoder.*answer_embedding"),
        ({"by": "cross_encoder"}, "needs a model.*or an endpoint.*neither"),
        ({"by": "cross_encoder", "model": "m", "endpoint": ENDPOINT}, "a model.*not both"),
    ],
)
def test_a_likeness_is_read_by_one_model(keys, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        AnswerSimilarity(**keys)
    one = AnswerSimilarity(by="cross_encoder", model="m")
    assert (one.pair_model, one.needs) == ("m", {"answer", "reference"})
    assert (AnswerSimilarity().pair_model, "vectors" in AnswerSimilarity().needs) == (None, True)


def test_impossible_scores_are_refused():
    with pytest.raises(ValueError, match="no reason"):
        ExactMatch().unscored(case("a"), "")
    with pytest.raises(ValueError, match="nan"):
        ExactMatch().score(case("a"), float("nan"))
    with pytest.raises(ValueError, match="empty"):
        case(" ")
    with pytest.raises(ValueError, match="were not read"):
        case("a", passages=["p"], cited=[1])
