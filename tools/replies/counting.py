"""Count false grades and false refusals over a corpus of replies.

    python -m tools.replies

A false grade is one that a reply holds and does not give: it is quoted, doubted, taken back or of a failed
call. A false refusal is a reply that gives its grades in plain words and is not read. Every one is listed.
The corpus is in the files beside this one, written by hand; those of ``not_meant.yaml`` are tried with each
of the prompts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.judge.prompting import GradingForm, JudgePrompt, load_prompt
from harness.models.llm.client import ChatClient
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError
from harness.models.llm.reply import Malformed
from harness.values import LlmCall

HERE = Path(__file__).parent
Grades = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A reply to a kind of prompt, and the grades that it gives; None where it gives none."""

    what: str
    asks: str
    reply: str
    grades: Grades | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, and the grades that were read from it."""

    case: Case
    read: Grades | None

    @property
    def false_grade(self) -> bool:
        """Whether grades were read that the reply does not give."""
        return self.read is not None and self.read != self.case.grades

    @property
    def false_refusal(self) -> bool:
        """Whether the reply gives grades that were not read."""
        return self.read is None and self.case.grades is not None


def _own(words: str, **fields: Any) -> GradingForm:
    """A prompt of a user, whose words ask for a number or a list by itself."""
    user = f"{words} {{{{ query }}}} {{{{ passages }}}}"
    return GradingForm(JudgePrompt(language="en", user=user, **fields))


def forms() -> dict[str, tuple[GradingForm, int]]:
    """The kinds of prompts by name, each with the number of passages that a call shows."""
    return {
        "grade": (GradingForm(load_prompt("pointwise")), 1),
        "aspects": (GradingForm(load_prompt("umbrela")), 1),
        "final_score": (GradingForm(load_prompt("umbrela_published")), 1),
        "number": (_own("One number from 0 to 4.", answer="grade"), 1),
        # shown in the order given, so that grades can be compared
        "labelled": (GradingForm(load_prompt("listwise").model_copy(update={"shuffle": False})), 2),
        "plain": (GradingForm(load_prompt("seed_list")), 5),
        "bare_list": (_own("A simple list of scores.", answer="plain", list_size=5, distinct=True), 5),
    }


# What each kind of prompt is answered with where words or fields stand around it.
VALUES = {
    "grade": '{"grade": 4}',
    "aspects": '{"intent": 4, "match": 4, "trust": 4, "grade": 4}',
    "final_score": "##final score: 3",
    "number": "4",
    "labelled": '{"grades": [{"passage": 1, "grade": 4}, {"passage": 2, "grade": 0}]}',
    "plain": '{"scores": [4, 2, 1, 0, 3]}',
    "bare_list": "[4, 2, 1, 0, 3]",
}


def replies() -> Iterator[Case]:
    """All replies of the corpus."""
    for group in yaml.safe_load((HERE / "replies.yaml").read_text(encoding="utf-8")):
        grades = None if group["grades"] is None else tuple(group["grades"])
        for reply in group["replies"]:
            yield Case(group["what"], group["asks"], reply, grades)
    around = yaml.safe_load((HERE / "not_meant.yaml").read_text(encoding="utf-8"))
    for asks, value in VALUES.items():
        for words in around["before"]:
            yield Case("words before it say otherwise", asks, words + value, None)
        for words in around["after"]:
            yield Case("words after it say otherwise", asks, value + words, None)
        for fields in around["beside"] if value.startswith("{") else ():
            yield Case("a field beside it says otherwise", asks, f"{value[:-1]}, {fields}}}", None)
            yield Case("a field beside it says otherwise", asks, f"{{{fields}, {value[1:]}", None)


def completions() -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Bodies of completions: what each is, whether it holds a reply that may be used, and the body."""
    corpus = yaml.safe_load((HERE / "completions.yaml").read_text(encoding="utf-8"))
    for name, fields in corpus["documented"].items():
        yield f"completion of {name}", True, _body(fields)
    for fields in corpus["failed"]:
        yield f"completion with {json.dumps(fields, ensure_ascii=False)}", False, _body(fields)


def _body(fields: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in fields.items() if name not in ("choice", "message")}
    message, words = fields.get("message", {}), {}
    if isinstance(message, str):
        # at the top some servers have a message of their own
        message, words = {}, {"message": message}
    spoken = {"role": "assistant", "content": '{"grade": 3}', **message}
    choice = {"index": 0, "finish_reason": "stop", "message": spoken, **fields.get("choice", {})}
    return {"id": "1", "created": 1, "model": "m", "choices": [choice], **rest, **words}


def judged(cases: Iterable[Case]) -> list[Outcome]:
    """What is read from replies."""
    known, outcomes = forms(), []
    for case in cases:
        form, count = known[case.asks]
        call = LlmCall("q", tuple(f"p{n}" for n in range(count)), "", "m", {}, 0)
        read = form.read(call, case.reply)
        outcomes.append(Outcome(case, None if isinstance(read, Malformed) else read))
    return outcomes


def received() -> list[Outcome]:
    """What is read from completions."""

    async def run() -> list[Outcome]:
        client = ChatClient(Endpoint(model="m", base_url="http://127.0.0.1:9", api_key_env=None))
        form, _ = forms()["grade"]
        call, outcomes = LlmCall("q", ("p",), "", "m", {}, 0), []
        for what, good, body in completions():
            case = Case("completions", what, json.dumps(body, ensure_ascii=False), (3,) if good else None)
            read: Any = None
            try:
                reply = client.reply(body, 0.0, "")
                read = None if reply.fault else form.read(call, reply.text)
            except CallError:
                pass
            outcomes.append(Outcome(case, None if isinstance(read, Malformed) else read))
        await client.aclose()
        return outcomes

    return asyncio.run(run())


def main() -> int:
    """Print the counts for each kind of case, and every false one; fails on a false grade."""
    outcomes = [*judged(replies()), *received()]
    print(f"{'cases':>7}{'false grades':>14}{'false refusals':>16}")
    for what in dict.fromkeys(outcome.case.what for outcome in outcomes):
        _line([outcome for outcome in outcomes if outcome.case.what == what], what)
    _line(outcomes, "in all")
    meant = sum(outcome.case.grades is not None for outcome in outcomes)
    print(f"{meant} of {len(outcomes)} replies give grades, {len(outcomes) - meant} do not.")
    for outcome in outcomes:
        if outcome.false_grade or outcome.false_refusal:
            kind = "false grade" if outcome.false_grade else "false refusal"
            print(f"{kind}: {outcome.case.what}, to a prompt for {outcome.case.asks}: {outcome.case.reply!r}")
    return int(any(outcome.false_grade for outcome in outcomes))


def _line(outcomes: list[Outcome], what: str) -> None:
    wrong = sum(outcome.false_grade for outcome in outcomes)
    lost = sum(outcome.false_refusal for outcome in outcomes)
    print(f"{len(outcomes):>7,}{wrong:>14}{lost:>16}  {what}")
