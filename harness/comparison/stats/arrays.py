"""Array types of this room."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AnyInts = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]

# Differences of means below this are rounding, not differences; scores lie between 0 and 1.
ROUNDING = 1e-10

# How many numbers one block of work may hold (32 MB of doubles): memory stays bounded, whatever the size.
BLOCK_CELLS = 4_000_000

# How many numbers fit the processor's cache while several operations pass over them (1 MB of doubles).
CACHE_CELLS = 131_072
