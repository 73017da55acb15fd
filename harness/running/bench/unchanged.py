"""Whether the stored results are those that a run would write, found out without running it.

What results were made from is kept in the cache, with a hash of each of their files. A run finds nothing
changed only where all of it is the same: the program, the configuration, the content of every input, the
models, and the results as they were written. If in doubt, it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.models import resolve
from harness.report import Results
from harness.running.bench.final_output import STORED, FinalOutput
from harness.running.bench.inputs import file_hashes, input_hashes
from harness.running.config.models import BenchConfig
from harness.running.program import program_key
from harness.store import Artifacts, CacheLayout, key_of
from harness.values import HarnessError, RunRecord

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
