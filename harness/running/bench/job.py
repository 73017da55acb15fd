"""A benchmark for commands: what it prints at its end, and the stored results if nothing has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from harness import judge
from harness.models import WORDS, resolve
from harness.report import REPORT, Results, lost_label_note, seed_ratio_lines
from harness.running.config.models import BenchConfig
from harness.running.corpus import input_files
from harness.running.document_reader import file_hashes
from harness.running.pipeline import collection_searched
from harness.running.program import program_key
from harness.running.session import in_use
from harness.store import Artifacts, CacheLayout, key_of
from harness.values import HarnessError, RecordingReporter, Reporter, RunRecord, real_path, wrapped

if TYPE_CHECKING:
    from harness.running.bench.flow import Add


@dataclass(frozen=True, slots=True)
class FinalOutput:
    """What is printed at the end: notes on labels, judges and the page, then the results at a glance."""

    notes: tuple[str, ...]
    glance: tuple[str, ...]

    @classmethod
    def of(cls, results: Results, folder: Path, page: Sequence[str] = ()) -> FinalOutput:
        """The ending of results, which are in a folder; ``page`` holds sentences about their page."""
        from harness.comparison import COLUMNS, LINES, brief_verdict, glance_lines

        record = results.record
        lost = lost_label_note(record.config, record.counts)
        ratios = seed_ratio_lines(results.summary)[:_MOST_RATIOS]
        notes = (*filter(None, [lost]), *_agreement(record), *ratios, *page)
        ends = (
            *brief_verdict(folder, shortest=True),
            f"All differences: harness compare {quote(str(folder))}",
            f"Page: {folder / REPORT}",
        )
        if results.concluded is not None:
            # how long it took, and notes, are printed above it on the same screen
            above = 2 + sum(len(wrapped(note, COLUMNS)) for note in notes)
            return cls(notes, tuple(glance_lines(results.concluded, ends, LINES - above)))
        # rankings and tables stand where no verdict can be had
        return cls(notes, (f"There is no verdict: {results.verdict['why']}", *ends))


def _agreement(record: RunRecord) -> list[str]:
    """How far the members of panels agree: one that judged passages, and those of measures of answers."""
    panel = (record.cost or {}).get("panel")
    sentences = [judge.panel_sentence(panel, "pairs", "grades")] if panel else []
    panels = record.counts.get("answer_panels", {})
    return sentences + [
        f"{name}: {judge.votes_in_words(panel)}" for name, panel in panels.items() if panel["answers"]
    ]


_KIND = "finished"
_LOCAL = ("embedded", "folder", "hub")
# These keys name outputs, not inputs.
_OUTPUTS = {"cache", "results"}
_MOST_PATH = 4096
# The settings whose ratios a run prints; `harness show` has all.
_MOST_RATIOS = 4

Origin = tuple[str, dict[str, str]]
"""What results are made from: a key of program and configuration, and the hashes of all inputs."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What the cache keeps of a finished run: its origin, what it wrote and used, and what it printed.

    ``files`` has hashes by paths in the folder of the results, ``models`` fingerprints, ``paid`` the sizes of
    the files with paid results, which only grow unless one is removed and made again. ``date`` is the start.
    """

    key: str
    inputs: dict[str, str]
    files: dict[str, str]
    models: dict[str, Any]
    paid: dict[str, int]
    date: str
    warnings: tuple[str, ...]
    ending: FinalOutput


STORED = TypeAdapter(Finished)
"""A finished run as JSON-able values and back."""


def origin_of(config: BenchConfig) -> Origin | None:
    """What a run of the configuration would be made from now; None where that cannot be told.

    That is so if an input cannot be read, and for collections of others, which may change at any time.
    """
    if any(collection_searched(setting) is not None for setting in config.settings):
        return None
    try:
        inputs = input_hashes(config)
    except (HarnessError, OSError):
        # the run itself says what is wrong
        return None
    # the same results come of every engine
    settings = config.model_dump(mode="json", exclude={"engine"})
    facts = settings, config.file_sha256, str(Path.cwd())
    return key_of(program_key(), *facts), inputs


def input_hashes(config: BenchConfig) -> dict[str, str]:
    """The sha256 of every file that a run reads, by its path.

    These are documents, queries, labels and tables, and any other file that the configuration names: a
    prompt, synonyms, an argument of the user's own code. Raises HarnessError or OSError where one cannot be
    used.
    """
    values = config.model_dump(mode="json", exclude=_OUTPUTS)
    return file_hashes(dict.fromkeys([*input_files(config), *filter(_is_file, _paths(values))]))


def _paths(value: Any) -> Iterator[Path]:
    """All texts in a configuration, as paths."""
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _paths(part)
    elif isinstance(value, str) and 0 < len(value) < _MOST_PATH and "\0" not in value:
        yield Path(value)
        # the user's own code, `package.module:function`, if it is in the working folder
        module, colon, _ = value.partition(":")
        if colon and all(part.isidentifier() for part in module.split(".")):
            yield Path(*module.split(".")).with_suffix(".py")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # too long for a file name
        return False


def find_unchanged(config: BenchConfig, origin: Origin | None) -> Finished | None:
    """The finished run of the stored results, if these have this origin; None if anything differs.

    Writes nothing, and loads no model.
    """
    layout = CacheLayout(config.cache)
    kept = Artifacts(layout.artifacts).get(_KIND, _name(config)) if origin else None
    if kept is None or (kept["key"], kept["inputs"]) != origin:
        return None
    run, folder = STORED.validate_python(kept), config.results / config.name
    try:
        stands = (
            file_hashes(folder / name for name in run.files)
            == {str(folder / name): file for name, file in run.files.items()}
            and all(resolve(name).fingerprint == model for name, model in run.models.items())
            and all((layout.root / name).stat().st_size >= size for name, size in run.paid.items())
        )
    except (HarnessError, OSError):
        return None
    return run if stands else None


def keep_origin(
    config: BenchConfig,
    origin: Origin | None,
    results: Results,
    files: dict[str, str],
    warnings: tuple[str, ...],
    ending: FinalOutput,
) -> None:
    """Keep what a finished run was made from, for the next one.

    ``origin`` is from before the run, ``files`` the hashes of what it has written by their paths in the
    folder. Nothing is kept where an input has changed meanwhile, or where another run might do better: a
    document was skipped, a call failed, the cache was damaged.
    """
    record = results.record
    if origin is None or not is_complete(record) or origin_of(config) != origin:
        return
    layout = CacheLayout(config.cache)
    names = [facts["name"] for facts in record.models.values() if facts["origin"] in _LOCAL]
    names += [setting.tokenizer for setting in config.settings if setting.tokenizer != WORDS]
    models = {name: resolve(name).fingerprint for name in names}
    paid = {
        path.relative_to(layout.root).as_posix(): path.stat().st_size
        for path in (layout.ledger, *sorted(layout.paid.glob("*.sqlite")))
        if path.is_file()
    }
    run = Finished(*origin, files, models, paid, record.date, warnings, ending)
    Artifacts(layout.artifacts).put(_KIND, _name(config), STORED.dump_python(run, mode="json"))


def is_complete(record: RunRecord) -> bool:
    """Whether nothing failed that another run would try again."""
    counts, cost = record.counts, record.cost or {}
    counted_parts = [*counts.get("rewriting", {}).values(), *counts.get("endpoints", {}).values(), cost]
    return not (
        counts["documents_skipped"]
        or counts.get("calls_failed")
        or counts.get("cache_faults")
        or any(facts.get("faults") for facts in counted_parts)
        or any(cost.get("unscored", {}).values())
    )


def _name(config: BenchConfig) -> str:
    return key_of(str(real_path(config.results / config.name)))


@dataclass(frozen=True, slots=True)
class BenchOutcome:
    """The folder of the results, and what to print about them; ``date`` is when their run began.

    ``results`` is None if nothing had changed, so that nothing was run.
    """

    folder: Path
    date: str
    ending: FinalOutput
    results: Results | None


def run_or_reuse(
    config: BenchConfig, reporter: Reporter, *, again: bool = False, add: Add | None = None
) -> BenchOutcome:
    """Run a benchmark and write its results and page, unless nothing has changed since the last run.

    ``again`` runs it anyway; ``add`` is that of ``run_bench``. If nothing is run, the
    warnings of the earlier run are repeated. Raises HarnessError as the run does.
    """
    origin = origin_of(config)
    standing = None if again else find_unchanged(config, origin)
    if standing is not None:
        for warning in standing.warnings:
            reporter.warn(warning)
        return BenchOutcome(config.results / config.name, standing.date, standing.ending, None)
    # only a run needs what these bring with them
    from harness.running.bench.flow import run_bench
    from harness.running.bench.page import write_page

    notes: list[str] = []
    files: dict[str, str] = {}
    remembering = RecordingReporter(reporter)

    def finish(folder: Path, results: Results) -> None:
        _, page = write_page(folder, reporter=remembering, name=config.name, results=results)
        notes.extend(filter(None, [page.note]))
        hashes = file_hashes(sorted(path for path in folder.rglob("*") if path.is_file()))
        files.update({Path(path).relative_to(folder).as_posix(): digest for path, digest in hashes.items()})

    # until the origin is kept, as emptying the cache would remove the folder that it is written to
    with in_use(config.cache):
        results, folder = run_bench(config, remembering, finish, add)
        ending = FinalOutput.of(results, folder, notes)
        try:
            keep_origin(config, origin, results, files, tuple(remembering.warnings), ending)
        except (HarnessError, OSError) as error:
            # the results are whole, and must be shown
            reporter.warn(str(error))
    return BenchOutcome(folder, results.record.date, ending, results)
