"""The folder of a test set: its tables, the steps that wrote them, and the way back.

Before a step writes, the files it is about to change are copied to ``history/``; undoing puts them back. So a
hand edit is never lost either: what is undone is kept under ``history/undone/``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from harness.labels.testset.config import TestsetConfig, load_testset
from harness.labels.testset.rows import (
    AnswerRow,
    Candidate,
    DisagreementRow,
    FoundRow,
    GradeRow,
    PoolRow,
    Question,
    SearchedRow,
    SetDocument,
    from_csv,
    to_csv,
)
from harness.store import Lock, lock, write_bytes, write_text
from harness.values import ConfigError

FILES: dict[type[Any], str] = {
    Question: "proposed.csv",
    Candidate: "chosen.csv",
    PoolRow: "pool.csv",
    FoundRow: "found.csv",
    SearchedRow: "searched.csv",
    GradeRow: "grades.csv",
    AnswerRow: "answers.csv",
    DisagreementRow: "disagreements.csv",
    SetDocument: "documents.csv",
}
HISTORY, EXPORT = "history", "export"
_STEP = "step.json"
_LOCK = ".lock"
T = TypeVar("T")
Tables = Mapping[type[Any], Sequence[Any]]
"""The rows of tables by the class of their rows."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step that was done: when (UTC, ISO 8601), how, and which files it wrote."""

    folder: Path
    step: str
    when: str
    how: str
    files: Sequence[str]
    facts: Mapping[str, Any]


class SetState:
    """The files of one test set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

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

    def path(self, kind: type[Any]) -> Path:
        """The file of a table."""
        return self.folder / FILES[kind]

    def has(self, kind: type[Any]) -> bool:
        """Whether a table has been written."""
        return self.path(kind).exists()

    def rows(self, kind: type[T]) -> list[T]:
        """The rows of a table; none if it is not there yet. Raises CorpusError for a damaged file."""
        return from_csv(kind, self.path(kind))

    def write(
        self,
        step: str,
        how: str,
        tables: Tables,
        facts: Mapping[str, Any] | None = None,
        texts: Mapping[str, str | Callable[[], str]] | None = None,
    ) -> None:
        """Write the tables and texts of a step, once the present content of these files is kept.

        ``texts`` are files by their names below the folder; a function among them is called last, and finds
        the step among those that are done. Killed at any moment, every file is whole: the old one or the new.
        """
        files = {FILES[kind]: to_csv(kind, rows) for kind, rows in tables.items()} | dict(texts or {})
        number = 1 + max((int(one.folder.name[:4]) for one in self._all()), default=0)
        kept = self.folder / HISTORY / f"{number:04}-{step}"
        partial = self._copied(files, kept)
        record = {
            "step": step,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "how": how,
            "files": list(files),
            "facts": dict(facts or {}),
        }
        write_text(partial / _STEP, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        partial.rename(kept)
        for name, content in files.items():
            write_text(self.folder / name, content if isinstance(content, str) else content())

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
        undone = self.folder / HISTORY / "undone"
        gone = {one.name[:4] for one in undone.glob("*-*")} if undone.is_dir() else set()
        return [one for one in self._all() if one.folder.name[:4] not in gone]

    def undo(self) -> StepRecord:
        """Put back what the latest step has changed; raises ConfigError if there is none."""
        done = self.done()
        if not done:
            raise ConfigError(f"{self.folder}: no step has been done, so there is nothing to undo.")
        last = done[-1]
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
        found = []
        for folder in sorted((self.folder / HISTORY).glob("[0-9]*-*")):
            try:
                record = json.loads((folder / _STEP).read_text(encoding="utf-8"))
                own = (record[name] for name in ("step", "when", "how", "files", "facts"))
                found.append(StepRecord(folder, *own))
                if not isinstance(record["files"], list):
                    raise ValueError("files is not a list")
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ConfigError(
                    f"{folder}/{_STEP} cannot be read ({error}). Remove the folder; the tables are untouched."
                ) from error
        return found
