"""The likely and the highest cost of a run: tokens by tiktoken, answers as long as the ledger knows them."""

import os
from pathlib import Path

import pytest

from harness.judge import GradingForm, LlmJudge, load_prompt
from harness.judge.prompting import FOLDER
from harness.models import built_in, estimate_tokens
from harness.models.llm.money import token_counter, tokens_of
from harness.values import LlmCall
from tests.judge.fake_server import FakeServer, says
from tests.judge.helpers import config, judge_all, pairs

SHARED = Path(os.environ.get("HARNESS_SHARED", Path(__file__).parents[2] / ".." / "shared"))
PRICES = {"fake": {"input": 1.0, "output": 10.0}}


def estimate(url, ledger, count=20, **options):
    judge = LlmJudge(config(url, prices=PRICES, **options), ledger)
    return judge.estimate(pairs(count))


def test_without_past_answers_a_bare_one_is_assumed(ledger):
    found = estimate("http://127.0.0.1:9/v1", ledger)
    # {"grade": 0}: 12 characters, 3 tokens by the rule of four
    assert (found.likely_completion_tokens, found.completion_tokens) == (20 * 3, 20 * 400)
    assert "assuming short answers" in str(found)
    assert found.likely_price == pytest.approx((found.prompt_tokens * 1 + 60 * 10) / 1e6)
    assert found.price == pytest.approx((found.prompt_tokens * 1 + 8000 * 10) / 1e6)


def test_past_answers_of_the_same_prompt_model_and_parameters_say_how_long_the_next_will_be(ledger):
    with FakeServer(lambda request, number: says('{"grade": 2}', usage=(100, 90))) as server:
        judge_all(config(server.url), ledger, pairs(8))
        found = estimate(server.url, ledger)
        assert (found.calls, found.already_answered) == (12, 8)
        assert found.likely_completion_tokens == 12 * 90
        assert "as in 8 past calls, 90 each" in str(found)
        for other in ({"prompt": "umbrela"}, {"endpoint": {"temperature": 0.7}}):
            assert "assuming short answers" in str(estimate(server.url, ledger, **other))


def test_answers_that_had_to_be_repeated_count_with_their_calls(ledger):
    def script(request, number):
        return says("none" if number % 2 == 0 else '{"grade": 2}', usage=(100, 30))

    with FakeServer(script) as server:
        judge_all(config(server.url, endpoint={"max_concurrency": 1}), ledger, pairs(4))
        assert estimate(server.url, ledger).likely_completion_tokens == 16 * 60


def test_the_bare_answer_is_one_that_the_prompt_accepts():
    for name in built_in(FOLDER):
        prompt = load_prompt(name)
        form = GradingForm(prompt)
        call = LlmCall("q", ("p",) * prompt.list_size, "", "m", {}, 0)
        grades = form.read(call, form.shortest(call))
        # seed_list wants distinct scores; its form is right
        assert grades == (0,) * prompt.list_size or grades.reason == "duplicate_grades", name


@pytest.mark.skipif(not (SHARED / "tokenizers").is_dir(), reason="no vocabulary is here (HARNESS_SHARED)")
def test_tokens_are_counted_with_tiktoken_where_it_knows_the_model(monkeypatch):
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(SHARED / "tokenizers"))
    token_counter.cache_clear()
    source, count = token_counter("gpt-4-0613")
    assert source == "counted with cl100k_base"
    text = "Total revenue of Orlin Pumps for fiscal year 2022 was $412.6 million. <|endoftext|>"
    own = tiktoken.get_encoding("cl100k_base").encode(text, disallowed_special=())
    assert count(text) == len(own) < estimate_tokens(text) + 10
    # 3 for each message and 3 for the reply, by OpenAI's guide
    assert tokens_of([{"role": "user", "content": text}] * 2, count) == 2 * len(own) + 9
    token_counter.cache_clear()
