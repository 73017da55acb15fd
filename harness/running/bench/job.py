"""A benchmark for commands and scripts: the stored results if nothing has changed, else a new run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.report import Results
from harness.running.bench.final_output import FinalOutput
from harness.running.bench.unchanged import find_unchanged, keep_origin, origin_of, written
from harness.running.config.models import BenchConfig
from harness.values import HarnessError, RecordingReporter, Reporter


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
