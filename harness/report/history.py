"""Earlier runs: list them, name them, and compare two results."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.report.plain_table import Table
from harness.report.read import SUMMARY, read_summary
from harness.report.rows.score_rows import SummaryRow
from harness.report.stored_tables import PICTURE, RECORD, REPORT, VERDICT
from harness.report.summaries import best_of, last_stages
from harness.values import HarnessError, counted, number

# Files about one run, not its outcome: the record, the timings, and the page and picture made of the rest.
_OF_THE_RUN = (RECORD, "latency.csv", PICTURE, REPORT)
# Columns of other files that depend on the machine on which an index was built or a query was timed.
_LATENCIES = ("latency_p50", "latency_p95", "latency_p99", "latency_in_batch")
_OF_THE_MACHINE = {"prices.csv": ("build_seconds", "index_bytes", *_LATENCIES)}


@dataclass(frozen=True, slots=True)
class PastRun:
    """One folder of results: when it began (UTC), how many settings, the best one and its mean.

    The best one is the leader of the verdict, without one that whose last stage is best; a dash where none
    has a mean above 0. For a damaged result there are no settings, and ``best`` says that it is damaged.
    """

    folder: Path
    date: datetime
    settings: int
    best: str
    measure: str
    mean: float | None


def same_result(folder: Path, other: Path) -> bool:
    """Whether two folders hold the same result: configuration, inputs and all figures but the times."""
    first, second = _record(folder), _record(other)
    if first is None or second is None:
        return False
    if any(first.get(key) != second.get(key) for key in ("config_sha256", "config", "hashes")):
        return False
    try:
        return _contents(folder) == _contents(other)
    except OSError:
        # unreadable, or another run has just taken it away
        return False


def name_of_earlier(folder: Path, name: str) -> str:
    """The name of the result in ``folder`` once another has replaced it under ``name``.

    That is ``name@yyyymmdd-hhmmss``, after the time when it began.
    """
    return f"{name}@{_date(folder):%Y%m%d-%H%M%S}"


def past_runs(root: Path, headline_of: Callable[[Mapping[str, Any], Sequence[str]], str]) -> list[PastRun]:
    """The results below a folder, newest first.

    ``headline_of`` chooses the measure of a run from its record and the measures it was scored by.
    """
    folders = [path.parent for path in root.glob(f"*/{SUMMARY}") if (path.parent / RECORD).exists()]
    runs = []
    for folder in (folder for folder in folders if not folder.name.startswith(".")):
        try:
            rows, record = read_summary(folder)
            measures = list(dict.fromkeys(row.measure for row in rows))
            heads = last_stages(rows, headline_of(record, measures))
        except HarnessError:
            runs.append(PastRun(folder, _date(folder), 0, "(damaged: run it again)", "–", None))
            continue
        best = _leader(folder, heads)
        name = best.setting if best.mean else "–"
        runs.append(PastRun(folder, _date(folder), len(heads), name, best.measure, best.mean))
    return sorted(runs, key=lambda run: (run.date, run.folder.name), reverse=True)


def runs_table(root: Path, runs: list[PastRun]) -> Table:
    """The runs of a folder, one a row."""
    return Table(
        title=f"{root}/: {counted(len(runs), 'result')}, newest first",
        columns=("results", "begun (UTC)", "settings", "best setting", "measure", "mean"),
        rows=tuple(
            (
                run.folder.name,
                f"{run.date:%Y-%m-%d %H:%M:%S}",
                str(run.settings),
                run.best,
                run.measure,
                number(run.mean),
            )
            for run in runs
        ),
        left=frozenset({0, 1, 3, 4}),
    )


def _leader(folder: Path, heads: Sequence[SummaryRow]) -> SummaryRow:
    """The row of the verdict's leader, if there is a verdict by the same measure; else the best."""
    verdict, best = _record(folder, VERDICT) or {}, best_of(heads)
    leader = verdict.get("leader") if verdict.get("measure") == best.measure else None
    return next((row for row in heads if row.setting == leader), best)


def _record(folder: Path, name: str = RECORD) -> dict[str, Any] | None:
    try:
        record = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _date(folder: Path) -> datetime:
    """When a run began; where its record does not say, when its folder was last written."""
    try:
        return datetime.fromisoformat((_record(folder) or {})["date"]).astimezone(UTC)
    except (KeyError, TypeError, ValueError):
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)


def _contents(folder: Path) -> dict[str, bytes]:
    """A digest of every file that tells of the outcome, by its path in the folder."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: hashlib.sha256(outcome_of(path)).digest()
        for name, path in files.items()
        if name not in _OF_THE_RUN
    }


def outcome_of(path: Path) -> bytes:
    """What a file of results says of the outcome: all but its columns that depend on a machine."""
    content, name = path.read_bytes(), path.name
    if name not in _OF_THE_MACHINE:
        return content
    rows = list(csv.reader(io.StringIO(content.decode("utf-8", "surrogateescape"), newline="")))
    kept = [at for at, column in enumerate(rows[0] if rows else ()) if column not in _OF_THE_MACHINE[name]]
    return repr([[row[at] for at in kept if at < len(row)] for row in rows]).encode(
        "utf-8", "backslashreplace"
    )
