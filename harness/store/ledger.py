"""The ledger: every paid answer of a language model, kept in SQLite and never changed.

One row is one answered (or finally failed) try of a call. Rows are only added; triggers refuse anything else.
The answer to a call is its newest *settled* row, so a try that is still to be repeated, or a failure that
cost nothing, does not count. Runs that ask one model take turns, so that no run buys what another is buying.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.store.disk import sqlite_kind
from harness.store.locking import Lock, turn
from harness.store.sent_batches import SentBatches
from harness.store.sqlite import Schema, UnknownVersionError, opened, transaction
from harness.values import (
    LARGEST,
    MAX_GRADE,
    LlmAnswer,
    LlmCall,
    LlmError,
    canonical,
    key_of,
    problem_in,
    redacted,
    text_sha256,
)

VERSION = 2
_TABLES = (Path(__file__).parent / "assets" / "ledger.sql").read_text(encoding="utf-8")
# Version 1 kept no finish_reason and no log probabilities. No row is touched: values unknown then stay NULL.
# Its table of claims stays too, for a process that still runs with the version before.
_FROM_1 = """
ALTER TABLE answers ADD COLUMN finish TEXT;
ALTER TABLE answers ADD COLUMN logprobs TEXT;
CREATE INDEX answers_by_parameters ON answers (model, prompt_sha, parameters);
"""
_SCHEMA = Schema(VERSION, _TABLES, {1: _FROM_1})


@dataclass(frozen=True, slots=True)
class LedgerEntry(LlmAnswer):
    """One row: an answer under the ``key`` of its call; ``answered_at`` is UTC, ISO 8601."""

    key: str
    answered_at: str


# What others wrote. Texts and parameters make up the key and stay as they are, and so do ids.
_BY_OTHERS = ("raw", "reason", "served_model", "finish")


def _without_secrets(answered: LlmAnswer) -> dict[str, Any]:
    """The fields of an answer in which something looks like a secret, without it.

    Text that results are made of stays, so that a run from the ledger has the results of the one that paid.
    """
    if answered.grades is None and answered.usable:
        return {}
    texts = {name: getattr(answered, name) for name in _BY_OTHERS}
    clean = {name: redacted(text) for name, text in texts.items() if text and redacted(text) != text}
    # tokens spell the answer out
    return {**clean, "logprobs": None} if "raw" in clean else dict(clean)


_ANSWERED = [field.name for field in fields(LlmAnswer)]
_COLUMNS = [field.name for field in fields(LedgerEntry)]
_LISTED = ", ".join(_COLUMNS)
_IN_JSON = ("query", "passages", "parameters", "grades", "raw", "reason", "logprobs")
# Columns that rows and exports of earlier versions lack.
_OPTIONAL = {field.name for field in fields(LedgerEntry) if field.default is not MISSING}


@dataclass(frozen=True, slots=True)
class Imported:
    """How many lines of an import were new, and how many were already there."""

    added: int
    already_there: int


def _unusable(path: Path, error: sqlite3.Error) -> LlmError:
    """The error for a ledger file that SQLite cannot read or write."""
    kind = sqlite_kind(error)
    if kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        todo = "Free space on the disk and run again: answers that are in it are not paid for again"
    elif kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        todo = "It is damaged: move it away and import the last export; it is never rebuilt silently"
    else:
        todo = "Is another program using it, or is it read-only?"
    return LlmError(f"The ledger {path} cannot be used: {error}. {todo}.".replace("?.", "?"))


class Ledger:
    """An open ledger file. Safe for several processes; within one, for one thread at a time.

    Write-ahead logging with full synchronisation: what ``record`` has returned from survives a kill and a
    loss of power. A file of an earlier version is brought up to this one without touching a row. Raises
    LlmError when the file is not a ledger.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.batches = SentBatches(path.with_name(f"{path.name}.batches"))
        self._together = False
        self._turns: dict[str, Lock] = {}
        self._parameters: dict[tuple[str, str], list[dict[str, Any]]] = {}
        try:
            self._db = opened(path, _SCHEMA)
        except UnknownVersionError as error:
            raise LlmError(
                f"{path} is not a ledger of version {VERSION} or earlier (it says {error}). "
                "Export it with the version that wrote it, and import the lines into a new ledger."
            ) from None
        except sqlite3.DatabaseError as error:
            raise _unusable(path, error) from error

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End all turns of this object and close the file."""
        for model in list(self._turns):
            self.end_turn(model)
        with self._explained() as db:
            db.close()

    def key(self, call: LlmCall) -> str:
        """The identity of a call: the SHA-256 of everything that can change its answer."""
        c = call
        return key_of(c.query, c.passages, c.prompt_sha, c.model, dict(c.parameters), c.sample)

    def find(self, key: str) -> LedgerEntry | None:
        """The newest settled answer to a call, or None."""
        newest = "key = ? AND settled = 1 ORDER BY id DESC LIMIT 1"
        rows = self._rows(f"SELECT {_LISTED} FROM answers WHERE {newest}", key)
        return _from_row(rows[0]) if rows else None

    def has(self, key: str, request_id: str) -> bool:
        """Whether an answer with that id of its request is recorded for a call."""
        query = "SELECT 1 FROM answers WHERE key = ? AND request_id = ? LIMIT 1"
        return bool(self._rows(query, key, request_id))

    def knows(self, model: str) -> bool:
        """Whether an answer of a model is recorded."""
        return bool(self._rows("SELECT 1 FROM answers WHERE model = ? AND settled = 1 LIMIT 1", model))

    def parameters(self, model: str, prompt_sha: str) -> list[dict[str, Any]]:
        """The different parameters under which a model was asked with a prompt.

        Read once, and again at every turn, since other runs add answers only while it is theirs.
        """
        if (model, prompt_sha) not in self._parameters:
            query = "SELECT DISTINCT parameters FROM answers WHERE model = ? AND prompt_sha = ?"
            rows = self._rows(query, model, prompt_sha)
            self._parameters[model, prompt_sha] = [json.loads(row) for (row,) in rows]
        return self._parameters[model, prompt_sha]

    def cost(self, key: str) -> float | None:
        """The cost of all tries of a call; None when the price of one that used tokens is unknown."""
        sums = "COALESCE(SUM(price), 0), COALESCE(SUM(price IS NULL), 0)"
        ((total, unknown),) = self._rows(f"SELECT {sums} FROM answers WHERE key = ?", key)
        return None if unknown else float(total)

    def usage(self, prompt_sha: str, model: str, parameters: Mapping[str, Any]) -> tuple[int, int]:
        """How many calls of one prompt and model are answered, and the completion tokens of all tries."""
        ((calls, tokens),) = self._rows(
            "SELECT COUNT(DISTINCT key), COALESCE(SUM(completion_tokens), 0) FROM answers "
            "WHERE prompt_sha = ? AND model = ? AND parameters = ? AND completion_tokens IS NOT NULL",
            prompt_sha,
            model,
            canonical(dict(parameters)),
        )
        return int(calls), int(tokens)

    def take_turn(self, model: str) -> bool:
        """Whether this object may ask ``model`` from now on, until ``end_turn``; does not wait.

        False while anybody else is asking that model with this ledger, in this process, another one or
        another container. A turn ends with its process. Other models are asked at the same time.
        """
        if model in self._turns:
            return False
        name = text_sha256(model)[:12]
        path = self.path.with_name(f"{self.path.name}.{name}.lock")
        try:
            held = turn(path)
        except OSError as error:
            raise LlmError(
                f"{path}, the lock file of the ledger, cannot be used: {error.strerror}. Make the folder "
                "and the file writable, or remove the file while no run is judging."
            ) from error
        if held is None:
            return False
        self._turns[model] = held
        self._parameters.clear()
        return True

    def end_turn(self, model: str) -> None:
        """Let others ask ``model``."""
        if model in self._turns:
            self._turns.pop(model).release()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Have the answers that are recorded in the block on disk at its end, all of them or none."""
        with self._explained() as db, transaction(db):
            self._together = True
            try:
                yield
            finally:
                self._together = False

    def record(self, key: str, answered: LlmAnswer) -> LlmAnswer:
        """Add one answer; it is on disk when this returns, or with others. Returns it as it is kept."""
        kept = replace(answered, **_without_secrets(answered))
        entry = LedgerEntry(
            **{name: getattr(kept, name) for name in _ANSWERED},
            key=key,
            answered_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        with self._explained() as db, nullcontext() if self._together else transaction(db):
            self._add(entry)
        return kept

    def entries(self) -> Iterator[LedgerEntry]:
        """All rows, oldest first."""
        with self._explained() as db:
            for row in db.execute(f"SELECT {_LISTED} FROM answers ORDER BY id"):
                yield _from_row(row)

    def export_lines(self) -> Iterator[str]:
        """All rows as JSON lines, for ``import_lines`` of another ledger."""
        for entry in self.entries():
            yield canonical(asdict(entry))

    def import_lines(self, lines: Iterable[str], name: str = "the import") -> Imported:
        """Add the rows of an export, also of an earlier version, that are not yet here, all of them or none.

        Raises LlmError that names the line where a row is malformed or does not belong to its key.
        """
        added = already = 0
        without: dict[tuple[str, str], str] = {}
        with self._explained() as db, transaction(db):
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                entry = self._checked(line, where := f"{name}, line {number}")
                if entry.grades is None and not entry.reason:
                    without[entry.model, entry.prompt_sha] = where
                if self._holds(entry):
                    already += 1
                else:
                    self._add(entry)
                    added += 1
            graded = "SELECT 1 FROM answers WHERE model = ? AND prompt_sha = ? AND grades IS NOT NULL LIMIT 1"
            for model_and_prompt, where in without.items():
                if self._rows(graded, *model_and_prompt):
                    raise _not_ours(where, "it has neither grades nor a reason why not")
        return Imported(added, already)

    def _add(self, entry: LedgerEntry) -> None:
        row = [
            canonical(value) if name in _IN_JSON and value is not None else value
            for name in _COLUMNS
            for value in (getattr(entry, name),)
        ]
        marks = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO answers ({_LISTED}) VALUES ({marks})", row)
        parameters = self._parameters.get((entry.model, entry.prompt_sha))
        if parameters is not None and entry.parameters not in parameters:
            parameters.append(dict(entry.parameters))

    def _holds(self, entry: LedgerEntry) -> bool:
        row = "key = ? AND settled = ? AND answered_at = ? AND request_id = ?"
        values = (entry.key, entry.settled, entry.answered_at, entry.request_id)
        return bool(self._rows(f"SELECT 1 FROM answers WHERE {row}", *values))

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._explained() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def _explained(self) -> Iterator[sqlite3.Connection]:
        """The database; what it raises becomes the error that says what to do."""
        try:
            yield self._db
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def _checked(self, line: str, where: str) -> LedgerEntry:
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError("it is not an object")
            entry = TypeAdapter(LedgerEntry).validate_python(asdict(written := _from_json(row)))
            if entry != written or entry.settled is not row["settled"]:
                raise ValueError("a value is of another type")
            _refuse_impossible(entry)
            if entry.key != self.key(entry):
                raise ValueError("the key does not belong to its query, passages, prompt, model, parameters")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, KeyError):
                error = ValueError(f"it has no field {error}")
            what = problem_in(error) if isinstance(error, ValidationError) else error
            raise _not_ours(where, what) from error
        return entry


def _not_ours(where: str, what: object) -> LlmError:
    return LlmError(f"{where}: no judgment of this ledger ({what}). Nothing was imported. Export it again.")


def _refuse_impossible(entry: LedgerEntry) -> None:
    """Raise ValueError for values of the right type that no answer has."""
    numbers = (entry.prompt_tokens, entry.completion_tokens, entry.price, entry.seconds)
    if not all(0 <= (number or 0) <= LARGEST for number in numbers):
        raise ValueError("tokens, price or seconds are below 0 or too many")
    if entry.grades is not None and entry.reason:
        raise ValueError(f"grades, and the reason {entry.reason!r} for having none")
    for text in (entry.prompt_sha, entry.model, entry.request_id, entry.served_model, entry.finish):
        (text or "").encode()
    datetime.fromisoformat(entry.answered_at)


def _from_row(row: Sequence[Any]) -> LedgerEntry:
    """The entry of a row, whose values are in the order of ``_COLUMNS``."""
    values = dict(zip(_COLUMNS, row, strict=True))
    for name in _IN_JSON:
        values[name] = None if values[name] is None else json.loads(values[name])
    return _from_json(values)


def _from_json(row: Mapping[str, Any]) -> LedgerEntry:
    """The entry of a line of an export, which may be of an earlier version.

    Raises KeyError if a field is missing, ValueError where grades and passages do not agree.
    """
    values = {name: row[name] for name in _COLUMNS if name in row or name not in _OPTIONAL}
    values["settled"] = bool(values["settled"])
    values["passages"] = tuple(values["passages"])
    grades = values["grades"]
    values["grades"] = None if grades is None else tuple(grades)
    if grades is not None and (
        len(grades) != len(values["passages"])
        or any(type(grade) is not int or not 0 <= grade <= MAX_GRADE for grade in grades)
    ):
        raise ValueError(f"grades {grades!r} for {len(values['passages'])} passages")
    return LedgerEntry(**values)
