"""Trackers of experiments that results are logged to: `--log-to mlflow`, and those of other packages.

A tracker is a function that takes a ``TrackedRun`` and returns where it is, in words. Another package adds
one by the entry point ``harness.trackers``: ``mine = "package.module:function"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import report
from harness.values import ConfigError, HarnessError, listed, suggestion

if TYPE_CHECKING:
    import pandas as pd

GROUP = "harness.trackers"
_FINAL = "final"


@dataclass(frozen=True)
class TrackedRun:
    """Finished results as trackers take them: parameters, means and files.

    ``verdict`` is in words, '' where there is none.
    """

    folder: Path
    verdict: str

    @cached_property
    def record(self) -> dict[str, Any]:
        """record.json of the results."""
        return report.read_result(self.folder).record

    @property
    def name(self) -> str:
        """The name of the benchmark."""
        return str(self.record["config"]["name"])

    @property
    def settings(self) -> dict[str, dict[str, str | int | float | bool]]:
        """The parameters of every setting by name, with dots for what is nested, without what is not set."""
        return {setting["name"]: dict(_flat(setting)) for setting in self.record["config"]["settings"]}

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """The means of every setting over all queries, by measure, after its last step."""
        rows = self.summary
        rows = rows[(rows["split"] == "all") & rows["mean"].notna()]
        # the last stage of a setting is the last of its rows
        columns = (rows[column].tolist() for column in ("setting", "measure", "mean"))
        last = {(setting, measure): float(mean) for setting, measure, mean in zip(*columns, strict=True)}
        return {
            name: {measure: mean for (setting, measure), mean in last.items() if setting == name}
            for name in self.settings
        }

    @cached_property
    def summary(self) -> pd.DataFrame:
        """summary.csv as a table."""
        return report.read_table(self.folder, "summary")

    @property
    def page(self) -> Path:
        """report.html, which may not be there."""
        return self.folder / "report.html"

    @property
    def tables(self) -> list[Path]:
        """The CSV files of the results."""
        return sorted(self.folder.glob("*.csv"))


Log = Callable[[TrackedRun], str]
# name -> module and function
_TRACKERS = {"mlflow": "mlflow_runs:log", "wandb": "wandb_runs:log", "trackio": "trackio_runs:log"}


def known_trackers() -> list[str]:
    """The names of ours and of other packages' trackers."""
    return sorted({*_TRACKERS, *(entry.name for entry in entry_points(group=GROUP))})


def tracker_named(name: str) -> Log:
    """The tracker of a name; raises ConfigError for none, and for a package that is not installed."""
    if name in _TRACKERS:
        module, _, function = _TRACKERS[name].partition(":")
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"--log-to {name} needs the package {name}: pip install {name}. ({error})"
            ) from error
        log: Log = getattr(import_module(f"{__name__}.{module}"), function)
        return log
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            try:
                loaded: Log = entry.load()
            except (Exception, SystemExit) as error:
                raise ConfigError(f"--log-to {name}: {entry.value} cannot be loaded: {error}.") from error
            return loaded
    near = suggestion(name, known_trackers())
    raise ConfigError(f"--log-to: there is no tracker {name!r}{near}. Known: {listed(known_trackers(), 9)}.")


def log_results(folder: Path, names: list[str]) -> list[str]:
    """Log finished results to trackers; returns where they are. Raises HarnessError where one refuses."""
    from harness.cli.api import Results

    lines = []
    for name in names:
        tracked = TrackedRun(folder, str(Results(folder)))
        try:
            lines.append(tracker_named(name)(tracked))
        except HarnessError:
            raise
        except Exception as error:
            raise HarnessError(
                f"--log-to {name}: {type(error).__name__}: {error}. The results are in {folder}; "
                f"`harness show {folder} --log-to {name}` tries again."
            ) from error
    return lines


def _flat(section: Any, path: str = "") -> list[tuple[str, str | int | float | bool]]:
    if isinstance(section, Mapping):
        below = {f"{path}.{key}" if path else str(key): value for key, value in section.items()}
        return [pair for key, value in below.items() if key != "name" for pair in _flat(value, key)]
    if isinstance(section, list) and any(isinstance(value, Mapping | list) for value in section):
        return [pair for place, value in enumerate(section) for pair in _flat(value, f"{path}.{place}")]
    if section is None or section == []:
        return []
    return [(path, section if isinstance(section, str | int | float | bool) else str(section))]
