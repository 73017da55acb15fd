"""What the keys of a judge may not be together: the message names the key, the fault and the remedy."""

import pytest

from harness.judge import JUDGES, Example, JudgeTools, LlmConfig, LlmJudge, PanelConfig
from harness.values import ConfigError

LOCAL = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
ALTERNATIVES = {**LOCAL, "top_logprobs": 5}
SHOWN = [Example("query", "passage", 4)]
REFUSED = {
    "seed list of passages": ({"prompt": "seed_list_zh"}, ["seed_list_zh", "set pool.unit to chunk"]),
    "a limit without a price": ({"max_cost": 1.0}, ["max_cost", "price"]),
    "published words as JSON": (
        {"prompt": "umbrela_published", "endpoint": {**LOCAL, "structured": "json_object"}},
        ["umbrela_published", "in words", "set endpoint.structured to none"],
    ),
    "no probabilities": (
        {"combine": "expected", "endpoint": {**LOCAL, "top_logprobs": 4}},
        ["combine: expected", "set endpoint.top_logprobs to 5"],
    ),
    "one opinion many times": (
        {"samples": 3, "endpoint": {**LOCAL, "temperature": 0}},
        ["samples at temperature 0", "set endpoint.temperature above 0"],
    ),
    "no such prompt": ({"prompt": "pointwize"}, ["pointwize", "pointwise_zh"]),
    "probabilities of a list": (
        {"combine": "expected", "prompt": "listwise", "endpoint": ALTERNATIVES},
        ["combine: expected", "listwise", "Use pointwise, or combine: mean"],
    ),
    "examples of a list": ({"examples": 1, "prompt": "listwise"}, ["examples", "listwise", "Use pointwise"]),
    "examples with aspects": ({"examples": 1, "prompt": "umbrela"}, ["examples", "umbrela", "Use pointwise"]),
    "one pool of members": ([{}, {"pool": {"depth": 3}}], ["members share one pool", "next to members"]),
    # what a call costs or how long it may take makes no other judge
    "one judge twice": ([{}, {"endpoint": {**LOCAL, "timeout": 9}}], ["the same judge", "use samples"]),
}


def made(keys, ledger):
    """A judge of the keys, or a panel of members with them."""
    if isinstance(keys, list):
        return PanelConfig(members=[{"endpoint": LOCAL, **own} for own in keys])
    return LlmJudge(LlmConfig(**{"endpoint": LOCAL, **keys}), ledger, candidates=SHOWN)


@pytest.mark.parametrize(("keys", "words"), REFUSED.values(), ids=REFUSED)
def test_keys_of_a_judge_that_do_not_fit(keys, words, ledger):
    with pytest.raises((ValueError, ConfigError)) as refused:
        made(keys, ledger)
    assert all(word in str(refused.value) for word in words)


@pytest.mark.parametrize(
    "keys", [{"examples": 1}, {"combine": "expected", "endpoint": {**LOCAL, "top_logprobs": 5}}, {}]
)
def test_a_reply_of_its_own_shape_needs_a_judge_that_only_reads_it(keys, ledger, tmp_path):
    prompt = tmp_path / "mine.yaml"
    prompt.write_text(
        "language: en\nanswer: grade\nreply: {grade: score}\nuser: '{{ query }} {{ passages }}'\n"
    )
    # without other keys it is the schema that does not fit
    with pytest.raises(ConfigError, match="reply of its own shape"):
        made({"prompt": str(prompt), **keys}, ledger)
    made({"prompt": str(prompt), "endpoint": {**LOCAL, "structured": "none"}}, ledger)


def test_what_does_fit():
    LlmConfig(endpoint={**LOCAL, "temperature": 0.5}, samples=3)
    LlmConfig(endpoint=LOCAL, samples=3, prompt="listwise")
    members = [{"endpoint": LOCAL, "prompt": prompt} for prompt in ("pointwise", "umbrela")]
    assert len(PanelConfig(members=members).asked) == 2


OTHER = {**LOCAL, "model": "n"}


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"kind": "llm", "endpoint": LOCAL}, ["m"]),
        ({"kind": "panel", "members": [{"endpoint": LOCAL}, {"endpoint": OTHER}]}, ["m", "n"]),
    ],
    ids=["llm", "panel"],
)
def test_every_kind_that_grades_a_pool_builds_itself_and_knows_its_name(fields, asked, ledger):
    config = JUDGES[fields["kind"]].config(**fields)
    judge = JUDGES.make(config, JudgeTools(ledger, tuple, tuple, None, None, None))
    assert judge.name == config.title
    assert [one.endpoint.model for one in config.asked] == asked
    assert [name for name, _ in judge.estimates([])] == [one.title for one in config.asked]
