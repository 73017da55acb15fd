"""What a convention looks at: how far down the rankings, and how exact a score is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.measures import FAMILIES, AnyArray, Convention, Floats, Measure


def depth_needed(measures: Sequence[Measure], rules: Convention) -> int | None:
    """How far down the rankings matter; None for all the way."""
    whole = any(m.cutoff is None or FAMILIES[m.family].whole_ranking for m in measures)
    if whole or rules.ideal == "retrieved":
        return None
    return max((m.cutoff for m in measures if m.cutoff is not None), default=1)


def rounded(scores: Floats, rules: Convention) -> AnyArray:
    """Scores as a convention compares them: trec_eval keeps 32 bits, where a large one becomes infinite."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32) if rules.single_precision else scores
