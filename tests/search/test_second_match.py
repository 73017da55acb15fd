"""A second match by names: the merge, names by rules and by a language model, and failures."""

import pytest

from harness.models import EmbedConfig
from harness.steps.search.rerank.entities import EntitiesMatch, EntitiesMatchConfig, LlmMatch, LlmMatchConfig
from harness.steps.search.tools import PendingCallsError
from harness.values.errors import LlmError
from tests.judge.fake_server import FakeServer, says
from tests.search.helpers import asking, tools_at

MODEL = {"model": "embedded:all-MiniLM-L6-v2"}
# the third passage names what is asked for, the second nothing
LIST = (
    "What did Acme earn in 2023?",
    "Borealis grew in 2019.",
    "it was a good year",
    "Acme sold more in 2023.",
)


def llm(url, **options):
    return asking(LlmMatchConfig, url, **MODEL, **options)


def naming(request, number=0):
    """A model that names what the text is about, and a purpose."""
    text = request["body"]["messages"][-1]["content"]
    names = [name for name in ("Acme", "Borealis", "2023", "2019") if name in text]
    return says("\n".join([*names, "earnings"]) if names else "none")


def test_both_orders_are_merged_by_reciprocal_ranks(tmp_path):
    scorer = EntitiesMatch(EntitiesMatchConfig(**MODEL, weight=0.5, k=10))
    ((scores, cost),) = scorer.ordered([LIST], tools_at(tmp_path))
    # retrieved 1, 2, 3; matched the third before the first, and the second not at all
    assert scores == pytest.approx([1 / 11 + 0.5 / 12, 1 / 12, 1 / 13 + 0.5 / 11])
    assert cost == 0


@pytest.mark.parametrize("text", ["what happened?", ""])
def test_a_question_without_names_keeps_the_order(tmp_path, text):
    found = EntitiesMatch(EntitiesMatchConfig(**MODEL)).ordered(
        [(text, *LIST[1:]), (text,)], tools_at(tmp_path)
    )
    assert [sorted(scores, reverse=True) == scores for scores, _ in found] == [True, True]
    assert [len(scores) for scores, _ in found] == [3, 0]


def test_equal_matches_keep_the_order_and_no_weight_changes_nothing(tmp_path):
    same = ("Acme?", "We know Acme.", "They know Acme.", "All know Acme.")
    for weight in (0, 3):
        scorer = EntitiesMatch(EntitiesMatchConfig(**MODEL, weight=weight))
        ((scores, _),) = scorer.ordered([same], tools_at(tmp_path))
        assert sorted(scores, reverse=True) == scores


def test_a_model_names_each_text_once_and_a_plan_counts_it(tmp_path):
    with FakeServer(naming) as server:
        scorer = LlmMatch(llm(server.url, weight=2, prices={"fake": {"input": 1000, "output": 1000}}))
        lists = [LIST, ("Who is Borealis?", *LIST[1:3])]
        with pytest.raises(PendingCallsError) as pending:
            scorer.ordered(lists, tools_at(tmp_path, may_ask=False))
        # two questions, and three passages, two of which are in both lists
        assert [one.estimate.calls for one in pending.value.missing] == [2, 3]
        assert server.count == 0
        tools = tools_at(tmp_path)
        (first, cost), (second, _) = scorer.ordered(lists, tools)
        assert server.count == 5
        again = scorer.ordered(lists, tools_at(tmp_path, may_ask=False))
    assert again == [(first, cost), (second, pytest.approx(cost))]
    assert max(first) == first[2]
    # 110 tokens of the question alone, at a thousandth each: passages are named once, not for each query
    assert cost == pytest.approx(0.11)
    assert {tools.context.bills.purposes[title] for title in tools.context.bills.spent} == {"naming"}


def test_the_limit_of_a_section_holds_for_questions_and_passages_together(tmp_path):
    with FakeServer(naming) as server, pytest.raises(LlmError, match="max_calls"):
        LlmMatch(llm(server.url, max_calls=3)).ordered([LIST], tools_at(tmp_path))
    assert server.count <= 3


def test_a_text_without_an_answer_ends_the_run_or_names_nothing(tmp_path):
    def script(request, number):
        return says("", refusal="no") if "Borealis" in str(request["body"]) else naming(request)

    with FakeServer(script) as server:
        with pytest.raises(LlmError, match=r"1 of 3 texts have no usable list.*rerank.on_failure"):
            LlmMatch(llm(server.url)).ordered([LIST], tools_at(tmp_path))
        tools = tools_at(tmp_path)
        ((scores, _),) = LlmMatch(llm(server.url, on_failure="nameless")).ordered([LIST], tools)
    assert scores == pytest.approx([1 / 61, 1 / 62, 1 / 63 + 1 / 61])
    assert "count as naming nothing" in tools.context.warnings[0].text


def test_what_decides_a_score_is_in_the_fingerprint():
    plain = EntitiesMatch(EntitiesMatchConfig(**MODEL))
    changed = [{"weight": 2}, {"k": 1}, {"dtype": "bfloat16"}]
    found = {EntitiesMatch(EntitiesMatchConfig(**MODEL, **one)).fingerprint for one in changed}
    url = "http://127.0.0.1:1"
    found |= {LlmMatch(llm(url, prompt=name)).fingerprint for name in ("entities", "names_and_intent_zh")}
    assert len(found | {plain.fingerprint}) == 6
    assert plain.config.encoders == (EmbedConfig(**MODEL),)


def test_a_prompt_that_shows_no_text_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("user: 'Name them.'\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no \{\{ query \}\}; a second match needs it"):
        llm("http://127.0.0.1:1", prompt=str(path))
