"""A benchmark for commands: what it prints at its end, and the stored results if nothing has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harness.comparison import filter_table
from harness.models import resolve
from harness.report import (
    FilterRow,
    LossRow,
    Results,
    SummaryRow,
    Table,
    answer_parts,
    label_note,
    loss_table,
    lost_label_note,
)
from harness.running.bench.inputs import file_hashes, input_hashes
from harness.running.config.models import BenchConfig
from harness.running.program import program_key
from harness.store import Artifacts, CacheLayout, key_of
from harness.values import HarnessError, RecordingReporter, Reporter, RunRecord


@dataclass(frozen=True, slots=True)
class FinalOutput:
    """The summary, the tables below it, sentences about labels and judges, about the page, and the verdict.

    ``headline`` is the measure that decides, ``level`` the confidence level of the intervals.
    """

    name: str
    summary: tuple[SummaryRow, ...]
    headline: str
    level: float
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    page: tuple[str, ...]
    verdict: tuple[str, ...]
    answers: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, results: Results, level: float, page: Sequence[str], answers: Sequence[str] = ()
    ) -> FinalOutput:
        """The ending of results.

        ``page`` holds sentences about their page, ``answers`` those of the verdict on answers.
        """
        losses, filtered = results.of(LossRow), results.of(FilterRow)
        record = results.record
        about = (one(record.config, record.counts) for one in (lost_label_note, label_note))
        return cls(
            results.name,
            tuple(results.summary),
            results.verdict["measure"],
            level,
            (
                *([loss_table(losses, results.verdict["measure"])] if losses else []),
                *([filter_table(filtered)] if filtered else []),
                *answer_parts(results.of),
            ),
            (*filter(None, about), *_agreement(results.record)),
            tuple(page),
            tuple(results.verdict["sentences"]),
            tuple(answers),
        )


STORED = TypeAdapter(FinalOutput)
"""An ending as JSON-able values and back."""


def _agreement(record: RunRecord) -> list[str]:
    """How far the members of a panel agree, where one judged."""
    panel = (record.cost or {}).get("panel")
    if not panel:
        return []
    members = [
        f"{name} is {above:+.2f} grades from the median" if above is not None else name
        for name, above in panel["above_the_median"].items()
    ]
    agree = f"The members agree on {panel['all_agree']:.0%} of the pairs"
    if panel["alpha_ordinal"] is not None:
        agree += f" (Krippendorff's alpha, ordinal, {panel['alpha_ordinal']:.2f})"
    return [f"{agree}; {', '.join(members)}."]


_KIND = "finished"
_LOCAL = ("embedded", "folder", "hub")


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """The inputs of results: a key of program and configuration, and the hashes of all inputs."""

    key: str
    inputs: dict[str, str]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The stored results: folder, start of their run, its warnings, and what it printed at the end."""

    folder: Path
    date: str
    warnings: tuple[str, ...]
    ending: FinalOutput


def origin_of(config: BenchConfig) -> RunOrigin | None:
    """The inputs that a run of the configuration would have now; None if an input cannot be read."""
    try:
        inputs = input_hashes(config)
    except (HarnessError, OSError):
        # the run itself says what is wrong
        return None
    facts = config.model_dump(mode="json", serialize_as_any=True), config.file_sha256, str(Path.cwd())
    return RunOrigin(key_of(program_key(), *facts), inputs)


def find_unchanged(config: BenchConfig, made: RunOrigin | None) -> Unchanged | None:
    """The stored results, if they are made from ``made``; None if anything differs or is missing.

    Writes nothing, and loads no model.
    """
    if made is None:
        return None
    layout = CacheLayout(config.cache)
    kept = Artifacts(layout.artifacts).get(_KIND, _name(config))
    if kept is None or kept["key"] != made.key or kept["inputs"] != made.inputs:
        return None
    folder = config.results / config.name
    try:
        if file_hashes(folder / name for name in kept["files"]) != _below(folder, kept["files"]):
            return None
        if any(resolve(name).fingerprint != known for name, known in kept["models"].items()):
            return None
        if any((layout.root / name).stat().st_size < size for name, size in kept["paid"].items()):
            return None
    except (HarnessError, OSError):
        return None
    return Unchanged(folder, kept["date"], tuple(kept["warnings"]), STORED.validate_python(kept["ending"]))


def keep_origin(
    config: BenchConfig,
    made: RunOrigin | None,
    results: Results,
    files: Mapping[str, str],
    warnings: tuple[str, ...],
    ending: FinalOutput,
) -> None:
    """Keep the inputs of a finished run, for the next one.

    ``made`` is from before the run, ``files`` the hashes of what it has written by their paths in the folder.
    Nothing is kept where an input has changed meanwhile, or where another run might do better: a document
    was skipped, a call failed, the cache was damaged.
    """
    record = results.record
    if made is None or not is_complete(record) or origin_of(config) != made:
        return
    layout = CacheLayout(config.cache)
    names = [facts["name"] for facts in record.models.values() if facts["origin"] in _LOCAL]
    names += [setting.tokenizer for setting in config.settings]
    value = {
        "key": made.key,
        "inputs": made.inputs,
        "files": dict(files),
        "models": {name: resolve(name).fingerprint for name in names},
        "paid": dict(_paid(layout)),
        "date": record.date,
        "warnings": warnings,
        "ending": STORED.dump_python(ending, mode="json"),
    }
    Artifacts(layout.artifacts).put(_KIND, _name(config), value)


def is_complete(record: RunRecord) -> bool:
    """Whether nothing failed that another run would try again."""
    counts, cost = record.counts, record.cost or {}
    asked = [*counts.get("rewriting", {}).values(), *counts.get("endpoints", {}).values(), cost]
    return not (
        counts["documents_skipped"]
        or counts.get("calls_failed")
        or counts.get("cache_faults")
        or any(facts.get("faults") for facts in asked)
        or any(cost.get("unscored", {}).values())
    )


def written(folder: Path) -> dict[str, str]:
    """The sha256 of all files below a folder by their paths in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = file_hashes(files)
    return {path.relative_to(folder).as_posix(): hashes[str(path)] for path in files}


def _below(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    return {str(folder / name): known for name, known in files.items()}


def _name(config: BenchConfig) -> str:
    return key_of(str((config.results / config.name).resolve()))


def _paid(layout: CacheLayout) -> Iterator[tuple[str, Any]]:
    """The sizes of the files with paid results: they only grow, unless one is removed and made again."""
    for path in (layout.ledger, *sorted(layout.paid.glob("*.sqlite"))):
        if path.is_file():
            yield path.relative_to(layout.root).as_posix(), path.stat().st_size


@dataclass(frozen=True, slots=True)
class BenchOutcome:
    """The folder of the results, and what to print about them; ``date`` is when their run began.

    ``results`` is None if nothing had changed, so that nothing was run.
    """

    folder: Path
    date: str
    ending: FinalOutput
    results: Results | None


def run_or_reuse(config: BenchConfig, reporter: Reporter, *, again: bool = False) -> BenchOutcome:
    """Run a benchmark and write its results and page, unless nothing has changed since the last run.

    ``again`` runs it anyway. If nothing is run, the warnings of the earlier run are repeated. Raises
    HarnessError as the run does.
    """
    made = origin_of(config)
    standing = None if again else find_unchanged(config, made)
    if standing is not None:
        for warning in standing.warnings:
            reporter.warn(warning)
        return BenchOutcome(standing.folder, standing.date, standing.ending, None)
    # only a run needs what these bring with them
    from harness.comparison import brief_verdict
    from harness.running.bench.flow import run_bench
    from harness.running.bench.page import write_page

    notes: list[str] = []
    files: dict[str, str] = {}
    remembering = RecordingReporter(reporter)

    def finish(folder: Path) -> None:
        _, page = write_page(folder, reporter=remembering, name=config.name)
        notes.extend(filter(None, [page.note]))
        files.update(written(folder))

    results, folder = run_bench(config, remembering, finish)
    ending = FinalOutput.of(results, config.bootstrap.level, notes, brief_verdict(folder))
    try:
        keep_origin(config, made, results, files, tuple(remembering.warnings), ending)
    except (HarnessError, OSError) as error:
        # the results are whole, and must be shown
        reporter.warn(str(error))
    return BenchOutcome(folder, results.record.date, ending, results)
