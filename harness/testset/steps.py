"""What all steps share: whether they may write, the questions that are chosen, what they report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.errors import ConfigError
from harness.llm.money import Estimate
from harness.llm.records import Spending
from harness.report import counted
from harness.testset.rows import Candidate
from harness.testset.state import State


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step did, in sentences (``lines``); a dry run did nothing and says what it would cost.

    ``next`` are the commands that come next; None: what the state of the tables says.
    """

    lines: tuple[str, ...]
    estimates: tuple[tuple[str, Estimate], ...] = field(default=())
    dry: bool = False
    next: tuple[str, ...] | None = None


def calls_made(spent: Spending) -> str:
    """How many calls a step made, at which cost, and how many answers were paid for before."""
    cost = "at unknown cost (no price)" if spent.cost is None else f"for {spent.cost:.4f}"
    return f"{counted(spent.calls, 'call')} now {cost}, {spent.from_ledger} from the ledger"


def chosen_of(state: State) -> list[Candidate]:
    """The questions that are kept; raises ConfigError where there is none."""
    if not state.has(Candidate):
        raise ConfigError(
            f"{state.path(Candidate)} is not there yet. Choose the questions first: "
            f"harness testset {state.folder} choose"
        )
    rows = state.rows(Candidate)
    odd = sorted({one.keep for one in rows} - {"yes", "no", ""})
    if odd:
        raise ConfigError(
            f"{state.path(Candidate)}: keep is {odd[0]!r} somewhere. Write yes, no, or leave it empty."
        )
    kept = [one for one in rows if one.keep == "yes"]
    if not kept:
        raise ConfigError(
            f"{state.path(Candidate)}: no question is kept. Write yes into the column keep, or let a "
            f"balanced choice be made: harness testset {state.folder} choose --auto"
        )
    _refuse_repeated(state, kept)
    return kept


def _refuse_repeated(state: State, kept: Sequence[Candidate]) -> None:
    seen: set[str] = set()
    for one in kept:
        if one.query_id in seen or not one.query_id or one.query_id.split() != [one.query_id]:
            raise ConfigError(
                f"{state.path(Candidate)}: the query_id {one.query_id!r} is empty, contains a blank "
                "or appears twice. Give each question its own."
            )
        if not one.text.strip():
            raise ConfigError(
                f"{state.path(Candidate)}: the text of {one.query_id} is empty. Write it, or keep: no."
            )
        if one.answerable not in ("yes", "no"):
            raise ConfigError(
                f"{state.path(Candidate)}: answerable of {one.query_id} is {one.answerable!r}. Write yes "
                "or no."
            )
        seen.add(one.query_id)
