"""Over a corpus of replies no grade is read that nobody gave, and what servers document is read."""

import re
from pathlib import Path

import pytest

from tools.replies.counting import judged, received, replies
from tools.replies.typed import readers, typed

# Honest replies that stay refused. What words around a value mean is not guessed, and a number by itself may
# be an answer to the query.
REFUSED = {
    "honest, with reasons in words around the object",
    "honest, a number where the prompt asks for an object",
}


@pytest.fixture(scope="module")
def outcomes():
    return [*judged(replies()), *received()]


def test_no_grade_is_read_that_nobody_gave(outcomes):
    assert sum(one.case.grades is None for one in outcomes) > 1000
    assert [one.case for one in outcomes if one.false_grade] == []


def test_what_the_prompt_asks_for_is_read_and_so_is_what_servers_document(outcomes):
    refused = [one.case for one in outcomes if one.false_refusal]
    assert [case for case in refused if case.what not in REFUSED] == []
    assert {case.what for case in refused} == REFUSED, "what is said of false refusals in docs/judge.md"
    for name in ("OpenAI", "Azure", "vLLM", "Ollama", "DeepSeek", "Qwen", "MiniMax"):
        served = [one for one in outcomes if one.case.asks.startswith(f"completion of {name}")]
        assert served, name
        assert all(one.read == (3,) for one in served)


@pytest.mark.parametrize("name", readers())
def test_the_types_of_the_package_openai_take_what_our_rules_refuse(name, outcomes):
    """Why completion.py checks what is read by them; one day this may fail, and it be shorter."""
    by_types = typed(readers()[name])
    assert len(by_types) == sum(one.case.what == "completions" for one in outcomes)
    assert sum(one.false_grade for one in by_types) > 50
    assert any(one.false_refusal for one in by_types)


def test_the_docs_state_the_counts(outcomes):
    page = " ".join(Path("docs/judge.md").read_text(encoding="utf-8").split())
    stated = re.search(
        r"corpus of ([\d,]+) replies .*?: of ([\d,]+) that give no grade none is read, "
        r"and of (\d+) that give one (\d+) are refused",
        page,
    )
    meant = sum(one.case.grades is not None for one in outcomes)
    refused = sum(one.false_refusal for one in outcomes)
    assert stated.groups() == (f"{len(outcomes):,}", f"{len(outcomes) - meant:,}", str(meant), str(refused))
