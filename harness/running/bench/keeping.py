"""The folder of a result, which takes the place of an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness import report
from harness.report import Results, write_results
from harness.running.config.models import BenchConfig
from harness.running.config.naming import file_names
from harness.running.readiness import results_folder
from harness.store import replace_folder

Finish = Callable[[Path, Results], None]
"""Adds files to an unfinished folder of results."""


def keep_results(results: Results, config: BenchConfig, finish: Finish | None = None) -> Path:
    """Write the folder of a result and return where it is.

    ``finish`` may add files to the folder before it takes its place; if it fails, the results are kept
    without them and the error is raised.
    """
    folder = results_folder(config)
    failed: Exception | None = None
    with replace_folder(folder, _name_of_replaced) as unfinished:
        names = file_names([setting.name for setting in config.settings])
        write_results(unfinished, results, names.__getitem__)
        try:
            if finish is not None:
                finish(unfinished, results)
        except Exception as error:
            failed = error
    if failed is not None:
        raise failed
    return folder


def _name_of_replaced(current: Path, earlier: Path) -> str | None:
    """The new name of an earlier result, next to the current one; None if they are the same result.

    If they are the same, files that the current one lacks move over, such as a page made with `harness
    report`.
    """
    if not report.same_result(current, earlier):
        return report.name_of_earlier(earlier, current.name)
    for path in sorted(earlier.rglob("*")):
        there = current / path.relative_to(earlier)
        if path.is_file() and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            path.rename(there)
    return None
