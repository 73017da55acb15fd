"""The judge that asks a language model: pairs in, judgments out, every answer in the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from harness.errors import JudgeError
from harness.judge.config import LlmConfig
from harness.judge.items import Item, items_of
from harness.judge.prompting import Prompt, load_prompt, render
from harness.judge.records import Graded, Ledger, Pair, Sink, Summary
from harness.judge.sampling import combine_grades, spread_of
from harness.llm.calls import Call
from harness.llm.client import Client
from harness.llm.estimate import shortest_answer, token_counter
from harness.llm.faults import one_line
from harness.llm.money import Estimate
from harness.llm.reuse import find_answer, keys_of
from harness.progress import Reporter
from harness.types import Asked, Judgment

EXAMPLES = 20


@runtime_checkable
class Describable(Protocol):
    """A progress task that can also show a line of text, such as the money spent."""

    def describe(self, text: str) -> None:
        """Show ``text`` beside the bar."""


@dataclass(frozen=True, slots=True)
class Result:
    """One sample of an item: its grades, or None and the reason; the key of its answer, and its words."""

    grades: tuple[int, ...] | None
    reason: str
    key: str
    said: str


def llm_name(config: LlmConfig, prompt: Prompt) -> str:
    """How a judge is named in every table: model, prompt and samples."""
    samples = f" x{config.samples}" if config.samples > 1 else ""
    return f"{config.endpoint.model} ({prompt.id} v{prompt.version}{samples})"


class LlmJudge:
    """Grades pairs by asking ``config.endpoint``; holds no key and opens no connection until it has to."""

    def __init__(self, config: LlmConfig, ledger: Ledger, *, client: Client | None = None) -> None:
        self.config = config
        self.prompt = load_prompt(config.prompt)
        self.ledger = ledger
        self.client = client

    @property
    def name(self) -> str:
        """How the judge is named in every table."""
        return llm_name(self.config, self.prompt)

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a run record keeps of the judge: model, address, parameters, prompt; no secret."""
        endpoint = self.config.endpoint
        return {
            "kind": "llm",
            "model": endpoint.model,
            "base_url": endpoint.azure.endpoint if endpoint.azure else endpoint.base_url,
            "parameters": endpoint.parameters(),
            "prompt": f"{self.prompt.id} v{self.prompt.version}",
            "prompt_sha256": self.prompt.sha256,
            "samples": self.config.samples,
            "combine": self.config.combine,
        }

    def estimate(self, pairs: Iterable[Pair]) -> Estimate:
        """Say what grading would take, without asking anything; reads the pairs once."""
        endpoint, rate = self.config.endpoint, self.config.price
        counter = token_counter(endpoint.model)
        count = calls = known = tokens = bare = 0
        for item in items_of(pairs, self.prompt):
            count += len(item.pairs)
            open_calls = sum(self.settled(self.call(item, s)) is None for s in range(self.config.samples))
            known += self.config.samples - open_calls
            calls += open_calls
            if open_calls:
                tokens += open_calls * counter.of_messages(render(self.prompt, item.query, item.passages))
                bare += open_calls * counter.count(shortest_answer(self.prompt, len(item.pairs)))
        past, written = self.ledger.usage(self.prompt.sha256, endpoint.model, endpoint.parameters())
        likely, grounds = bare, "taking bare answers, without any thinking aloud"
        if past:
            likely = round(calls * written / past)
            grounds = f"as in {past:,} past calls, {written / past:.0f} each"
        most = calls * endpoint.max_tokens
        return Estimate(
            count,
            calls,
            known,
            tokens,
            most,
            rate.of(tokens, most) if rate else None,
            model=endpoint.model,
            rate=rate,
            likely_completion_tokens=min(likely, most),
            likely_price=rate.of(tokens, min(likely, most)) if rate else None,
            likely_by=grounds,
            counted_by=counter.source,
        )

    def grade(
        self,
        pairs: Iterable[Pair],
        sink: Sink,
        *,
        reporter: Reporter,
        total: int | None = None,
    ) -> Summary:
        """Grade the pairs, each handed to ``sink`` as soon as it is graded (in no set order).

        Pairs are read as they are needed, so a generator of any length takes constant memory. ``total`` is
        their number, for the progress bar and for stopping as soon as ``max_unscored`` cannot be met any
        more. Raises BudgetError, EndpointDownError, or JudgeError when too many pairs have no grade; in
        each case all answers are in the ledger and the next run goes on from there.
        """
        from harness.judge.run import run

        return run(self, pairs, sink, reporter, total)

    def call(self, item: Item, sample: int) -> Call:
        """The call for one sample of an item, with its key."""
        endpoint = self.config.endpoint
        asked = Asked(
            item.query, item.passages, self.prompt.sha256, endpoint.model, endpoint.parameters(), sample
        )
        return Call(self.ledger.key(asked), asked)

    def settled(self, call: Call) -> Result | None:
        """What the ledger already holds of a call."""
        found = find_answer(self.ledger, call.asked, self.prompt)
        if found is None:
            return None
        key, answer = found
        if answer.grades is None and self.config.ask_again:
            return None
        return Result(answer.grades, answer.reason, key, answer.raw)

    def graded(self, item: Item, results: list[Result]) -> list[Graded]:
        """Combine the samples of an item; a pair is scored when more than half of its samples are."""
        calls = [self.call(item, sample) for sample in range(self.config.samples)]
        costs = [self.ledger.cost(key) for call in calls for key in keys_of(self.ledger, call.asked)]
        known = [cost for cost in costs if cost is not None]
        cost = sum(known) / len(item.pairs) if len(known) == len(costs) else None
        return [self._one(pair, at, results, cost) for at, pair in enumerate(item.pairs)]

    def _one(self, pair: Pair, at: int, results: list[Result], cost: float | None) -> Graded:
        samples = tuple(result.grades[at] for result in results if result.grades is not None)
        enough = 2 * len(samples) > len(results)
        grade = combine_grades(samples, self.config.combine) if enough else None
        failed = [result for result in results if result.grades is None]
        reason, said = ("", "") if enough else (failed[0].reason, one_line(failed[0].said))
        judgment = Judgment(
            query_id=pair.query.query_id,
            doc_id=pair.passage.doc_id,
            start=pair.passage.start,
            end=pair.passage.end,
            grade=grade,
            source=f"ledger:{results[0].key[:16]}",
            judge=self.name,
            prompt_sha=self.prompt.sha256,
        )
        return Graded(pair, judgment, samples, spread_of(samples), reason, cost, said)


def note_graded(summary: Summary, graded: Graded) -> None:
    """Count one graded pair."""
    summary.pairs += 1
    summary.disagreeing += graded.spread > 0
    if graded.judgment.grade is None:
        summary.unscored[graded.reason] = summary.unscored.get(graded.reason, 0) + 1
        if graded.said:
            summary.said.setdefault(graded.reason, graded.said)
        if len(summary.unscored_examples) < EXAMPLES:
            pair, passage = graded.pair, graded.pair.passage
            said = f" ({graded.said})" if graded.said else ""
            summary.unscored_examples.append(
                f"query {pair.query.query_id}, {passage.doc_id}:{passage.start}-{passage.end}: "
                f"{graded.reason}{said}"
            )


def check_unscored(summary: Summary, limit: float, total: int) -> None:
    """Raise JudgeError with the list when more than ``limit`` of ``total`` pairs have no grade."""
    if summary.unscored_count <= limit * total:
        return
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(summary.unscored.items()))
    listed = "\n  ".join(summary.unscored_examples)
    more = summary.unscored_count - len(summary.unscored_examples)
    raise JudgeError(
        f"{summary.unscored_count} of {total} pairs have no grade ({reasons}); max_unscored allows "
        f"{limit:.1%}. A "
        "mean over the rest would not be honest. Look at the reasons, change the endpoint, the prompt or "
        f"max_unscored, and run again (ask_again: true repeats settled failures).{_about_length(summary)}"
        f"\n  {listed}" + (f"\n  and {more} more" if more > 0 else "")
    )


def _about_length(summary: Summary) -> str:
    if not summary.unscored.keys() & {"truncated", "unfinished_thought"}:
        return ""
    return (
        " Answers were cut off: raise endpoint.max_tokens, from which reasoning models spend their thoughts; "
        "those that ended by themselves are not bought again."
    )
