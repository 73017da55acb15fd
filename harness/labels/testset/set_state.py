"""The folder of a test set: its tables, the steps that wrote them, and the way back.

Before a step writes, the files it is about to change are copied to ``history/``; undoing puts them back. So a
hand edit is never lost either: what is undone is kept under ``history/undone/``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

from harness.data import INPUTS, read_rows
from harness.labels.testset.config import TestsetConfig, load_testset
from harness.labels.testset.testset_rows import (
    Candidate,
    DisagreementRow,
    GradeRow,
    PoolRow,
    SearchedRow,
    SetDocument,
    SetPassage,
    to_csv,
)
from harness.models import Estimate, Spending, estimate_tokens
from harness.running import DocumentReader, RunNotes, document_files, load_documents
from harness.store import Lock, lock, write_bytes, write_text
from harness.values import ConfigError, CorpusError, Document, Reporter, counted

HISTORY, EXPORT = "history", "export"
_STEP = "step.json"
_UNFINISHED = "unfinished"
_LOCK = ".lock"
_SECONDS = 12
"""Of a person for one passage: a rule of thumb; the labelling page measures its own raters."""
T = TypeVar("T")
Tables = Mapping[type[Any], Sequence[Any]]
"""The rows of tables by the class of their rows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a step, in sentences (``lines``); for a dry run, what it would cost.

    ``next`` are the commands that come next; None: what the state of the tables says.
    """

    lines: tuple[str, ...]
    estimates: tuple[tuple[str, Estimate], ...] = field(default=())
    dry: bool = False
    next: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step that was done: when (UTC, ISO 8601), how, and which files it wrote."""

    folder: Path
    step: str
    when: str
    how: str
    files: Sequence[str]


class _Once:
    """Hands everything on to a reporter but for texts that were ``said``; a ``quiet`` one says none."""

    def __init__(self, reporter: Reporter, said: set[str], quiet: bool) -> None:
        self.task, self.board = reporter.task, reporter.board
        self._reporter, self._said, self._quiet = reporter, said, quiet

    def note(self, text: str) -> None:
        """Say something worth knowing, once."""
        self._tell(text, self._reporter.note)

    def warn(self, text: str) -> None:
        """Say something to look at, once."""
        self._tell(text, self._reporter.warn)

    def _tell(self, text: str, show: Callable[[str], None]) -> None:
        if not self._quiet and text not in self._said:
            show(text)
        self._said.add(text)


class SetState:
    """The files of one test set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = f"harness testset {quote(str(folder))}"
        self._said: set[str] = set()

    @cached_property
    def config(self) -> TestsetConfig:
        """The content of testset.yaml; raises ConfigError as `load_testset` does."""
        return load_testset(self.folder)

    def alone(self) -> Lock:
        """Keep other commands from writing this test set while the lock is held.

        Raises ConfigError if another one does.
        """
        try:
            held = lock(self.folder / _LOCK)
        except OSError as error:
            raise ConfigError(f"{self.folder} cannot be written: {error.strerror or error}.") from error
        if held is None:
            raise ConfigError(
                f"{self.folder}: another harness testset command is at work here. Wait for it to end, then "
                "run this one again; nothing was changed."
            )
        return held

    def no_model(self, keys: str, otherwise: str) -> ConfigError:
        """The error of a step that has no model to ask; ``otherwise`` is how people do it."""
        return ConfigError(
            f"{self.folder}/testset.yaml names no model to ask ({keys}). Name one, or let people do it: "
            f"{self.command} {otherwise}"
        )

    def path(self, kind: type[Any]) -> Path:
        """The file of a table."""
        return self.folder / INPUTS[kind].name

    def has(self, kind: type[Any]) -> bool:
        """Whether a table has been written."""
        return self.path(kind).exists()

    def rows(self, kind: type[T]) -> list[T]:
        """The rows of a table; none if it is not there yet. Raises CorpusError for a damaged file."""
        return read_rows(self.path(kind), kind, may_lack=True)  # type: ignore[type-var]

    def chosen(self) -> list[Candidate]:
        """The questions that are kept; raises ConfigError if there is none."""
        path = self.path(Candidate)
        if not path.exists():
            raise ConfigError(f"{path} is not there yet. Choose the questions first: {self.command} choose")
        kept = [candidate for candidate in self.rows(Candidate) if candidate.keep == "yes"]
        if not kept:
            raise ConfigError(
                f"{path}: no question is kept. Write yes into the column keep, or let a balanced choice be "
                f"made: {self.command} choose --auto"
            )
        seen: set[str] = set()
        for candidate in kept:
            if candidate.query_id in seen or candidate.query_id.split() != [candidate.query_id]:
                raise ConfigError(
                    f"{path}: the query_id {candidate.query_id!r} is empty, contains a blank or appears "
                    "twice. Give each question its own."
                )
            if not candidate.text:
                raise ConfigError(
                    f"{path}: the text of {candidate.query_id} is empty. Write it, or keep: no."
                )
            seen.add(candidate.query_id)
        return kept

    def gathered(self, chosen: Sequence[Candidate]) -> tuple[list[PoolRow], set[str]]:
        """The passages of questions that are asked in the words they were searched in, and their ids."""
        wordings = {(candidate.query_id, candidate.text) for candidate in chosen}
        wordings &= {(row.query_id, row.question) for row in self.rows(SearchedRow)}
        pool = [row for row in self.rows(PoolRow) if (row.query_id, row.question) in wordings]
        return pool, {query_id for query_id, _ in wordings}

    def documents(self, reader: DocumentReader) -> dict[str, Document]:
        """The documents by id; raises CorpusError if one is not what it was when the test set was begun.

        Offsets of questions, passages and grades hold for the text they were made of, and for no other. A
        row of a document that is not there, or beyond its end, is refused too. What is odd about their text
        is said by the first step that reads them; it does not change from step to step.
        """
        bench, begun = self.config.bench(self.folder), self.rows(SetDocument)
        ids = {row.doc_id for row in begun}
        new = bool(begun) and any(file.doc_id not in ids for file in document_files(bench))
        # the first step has read them, also where it keeps none of their offsets
        with self.saying_once(reader.notes, quiet=bool(self.done()) and not new):
            documents = load_documents(bench, reader)
        for row in begun:
            now = documents.get(row.doc_id)
            if now is None or now.sha256 != row.sha256:
                what = "is missing" if now is None else "has changed"
                raise CorpusError(
                    f"{row.doc_id} {what} since {self.path(SetDocument)} was written, so offsets would not "
                    "hold. Put the document back, or start again: harness init with another --out."
                )
        placed: tuple[type[SetPassage], ...] = (PoolRow, GradeRow, DisagreementRow)
        for kind in placed:
            for query_id, doc_id, start, end in (row.key for row in self.rows(kind)):
                text = documents[doc_id].text if doc_id in documents else None
                if text is None or end > len(text):
                    what = (
                        "there is no such document"
                        if text is None
                        else f"it has {counted(len(text), 'character')}"
                    )
                    raise CorpusError(
                        f"{self.path(kind)}: {query_id}, {doc_id} {start} to {end}: {what}. Correct the row, "
                        "or remove it."
                    )
        return documents

    @contextmanager
    def saying_once(self, notes: RunNotes, quiet: bool = False) -> Iterator[None]:
        """Have the notes repeat nothing that was said of these documents; ``quiet``: nor say it now."""
        reporter = notes.reporter
        notes.reporter = _Once(reporter, self._said, quiet)
        try:
            yield
        finally:
            notes.reporter = reporter

    def document_rows(self, documents: Iterable[Document]) -> Tables:
        """The table that later steps compare the documents with; none if it has been written."""
        rows = [
            SetDocument(document.doc_id, document.sha256, len(document.text), len(document.page_starts))
            for document in sorted(documents, key=lambda document: document.doc_id)
        ]
        return {} if self.has(SetDocument) else {SetDocument: rows}

    def write(
        self, step: str, how: str, tables: Tables, texts: Mapping[str, str | Callable[[], str]] | None = None
    ) -> None:
        """Write the tables and texts of a step, once the present content of these files is kept.

        ``texts`` are files by their names below the folder; a function among them is called last, and finds
        the step among those that are done. Killed at any moment, every file is whole: the old one or the new,
        and the step is `killed` until it is undone.
        """
        files = {INPUTS[kind].name: to_csv(kind, rows) for kind, rows in tables.items()} | dict(texts or {})
        number = 1 + max((int(earlier.folder.name[:4]) for earlier in self._all()), default=0)
        kept = self.folder / HISTORY / f"{number:04}-{step}"
        partial = self._copied(files, kept)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        record = {"step": step, "when": when, "how": how, "files": list(files)}
        write_text(partial / _STEP, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        (partial / _UNFINISHED).touch()
        partial.rename(kept)
        for name, content in files.items():
            write_text(self.folder / name, content if isinstance(content, str) else content())
        (kept / _UNFINISHED).unlink()

    def _copied(self, names: Iterable[str], kept: Path) -> Path:
        """A folder next to ``kept``, to be renamed to it, with copies of those files that are there."""
        partial = kept.with_name(f".{kept.name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name in names:
            if (self.folder / name).exists():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.folder / name, partial / name)
        return partial

    def done(self) -> list[StepRecord]:
        """The steps that were done and not undone, the latest last."""
        gone = {folder.name[:4] for folder in (self.folder / HISTORY / "undone").glob("*-*")}
        return [record for record in self._all() if record.folder.name[:4] not in gone]

    def killed(self) -> StepRecord | None:
        """The latest step, if it was killed while it wrote: its files are of different states."""
        steps = self.done()
        return steps[-1] if steps and (steps[-1].folder / _UNFINISHED).exists() else None

    def undo(self) -> StepRecord:
        """Put back what the latest step has changed; raises ConfigError if there is none."""
        steps = self.done()
        if not steps:
            raise ConfigError(f"{self.folder}: no step has been done, so there is nothing to undo.")
        last = steps[-1]
        aside = self.folder / HISTORY / "undone" / last.folder.name
        partial = self._copied(last.files, aside)
        for name in last.files:
            if (last.folder / name).exists():
                write_bytes(self.folder / name, (last.folder / name).read_bytes())
            else:
                (self.folder / name).unlink(missing_ok=True)
        # only now: an undoing that was killed is done again
        partial.rename(aside)
        return last

    def _all(self) -> list[StepRecord]:
        records = []
        for folder in sorted((self.folder / HISTORY).glob("[0-9]*-*")):
            try:
                record = json.loads((folder / _STEP).read_text(encoding="utf-8"))
                fields = (record[name] for name in ("step", "when", "how", "files"))
                records.append(StepRecord(folder, *fields))
                if not isinstance(record["files"], list):
                    raise ValueError("files is not a list")
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ConfigError(
                    f"{folder}/{_STEP} cannot be read ({error}). Remove the folder; the tables are untouched."
                ) from error
        return records


def within_tokens(texts: Sequence[str], tokens: int) -> list[str]:
    """The first texts that have so many tokens together, by an estimate; at least one."""
    totals = accumulate(map(estimate_tokens, texts))
    return [
        text for at, (text, total) in enumerate(zip(texts, totals, strict=True)) if at == 0 or total <= tokens
    ]


def calls_made(spent: Spending) -> str:
    """How many calls a step made, at which cost, and how many answers were paid for before."""
    cost = "at unknown cost (no price)" if spent.cost is None else f"for {spent.cost:.4f}"
    return f"{counted(spent.calls, 'call')} now {cost}, {spent.from_ledger} from the ledger"


def time_to_grade(passages: int) -> str:
    """The time that grading takes a person, in words: said before it is spent."""
    minutes = max(1, round(passages * _SECONDS / 60))
    shown = counted(minutes, "minute") if minutes < 100 else f"{minutes / 60:.1f} hours"
    return f"about {shown} of a person's time, at {_SECONDS} seconds a passage"
