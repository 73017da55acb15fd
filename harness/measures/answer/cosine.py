"""Cosines of texts by the encoder of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.measures.answer.measure import AnswerTools


def cosines(pairs: Sequence[tuple[str, str]], tools: AnswerTools) -> list[float | None]:
    """The cosine of each pair of texts, in double precision; None if a vector is zero.

    Each text is embedded once.
    """
    row = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    if not row:
        return []
    vectors = np.asarray(tools.vectors(list(row)), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    found: list[float | None] = []
    for one, other in pairs:
        left, right = row[one], row[other]
        scale = lengths[left] * lengths[right]
        # rounding may lead past 1
        value = float(np.clip(vectors[left] @ vectors[right] / scale, -1, 1)) if scale > 0 else None
        found.append(value)
    return found
