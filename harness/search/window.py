"""A chunk with what stands next to it in its document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.types import Chunk

WindowUnit = Literal["sentences", "characters"]


def window_of(
    chunk: Chunk, amount: int, unit: WindowUnit, text: str, sentences: Callable[[], NDArray[np.int64]]
) -> tuple[int, int]:
    """The span of a chunk and ``amount`` sentences or characters on both sides, within its document.

    ``sentences`` gives the half-open spans [N, 2] of the document's sentences in their order. A sentence that
    the border of the chunk cuts counts as the first on its side.
    """
    if unit == "characters":
        return max(0, chunk.start - amount), min(len(text), chunk.end + amount)
    spans = sentences()
    before = int(np.searchsorted(spans[:, 0], chunk.start, side="left"))
    after = int(np.searchsorted(spans[:, 1], chunk.end, side="right"))
    start = int(spans[max(0, before - amount), 0]) if before else chunk.start
    end = int(spans[min(len(spans), after + amount) - 1, 1]) if after < len(spans) else chunk.end
    return min(start, chunk.start), max(end, chunk.end)
