"""A language model behind the ledger: its calls, their recorded answers, and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from harness.models.llm.client import ENDED_BY_ITSELF
from harness.models.llm.config import ModelConfig
from harness.models.llm.form import FINAL_REASONS, Form, Talk
from harness.models.llm.money import Estimate, Spending, sum_of, token_counter, tokens_of
from harness.models.llm.reply import Malformed
from harness.store import Ledger
from harness.values import LlmAnswer, LlmCall, counted

T = TypeVar("T")
HandOn = Callable[[T, list[LlmAnswer]], None]
"""Takes what a job is about and its answers."""
LIMIT = "max_tokens"


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """``calls`` that are made one after the other, whose answers belong together.

    ``about`` is their subject, returned with the answers; it counts as ``size`` things done. ``talk`` begins
    the calls in place of ``calls`` where they depend on answers.
    """

    about: T
    calls: tuple[LlmCall, ...] = ()
    size: int = 1
    talk: Callable[[], Talk[Any]] | None = None


@dataclass(eq=False)
class Model:
    """Asks ``config.endpoint`` under one form; holds no key and opens no connection until it has to.

    ``before`` is what the run has already spent within the limits of ``config``, under other forms.
    """

    config: ModelConfig
    form: Form
    ledger: Ledger
    before: Spending = field(default_factory=Spending)

    def __post_init__(self) -> None:
        self._parameters = {**self.config.endpoint.parameters(), "structured": self.form.structured}

    def call(self, query: str, passages: Sequence[str] = (), sample: int = 0) -> LlmCall:
        """One call: the texts that the prompt shows, and the number of its repetition."""
        model = self.config.endpoint.model
        sha = self.form.sha_of(query)
        return LlmCall(query, tuple(passages), sha, model, self._parameters, sample)

    def begin(self, job: Job[Any]) -> Generator[LlmCall, LlmAnswer | None, None]:
        """The calls of a job one by one, each after the answer to the one before was sent."""
        if job.talk is None:
            for call in job.calls:  # noqa: UP028 - an answer cannot be sent to a tuple
                yield call
            return
        talk, answer = job.talk(), None
        with suppress(StopIteration):
            while True:
                answer = yield self.call(*talk.send(answer))

    def _looked_up(self, job: Job[Any]) -> list[tuple[LlmCall, LlmAnswer | None]]:
        """The calls of a job, at most as many as there may be, with the answers that the ledger has."""
        looked_up: list[tuple[LlmCall, LlmAnswer | None]] = []
        calls, answer = self.begin(job), None
        with suppress(StopIteration):
            while True:
                call = calls.send(answer)
                # what a talk asks after an answer that is not known is not known either
                unknown = job.talk is not None and looked_up and answer is None
                answer = None if unknown else self.find(call)
                looked_up.append((call, answer))
        return looked_up

    def find(self, call: LlmCall) -> LlmAnswer | None:
        """The answer in the ledger that settles a call, None if it is to be asked; a usable one first.

        Besides the answer to the very same call it may be one that was given under another ``max_tokens`` and
        that this limit would not have changed. With ``ask_again`` one that cannot be used settles nothing.
        """
        answers: list[LlmAnswer] = []
        for limited in _under_all_limits(self.ledger, call):
            entry = self.ledger.find(self.ledger.key(limited))
            if entry is not None and (limited is call or _still_holds(entry, call.parameters[LIMIT])):
                answers.append(_as_read_today(entry, self.form))
        unusable = answers[0] if answers and not self.config.ask_again else None
        return next((answer for answer in answers if answer.usable), unusable)

    def cost(self, calls: Iterable[LlmCall]) -> float | None:
        """The cost of all tries of calls, under any limit of length; None if a price is unknown."""
        keys = dict.fromkeys(key for call in calls for key in keys_of(self.ledger, call))
        return sum_of(map(self.ledger.cost, keys))

    def estimate(self, jobs: Iterable[Job[T]], noun: str = "prompts") -> Estimate:
        """Estimate the cost of the calls, without making any; reads the jobs once."""
        endpoint = self.config.endpoint
        source, tokens_in = token_counter(endpoint.model)
        on_their_way = self.ledger.batches.keys()
        count = calls = in_ledger = tokens = bare = in_batches = 0
        prompts, seen = set(), set[str]()
        for job in jobs:
            count += job.size
            looked_up = self._looked_up(job)
            unknown = {self.ledger.key(call): call for call, answer in looked_up if answer is None}
            in_ledger += sum(answer is not None for _, answer in looked_up)
            # jobs with the same texts are one call
            missing = [call for key, call in unknown.items() if key not in seen]
            seen |= unknown.keys()
            in_batches += sum(self.ledger.key(call) in on_their_way for call in missing)
            missing = [call for call in missing if self.ledger.key(call) not in on_their_way]
            calls += len(missing)
            prompts |= {call.prompt_sha for call, _ in looked_up}
            # repetitions show the same texts
            for about, times in Counter((call.query, call.passages) for call in missing).items():
                call = self.call(*about)
                tokens += times * tokens_of(self.form.messages(call), tokens_in)
                bare += times * tokens_in(self.form.shortest(call))
        used = [self.ledger.usage(sha, endpoint.model, self._parameters) for sha in sorted(prompts)]
        past, written = sum(calls for calls, _ in used), sum(tokens for _, tokens in used)
        likely, grounds = bare, "assuming short answers without reasoning"
        if past:
            likely = round(calls * written / past)
            grounds = f"as in {counted(past, 'past call')}, {written / past:.0f} each"
        most = calls * endpoint.max_tokens
        return Estimate(
            count,
            calls,
            in_ledger,
            tokens,
            most,
            self.config.cost(tokens, most),
            model=endpoint.model,
            rate=self.config.price,
            likely_completion_tokens=min(likely, most),
            likely_price=self.config.cost(tokens, min(likely, most)),
            likely_by=grounds,
            counted_by=source,
            noun=noun,
            in_batches=in_batches,
        )


def jobs_of(calls: Iterable[LlmCall]) -> Iterator[Job[LlmCall]]:
    """Each call as a job of its own."""
    return (Job(call, (call,)) for call in calls)


def came_in_batch(answer: LlmAnswer) -> bool:
    """Whether an answer came in a batch, so that its time is that of the batch.

    The names of the batch and of the request in it make up its id.
    """
    return "/" in answer.request_id


def keys_of(ledger: Ledger, call: LlmCall) -> list[str]:
    """The key of a call, then those of the same call under other limits of length, the largest first."""
    return [ledger.key(other) for other in _under_all_limits(ledger, call)]


def _under_all_limits(ledger: Ledger, call: LlmCall) -> Iterator[LlmCall]:
    yield call
    limit = call.parameters.get(LIMIT)
    if not isinstance(limit, int):
        return
    others = [
        other
        for other in ledger.parameters(call.model, call.prompt_sha)
        if isinstance(other.get(LIMIT), int)
        and other[LIMIT] != limit
        and {**other, LIMIT: limit} == call.parameters
    ]
    for other in sorted(others, key=lambda other: -other[LIMIT]):
        yield replace(call, parameters=other)


def _still_holds(entry: LlmAnswer, limit: int) -> bool:
    """Whether an answer, given under another limit of length, would have been the same under ``limit``."""
    if entry.reason in FINAL_REASONS:
        return True
    used, earlier = entry.completion_tokens, entry.parameters[LIMIT]
    finish = (entry.finish or "").lower()
    ended = finish in ENDED_BY_ITSELF if finish else used is not None and used < earlier
    return ended and (limit >= earlier or (used is not None and used <= limit))


def _as_read_today(entry: LlmAnswer, form: Form) -> LlmAnswer:
    """An answer whose end was not recorded, without its grades where they are of one that was cut off.

    Earlier versions took grades from such answers, and from those with two grades in two forms.
    """
    if entry.grades is None or entry.finish is not None:
        return entry
    read = form.read(entry, entry.raw)
    if entry.completion_tokens is not None and entry.completion_tokens == entry.parameters.get(LIMIT):
        read = Malformed("truncated")
    if isinstance(read, Malformed) and read.reason in {"truncated", "unfinished_thought", "ambiguous"}:
        return replace(entry, grades=None, reason=read.reason)
    return entry
