"""Questions rewritten by a language model: over HTTP, through the ledger, with its faults."""

from functools import partial
from pathlib import Path

import pytest

from harness.models import built_in
from harness.steps import REWRITERS
from harness.steps.search.rewrite.prompted import FOLDER
from harness.values import LlmError, Query
from tests.judge.fake_server import FakeServer, says
from tests.search.helpers import asking, fenced, tools_at

LlmRewriterConfig = REWRITERS["llm"].config
MultiQueryConfig = REWRITERS["multi_query"].config

QUERIES = [
    Query("q1", "How many vehicles fit?", "train"),
    Query("q2", "Why was it recalled?", "validation"),
    Query("q3", "How many vehicles fit?", "validation"),
]


PAGE = (Path(__file__).parent.parent.parent / "docs" / "rewriting.md").read_text(encoding="utf-8")

config = partial(asking, LlmRewriterConfig)


def stated(request, number):
    return says(f"Statement of: {fenced(request)}")


def rewrite(tmp_path, config):
    own = tools_at(tmp_path)
    return [query.text for query in own.rewritten(config, QUERIES)], own.session


def test_every_question_is_asked_once_and_the_ledger_answers_the_next_run(tmp_path):
    with FakeServer(stated) as server:
        texts, first = rewrite(tmp_path, config(server.url))
        again, second = rewrite(tmp_path, config(server.url))
        (_, both, _), _ = rewrite(tmp_path, config(server.url, with_question=True))
    assert texts == again == [f"Statement of: {query.text}" for query in QUERIES]
    assert both == "Why was it recalled?\nStatement of: Why was it recalled?"
    assert server.count == 2, "equal questions are one call"
    assert [(one.calls, one.from_ledger) for one in first.notes.bills.spent.values()] == [(2, 0)]
    assert [(one.calls, one.from_ledger) for one in second.notes.bills.spent.values()] == [(0, 2)]


@pytest.mark.parametrize("name", built_in(FOLDER))
def test_every_prompt_shows_the_question_between_fences(name, tmp_path):
    prompt = MultiQueryConfig.load(name)
    made = MultiQueryConfig if "{{ n }}" in prompt.system + prompt.user else LlmRewriterConfig
    with FakeServer(stated) as server:
        rewrite(tmp_path, asking(made, server.url, prompt=name))
    system, user = server.requests[0]["body"]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert fenced(server.requests[0]) in {query.text for query in QUERIES}
    assert "{{" not in system["content"] + user["content"]
    assert prompt.language == ("zh" if name.endswith("_zh") else "en")
    assert f"`{name}`" in PAGE


def test_a_prompt_of_ones_own(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("user: 'Rephrase {{ query }}'\n", encoding="utf-8")
    with FakeServer(lambda request, number: says("other words")) as server:
        read = config(server.url, prompt=str(path))
        # read once, with the configuration, which names it
        path.unlink()
        texts, context = rewrite(tmp_path, read)
    assert read.model_dump(mode="json")["prompt"] == read.model_dump()["prompt"] == str(path)
    assert texts == ["other words"] * 3
    assert list(context.notes.bills.spent) == ["mine v1 by fake"]
    assert server.requests[0]["body"]["messages"][0]["content"].startswith("Rephrase <query ")


def test_a_failed_rewriting_ends_the_run_or_goes_as_asked(tmp_path):
    def refuses_one(request, number):
        return says(None, refusal="no") if "recalled" in fenced(request) else stated(request, number)

    with FakeServer(refuses_one) as server:
        with pytest.raises(
            LlmError, match=r"1 of 3 queries .* by fake: q2 \(refusal\).*on_failure: as_asked"
        ):
            rewrite(tmp_path, config(server.url))
        texts, context = rewrite(tmp_path, config(server.url, on_failure="as_asked"))
    assert texts[1] == "Why was it recalled?"
    assert texts[0] == "Statement of: How many vehicles fit?"
    (warning,) = context.notes.reporter.warnings
    assert "q2 (refusal)" in warning
