"""The pieces of the answer stage: what is read, in which order, what counts as a citation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.models import built_in
from harness.steps import AnswerInput, passages_read
from harness.steps.answer.citations import read_citations, without_citations
from harness.steps.answer.extractive import REFUSAL, ExtractiveAnswerer, ExtractiveConfig
from harness.steps.answer.llm import FOLDER, LlmAnswerConfig
from tests.search.helpers import Given


def config(**fields):
    return ExtractiveConfig(**fields)


@pytest.mark.parametrize(
    ("fields", "lengths", "expected"),
    [
        ({"top_n": 2}, [10, 10, 10], [0, 1]),
        ({"top_n": 5}, [10, 10], [0, 1]),
        ({"top_n": 5}, [], []),
        # 10 + 10 fit into 25; the third would make 30
        ({"top_n": None, "max_tokens": 25}, [10, 10, 10], [0, 1]),
        ({"top_n": None, "max_tokens": 20}, [10, 10, 1], [0, 1]),
        # the first that does not fit ends the list, though the next would fit
        ({"top_n": None, "max_tokens": 15}, [10, 10, 5], [0]),
        ({"top_n": None, "max_tokens": 5}, [10, 1], []),
        ({"top_n": 1, "max_tokens": 100}, [10, 10], [0]),
        ({"top_n": 5, "order": "reverse"}, [1] * 5, [4, 3, 2, 1, 0]),
        # ranks 1, 3, 5 from the front, 2, 4 from the back
        ({"top_n": 5, "order": "edges"}, [1] * 5, [0, 2, 4, 3, 1]),
        ({"top_n": 4, "order": "edges"}, [1] * 4, [0, 2, 3, 1]),
    ],
)
def test_the_passages_read_and_their_order(fields, lengths, expected):
    assert passages_read(config(**fields), lengths) == expected


@given(
    st.lists(st.integers(0, 50), max_size=12),
    st.integers(1, 12),
    st.integers(1, 200),
    st.sampled_from(["rank", "reverse", "edges"]),
)
def test_whatever_the_order_the_first_ranks_that_fit_are_read_once(lengths, top_n, budget, order):
    read = passages_read(config(top_n=top_n, max_tokens=budget, order=order), lengths)
    assert sorted(read) == list(range(len(read)))
    assert sum(lengths[rank] for rank in read) <= budget
    assert len(read) <= top_n
    if len(read) < min(top_n, len(lengths)):
        assert sum(lengths[: len(read) + 1]) > budget


@pytest.mark.parametrize(
    ("text", "passages", "cited", "bad"),
    [
        ("It is 5 [1].", 3, (0,), 0),
        ("It is 5 [2][1], and 6 [ 2 , 3 ].", 3, (1, 0, 2), 0),
        ("它是五【2】，也是六[1，3]。", 3, (1, 0, 2), 0),
        ("No citation.", 3, (), 0),
        ("Out of range [4], and [0].", 3, (), 2),
        # half right is not right: nobody knows which half
        ("Both [1, 9].", 3, (), 1),
        ("A range [1-3] and a word [passage 2] and (source 1).", 3, (), 3),
        ("（段落 2）", 3, (), 1),
        # brackets that are no citations
        ("[sic] and [a1] and (2024) and f[x]", 3, (), 0),
        # a year in brackets looks like a citation of passage 2024
        ("In [2024] it rose [1].", 3, (0,), 1),
    ],
)
def test_citations_are_read_strictly_and_what_is_not_one_is_counted(text, passages, cited, bad):
    assert read_citations(text, passages) == (cited, bad)


def test_an_answer_without_its_citations():
    assert without_citations("It is 5 [1].") == "It is 5."
    assert without_citations("39,717 [1][3]") == "39,717"
    assert without_citations("它是五【2】。") == "它是五。"
    assert without_citations("[2]") == ""
    assert without_citations("[1-3] stays") == "[1-3] stays"


@given(st.text(max_size=60), st.integers(0, 5))
def test_citations_never_point_outside_the_passages(text, passages):
    cited, bad = read_citations(text, passages)
    assert all(0 <= place < passages for place in cited)
    assert bad >= 0


class Vectors:
    """Vectors by hand: the cosine of a sentence with the question (1, 0) is its first number."""

    def __init__(self, **cosines):
        self.cosines = cosines

    def vectors(self, texts):
        rows = [self.cosines.get(text.rstrip(".").lower(), 1.0) for text in texts]
        # twice as long as a unit vector: only the direction counts
        return np.array([[2 * c, 2 * (1 - c * c) ** 0.5] for c in rows], dtype=np.float32)


ASKED = [AnswerInput("q", "What?", ("Alpha. Beta.", "Gamma. Alpha."))]


@pytest.mark.parametrize(
    ("fields", "text", "cited"),
    [
        ({}, "Gamma.", (1,)),
        # two sentences are in the order read, each citing its passage
        ({"sentences": 2}, "Alpha. Gamma.", (0, 1)),
        ({"sentences": 9}, "Alpha. Beta. Gamma.", (0, 1)),
        ({"refuse_below": 0.8}, "Gamma.", (1,)),
        ({"refuse_below": 0.95}, REFUSAL, ()),
    ],
)
def test_the_extractive_baseline_takes_the_sentences_most_like_the_question(fields, text, cited):
    tools = Vectors(alpha=0.5, beta=0.2, gamma=0.9)
    (reply,) = Given(tools.vectors).run(ExtractiveAnswerer(config(**fields)).run(ASKED))
    assert (reply.text, reply.cited, reply.reason) == (text, cited, "")
    assert reply.price is reply.seconds is None


def test_of_equal_sentences_the_first_is_taken_and_without_one_there_is_no_answer():
    answerer = ExtractiveAnswerer(config())
    (reply,) = Given(Vectors(alpha=0.5, beta=0.5, gamma=0.5).vectors).run(answerer.run(ASKED))
    assert (reply.text, reply.cited) == ("Alpha.", (0,))
    (reply,) = Given(Vectors().vectors).run(answerer.run([AnswerInput("q", "What?", ("  \n",))]))
    assert (reply.text, reply.reason) == (None, "the passages hold no sentence")
    assert Given(Vectors().vectors).run(answerer.run([])) == []


def test_every_prompt_is_of_its_language_and_one_of_ones_own_shows_what_it_must(tmp_path):
    for name in built_in(FOLDER):
        prompt = LlmAnswerConfig.load(name)
        assert prompt.cites == name.startswith("cited")
        assert prompt.language == ("zh" if name.endswith("_zh") else "en")
    for user, slot in (
        ("{{ query }}", "passages"),
        ("{{ passages }}", "query"),
        ("{{ query }} {{ passages }} {{ n }}", "n"),
    ):
        (tmp_path / "own.yaml").write_text(f"user: '{user}'\n", encoding="utf-8")
        with pytest.raises(ValidationError, match=rf"\{{\{{ {slot} \}}\}}"):
            LlmAnswerConfig(endpoint={"model": "m"}, prompt=str(tmp_path / "own.yaml"))


def test_model_and_temperature_replace_those_of_the_endpoint():
    prices = {"b": {"input": 1.0, "output": 2.0}}
    one = LlmAnswerConfig(
        endpoint={"temperature": 0.0}, model="b", temperature=0.7, prices=prices, max_cost=1.0
    )
    assert (one.asked.endpoint.model, one.asked.endpoint.temperature) == ("b", 0.7)
    assert one.asked.price == one.price == one.prices["b"]
    assert LlmAnswerConfig(endpoint={"model": "a"}, model="b").asked.endpoint.model == "b"
    with pytest.raises(ValidationError, match="max_cost needs the price of"):
        LlmAnswerConfig(endpoint={"model": "b"}, model="a", prices=prices, max_cost=1.0)
