"""Whether the types of the package openai, by which completions are read, would do without our checks.

    python -m tools.replies --typed

Counts false grades and false refusals over the completions of the corpus as the package reads them: as its
client does, which checks nothing, and checked against its types by pydantic. What the corpus leaves out and
the types ask for is added, so that nothing is refused for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.models.llm.reply import Malformed
from harness.values import LlmCall
from tools.replies.counting import Case, Outcome, completions, forms

_ADDED = {"object": "chat.completion"}
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def readers() -> dict[str, Callable[[dict[str, Any]], Any]]:
    """The ways in which the package makes a completion of a body, which raise for one that they refuse."""
    from openai.types.chat import ChatCompletion

    return {
        "as its client reads": lambda body: ChatCompletion.construct(**body),
        "checked against its types": ChatCompletion.model_validate,
    }


def typed(reader: Callable[[dict[str, Any]], Any]) -> list[Outcome]:
    """What is read from the completions of the corpus by a reader of the package."""
    form, _ = forms()["grade"]
    call, outcomes = LlmCall("q", ("p",), "", "m", {}, 0), []
    for what, good, body in completions():
        case = Case("completions", what, str(body), (3,) if good else None)
        read: Any = None
        try:
            choice = reader(_whole(body)).choices[0]
            # what a user of the package would look at
            if choice.finish_reason == "stop" and not choice.message.refusal:
                read = form.read(call, choice.message.content)
        except (AttributeError, IndexError, TypeError, ValueError):
            pass
        outcomes.append(Outcome(case, None if isinstance(read, Malformed) else read))
    return outcomes


def _whole(body: dict[str, Any]) -> dict[str, Any]:
    usage = body.get("usage")
    return {**_ADDED, **body, "usage": _USAGE | usage if isinstance(usage, dict) else _USAGE}


def main() -> int:
    """Print the counts of either way."""
    for name, reader in readers().items():
        outcomes = typed(reader)
        bad = sum(outcome.case.grades is None for outcome in outcomes)
        wrong = sum(outcome.false_grade for outcome in outcomes)
        lost = sum(outcome.false_refusal for outcome in outcomes)
        print(f"{name}: {wrong} of {bad} false grades, {lost} of {len(outcomes) - bad} false refusals")
    return 0
