"""What a tuning ends with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.running.bench.job import FinalOutput
from harness.running.tuning.standing import TuneChoice


@dataclass(frozen=True, slots=True)
class Tuned:
    """The end: the setting to use with its bounds, what is said of them, and how to show the results."""

    folder: Path
    standing: TuneChoice
    lines: tuple[str, ...]
    ending: FinalOutput
