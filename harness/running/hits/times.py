"""How long another pipeline took for a query, as its hits say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.report import LatencyRow
from harness.running.pipeline import RETRIEVE


def search_times(setting: str, seconds: Sequence[float]) -> Iterator[LatencyRow]:
    """The percentiles of what its queries took, in milliseconds; nothing where no times were written."""
    if not seconds:
        return
    median, slow, slowest = (round(1000 * float(value), 3) for value in np.percentile(seconds, [50, 95, 99]))
    yield LatencyRow(setting, RETRIEVE, len(seconds), median, slow, slowest, median, slow, slowest)
