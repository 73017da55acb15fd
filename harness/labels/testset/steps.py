"""Shared by all steps: the documents, the chosen questions, and the reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.labels.testset.rows import (
    Candidate,
    DisagreementRow,
    GradeRow,
    PoolRow,
    SearchedRow,
    SetDocument,
    key_of,
)
from harness.labels.testset.state import SetState
from harness.models import Estimate, Spending
from harness.running import Context, load_documents
from harness.values import ConfigError, CorpusError, Document, counted


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a step, in sentences (``lines``); for a dry run, what it would cost.

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


def chosen_of(state: SetState) -> list[Candidate]:
    """The questions that are kept; raises ConfigError if there is none."""
    if not state.has(Candidate):
        raise ConfigError(
            f"{state.path(Candidate)} is not there yet. Choose the questions first: "
            f"harness testset {state.folder} choose"
        )
    rows = state.rows(Candidate)
    odd = next((one for one in rows if one.keep not in ("yes", "no", "")), None)
    if odd:
        raise ConfigError(
            f"{state.path(Candidate)}: keep of {odd.query_id} is {odd.keep!r}. Write yes, no, or leave it "
            "empty."
        )
    kept = [one for one in rows if one.keep == "yes"]
    if not kept:
        raise ConfigError(
            f"{state.path(Candidate)}: no question is kept. Write yes into the column keep, or let a "
            f"balanced choice be made: harness testset {state.folder} choose --auto"
        )
    _refuse_repeated(state, kept)
    return kept


def _refuse_repeated(state: SetState, kept: Sequence[Candidate]) -> None:
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


def gathered(state: SetState, chosen: Sequence[Candidate]) -> tuple[list[PoolRow], set[str]]:
    """The passages of questions that are asked in the words they were searched in, and their ids."""
    texts = {one.query_id: one.text for one in chosen}
    pool = [row for row in state.rows(PoolRow) if texts.get(row.query_id) == row.question]
    return pool, {row.query_id for row in state.rows(SearchedRow) if texts.get(row.query_id) == row.question}


def documents_of(state: SetState, context: Context) -> dict[str, Document]:
    """The documents by id; raises CorpusError if one is not what it was when the test set was begun.

    Offsets of questions, passages and grades hold for the text they were made of, and for no other. A row of
    a document that is not there, or beyond its end, is refused too.
    """
    documents = {one.doc_id: one for one in load_documents(state.config.bench(state.folder), context)}
    for row in state.rows(SetDocument):
        now = documents.get(row.doc_id)
        if now is None or now.sha256 != row.sha256:
            what = "is missing" if now is None else "has changed"
            raise CorpusError(
                f"{row.doc_id} {what} since {state.path(SetDocument)} was written, so offsets would not "
                "hold. Put the document back, or start again: harness init with another --out."
            )
    placed: tuple[type[PoolRow | GradeRow | DisagreementRow], ...] = (PoolRow, GradeRow, DisagreementRow)
    for kind in placed:
        for query_id, doc_id, start, end in map(key_of, state.rows(kind)):
            text = documents[doc_id].text if doc_id in documents else None
            if text is None or end > len(text):
                what = "there is no such document" if text is None else f"it has {len(text)} characters"
                raise CorpusError(
                    f"{state.path(kind)}: {query_id}, {doc_id} {start} to {end}: {what}. Correct the row, or "
                    "remove it."
                )
    return documents


def document_rows(state: SetState, documents: Iterable[Document]) -> dict[type[Any], list[SetDocument]]:
    """The table that later steps compare the documents with; none if it has been written."""
    rows = [
        SetDocument(one.doc_id, one.sha256, len(one.text), len(one.page_starts))
        for one in sorted(documents, key=lambda one: one.doc_id)
    ]
    return {} if state.has(SetDocument) else {SetDocument: rows}
