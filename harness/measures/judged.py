"""The judged share of a ranking."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, head, segment_sum


def judged(graded: Graded, k: int | None) -> Floats:
    """The share of the first k items returned that is judged as a whole; NaN if nothing was returned."""
    index, offsets = head(graded.offsets, k)
    returned = np.diff(offsets)
    count = segment_sum(~graded.open[index], offsets)
    share = np.full(len(returned), np.nan)
    np.divide(count, returned, out=share, where=returned > 0)
    return share
