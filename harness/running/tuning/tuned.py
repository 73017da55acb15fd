"""What a tuning ends with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.comparison import StagedBounds
from harness.running.bench.job import FinalOutput


@dataclass(frozen=True, slots=True)
class Tuned:
    """The end: the ``setting`` to use, its bounds, what they rest on, and how to show the results.

    ``candidates`` are the dropped settings that may be better than it by more than the tolerance.
    """

    folder: Path
    setting: str
    bounds: StagedBounds
    candidates: tuple[str, ...]
    lines: tuple[str, ...]
    ending: FinalOutput
