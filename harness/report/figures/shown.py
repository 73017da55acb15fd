"""The results that a figure shows: one measure, at the last stage of every setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.values import FEWEST_FOR_INTERVAL, HarnessError, printable


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` queries and its interval, which is None for a handful of queries."""

    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class FigureData:
    """The payload of the page (see ``base_payload``), looked at by one measure."""

    payload: Mapping[str, Any]
    measure: str

    @property
    def statistics(self) -> Mapping[str, Any]:
        """The statistics of the measure."""
        found: Mapping[str, Any] = self.payload["statistics"].get(self.measure, {})
        return found

    @property
    def level(self) -> str:
        """The level of the intervals, such as ``95%``."""
        return f"{self.payload['level']:.0%}"

    def name(self, setting: int) -> str:
        """The name of a setting on one line."""
        return printable(self.payload["settings"][setting])

    def mean(self, setting: int) -> Mean | None:
        """The mean of a setting at its last stage over all queries; None if it has none."""
        by_stage = self.payload["summary"].get("all", [])
        rows = by_stage[self.payload["measures"].index(self.measure)] if by_stage else []
        found = [of_stage[setting] for of_stage in rows if of_stage[setting] is not None]
        if not found or found[-1][0] is None:
            return None
        mean, low, high, n, *_ = found[-1]
        return Mean(mean, low, high, n) if n >= FEWEST_FOR_INTERVAL else Mean(mean, None, None, n)

    def last_stage(self, setting: int) -> str:
        """The name of the last stage at which a setting was scored."""
        rows = self.payload["scores"][self.payload["measures"].index(self.measure)]
        scored = [s for s, row in zip(self.payload["stages"], rows, strict=True) if row[setting] is not None]
        return str(scored[-1]) if scored else ""

    def ranked(self) -> list[tuple[int, Mean]]:
        """The settings that have a mean, the highest first. Raises HarnessError if there is none."""
        means = [(i, self.mean(i)) for i in range(len(self.payload["settings"]))]
        found = [(i, mean) for i, mean in means if mean is not None]
        if not found:
            raise HarnessError(f"No setting has a value of {self.measure}: there is nothing to draw.")
        return sorted(found, key=lambda one: -one[1].mean)
