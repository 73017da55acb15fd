"""The cost of calls: tokens and prices, estimates before, limits during, and what a run has spent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from pydantic import Field, field_validator

from harness.values import LlmError, StageConfig, counted

PER_MILLION = 1_000_000
# The chat protocol's own tokens, by OpenAI's guide to counting them.
PER_MESSAGE = 3
PER_REPLY = 3
_MOST_TOKENS = 10**9


class Price(StageConfig):
    """The price of a model, per million tokens read and written, in one currency of your choice."""

    input: float = Field(ge=0, description="Per million tokens read.")
    output: float = Field(ge=0, description="Per million tokens written.")
    noted: str = Field(
        "", description="When or where you looked it up; shown with every estimate that uses it."
    )
    batch_factor: float = Field(
        0.5,
        ge=0,
        le=1,
        description="The fraction of these prices that a call in a batch costs (`endpoint: {batch: true}`).",
    )
    batch_input: float | None = Field(
        None, ge=0, description="Per million tokens read in a batch, in place of that fraction."
    )
    batch_output: float | None = Field(
        None, ge=0, description="Per million tokens written in a batch, in place of that fraction."
    )

    @field_validator("noted", mode="before")
    @classmethod
    def _a_date_is_text(cls, noted: object) -> object:
        return noted.isoformat() if isinstance(noted, date) else noted

    def __str__(self) -> str:
        noted = f", noted {self.noted}" if self.noted else ""
        return f"{self.input:g} per million tokens read, {self.output:g} written{noted}"

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of a call."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / PER_MILLION

    def in_batches(self) -> Price:
        """The price of calls in batches."""
        read, written = self.batch_input, self.batch_output
        return _BatchPrice(
            input=self.input * self.batch_factor if read is None else read,
            output=self.output * self.batch_factor if written is None else written,
            noted=self.noted,
        )


class _BatchPrice(Price):
    """A price that is already that of batches."""

    def __str__(self) -> str:
        return f"{Price.__str__(self)}, in batches"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The work of a run: calls still to be made, tokens and price (None: no price is known).

    ``items`` counts what is asked about and ``noun`` says what that is, such as pairs or prompts.
    ``completion_tokens`` and ``price`` are the most: every answer as long as ``max_tokens`` allows.
    ``likely_completion_tokens`` and ``likely_price`` are what to expect, on the grounds that ``likely_by``
    names. ``counted_by`` says how ``prompt_tokens`` were counted; ``model`` is the name under which the price
    table was asked, ``rate`` what it says. ``in_batches`` counts the calls whose answers batches that are on
    their way will bring.
    """

    items: int
    calls: int
    already_answered: int
    prompt_tokens: int
    completion_tokens: int
    price: float | None
    model: str = ""
    rate: Price | None = None
    likely_completion_tokens: int = 0
    likely_price: float | None = None
    likely_by: str = ""
    counted_by: str = ""
    noun: str = "prompts"
    in_batches: int = 0

    @property
    def missing(self) -> int:
        """The calls whose answers are not there yet: to be made, or on their way."""
        return self.calls + self.in_batches

    def __str__(self) -> str:
        single = "query" if self.noun == "queries" else self.noun.removesuffix("s")
        calls = f"{counted(self.items, single, self.noun)}: {counted(self.calls, 'call')} to make"
        calls += f", {self.already_answered:,} already in the ledger"
        if self.in_batches:
            calls += f", {self.in_batches:,} on their way in batches"
        if not self.calls:
            return f"{calls}; nothing {'more ' if self.in_batches else ''}to pay"
        price = f"price unknown: the table of prices has no {self.model}"
        if self.price is not None and self.likely_price is not None:
            price = f"price likely {self.likely_price:.4f}, at most {self.price:.4f} with one try each"
            price += f", by the prices of {self.model}" + (f": {self.rate}" if self.rate else "")
        return (
            f"{calls}; about {self.prompt_tokens:,} tokens to send ({self.counted_by}), likely "
            f"{self.likely_completion_tokens:,} to receive ({self.likely_by}), at most "
            f"{self.completion_tokens:,}; {price}"
        )


@dataclass(slots=True)
class Spending:
    """The calls of a run and their cost.

    ``from_ledger`` counts the answers that were there already. ``faults`` counts the tries that brought no
    answer, by their reason; most of them were repeated. ``unseen_calls`` of them may be on the bill all the
    same, for at most ``unseen_cost`` (None: no price is known), which is not in ``cost``.
    """

    calls: int = 0
    from_ledger: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    unseen_calls: int = 0
    unseen_cost: float | None = 0.0
    seconds: float = 0.0
    served_models: set[str] = field(default_factory=set)
    faults: dict[str, int] = field(default_factory=dict)

    def add_spending(self, other: Spending) -> None:
        """Add the spending and the faults of another run to this one."""
        self.calls += other.calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cost = add(self.cost, other.cost)
        self.unseen_calls += other.unseen_calls
        self.unseen_cost = add(self.unseen_cost, other.unseen_cost)
        self.served_models |= other.served_models
        for reason, count in other.faults.items():
            self.faults[reason] = self.faults.get(reason, 0) + count

    def note_fault(self, reason: str, billed: bool, most: float | None) -> None:
        """Count a try without an answer; ``billed``: it may be billed, at ``most`` this much."""
        self.faults[reason] = self.faults.get(reason, 0) + 1
        if billed:
            self.unseen_calls += 1
            self.unseen_cost = add(self.unseen_cost, most)

    def progress(self) -> list[str]:
        """The progress line during the run."""
        spent = "cost unknown" if self.cost is None else f"spent {self.cost:.4f}"
        return [spent, *(f"{reason} x{count}" for reason, count in self.faults.items())]


@dataclass(eq=False)
class Budget:
    """Keeps a run within ``max_cost`` and ``max_calls``, counting calls in flight at their highest price.

    ``model`` is the name of what is asked, ``before`` what the run has already taken from these limits; calls
    that may be on the bill count as paid.
    """

    model: str = ""
    max_cost: float | None = None
    max_calls: int | None = None
    before: Spending = field(default_factory=Spending)

    def __post_init__(self) -> None:
        self._calls = self.before.calls
        self._spent = (self.before.cost or 0.0) + (self.before.unseen_cost or 0.0)
        self._reserved = 0.0
        self._in_flight = 0
        self._changed = asyncio.Event()

    async def reserve(self, price: float) -> None:
        """Set aside the price of a call, waiting for calls in flight; LlmError if it is too much."""
        while not self.has_room(price):
            if self._at_max_calls or not self._in_flight:
                raise self.exhausted()
            self._changed.clear()
            await self._changed.wait()

    def has_room(self, price: float) -> bool:
        """Set aside the price of a call, if the limits allow it now; whether they do."""
        if self._at_max_calls:
            return False
        if self.max_cost is not None and self._spent + self._reserved + price > self.max_cost:
            return False
        self._calls += 1
        self.adopt(price)
        return True

    def adopt(self, price: float) -> None:
        """Set aside the price of a call that an earlier run has sent."""
        self._in_flight += 1
        self._reserved += price

    def settle(self, reserved: float, actual: float) -> None:
        """Replace a reservation by the actual cost of the call."""
        self._in_flight -= 1
        self._reserved -= reserved
        self._spent += actual
        self._changed.set()

    @property
    def _at_max_calls(self) -> bool:
        return self.max_calls is not None and self._calls >= self.max_calls

    def exhausted(self) -> LlmError:
        """The error that says which limit has ended the run."""
        limit = f"max_calls ({self.max_calls})" if self._at_max_calls else f"max_cost ({self.max_cost:g})"
        spent = "" if self.max_cost is None else f" and {self._spent:.4f} spent"
        return LlmError(
            f"Calls of {self.model} stopped at {limit} after {counted(self._calls, 'call')}{spent} in this "
            "run. Everything paid for is kept: raise the limit and run again; it resumes from here."
        )


def add(amount: float | None, other: float | None) -> float | None:
    """The sum of two amounts; None if one is unknown."""
    return None if amount is None or other is None else amount + other


def sum_of(amounts: Iterable[float | None]) -> float | None:
    """The sum of amounts; None if one is unknown."""
    total: float | None = 0.0
    for amount in amounts:
        total = add(total, amount)
    return total


def known_tokens(count: object) -> int | None:
    """A number of tokens as an endpoint says it; None for what is no such number."""
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its ASCII characters, and each other character as one.

    An estimate on the high side for current tokenizers, for planning only; what is recorded is what the
    endpoint reports.
    """
    other = sum(not char.isascii() for char in text) if not text.isascii() else 0
    return (len(text) - other + 3) // 4 + other


def tokens_of(messages: Sequence[dict[str, str]], count: Callable[[str], int]) -> int:
    """The tokens of one call's messages, each text as ``count`` counts it."""
    return sum(count(message["content"]) + PER_MESSAGE for message in messages) + PER_REPLY


@lru_cache(maxsize=8)
def token_counter(model: str) -> tuple[str, Callable[[str], int]]:
    """How tokens are counted, in words and as a function.

    By tiktoken where it is installed, knows ``model`` and has its vocabulary; else from the characters.
    """
    estimated = "estimated from the characters", estimate_tokens
    try:
        import tiktoken
    except ImportError:
        return estimated
    try:
        encoding = tiktoken.encoding_for_model(model)
    # An unknown model; a vocabulary that cannot be downloaded.
    except (KeyError, OSError, ValueError):
        return estimated
    # A text that looks like a control token is text.
    return f"counted with {encoding.name}", lambda text: len(encoding.encode(text, disallowed_special=()))
