"""A judge by a graph of passages: what is near to relevant passages is taken for relevant.

The passages of a query are joined to their nearest neighbours by vectors, and what is known of some is spread
over all. Known is the cosine of each with the query, or, where people have graded, their grades.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.judge.calibration import Cuts, Floats
from harness.judge.encoded import EncodedConfig, EncodedJudge
from harness.judge.pair_grades import Labelled, Pair
from harness.values import MAX_GRADE, JudgeError, Judgment, Run, by_key

# How near to the limit the spreading ends; grades are told apart by far more.
_NEAR = 1e-6


class GraphConfig(EncodedConfig):
    """A judge that spreads relevance over a graph of the passages of a query."""

    usual_cuts: ClassVar[Cuts] = (0.3, 0.45, 0.6, 0.75)
    by_pool: ClassVar[bool] = True

    kind: Literal["graph"] = "graph"
    seeds: Literal["query", "labels"] = Field(
        "query",
        description="What is spread: `query`, the cosine of each passage with the query; `labels`, where "
        "people have graded text of the query, their grade (0 as 0, 4 as 1) in place of the cosine. No "
        "passage is graded by a label on text of its own.",
    )
    neighbours: int = Field(10, ge=1, description="How many nearest passages each one is joined to.")
    width: float = Field(
        0.4,
        gt=0,
        le=10,
        description="The width σ of the weight of an edge, exp(-(1 - cos) / σ²): at 0.4 it is 0.29 for a "
        "cosine of 0.8, and 0.04 for 0.5.",
    )
    alpha: float = Field(
        0.5, gt=0, le=0.95, description="How much a passage takes from its neighbours, and not from itself."
    )

    @property
    def title(self) -> str:
        """How it is named in every table."""
        seeds = " and labels" if self.seeds == "labels" else ""
        return f"graph of passages by {self.model}{seeds}"


class GraphJudge(EncodedJudge[GraphConfig]):
    """Grades all passages of a query together."""

    def scores(self, pairs: Sequence[Pair], labels: Sequence[Labelled]) -> Run[Floats]:
        """What reaches each passage in the graph of its query, at most 1, float64 [pairs]."""
        queries, passages = yield from self.vectors(pairs)
        graded: Mapping[tuple[str, str], Judgment] = {}
        if self.config.seeds == "labels":
            graded = {label.pair.key: label.judgment for label in labels}
        scores = np.empty(len(pairs))
        for rows in by_key((pair.query.query_id, at) for at, pair in enumerate(pairs)).values():
            start = np.maximum((queries[rows] * passages[rows]).sum(axis=1), 0.0)
            steps = transitions(passages[rows], self.config.neighbours, self.config.width)
            starts = _starts(start, [pairs[at] for at in rows], graded)
            reached = spread(steps, starts, self.config.alpha)
            scores[rows] = np.diagonal(reached) if reached.shape[1] > 1 else reached[:, 0]
        return scores


def transitions(vectors: Floats, neighbours: int, width: float) -> Floats:
    """The random walk D⁻¹W on the graph of the nearest neighbours, float64 [n, n]; rows add up to 1.

    ``vectors`` [n, d] have length 1. The weight of an edge is exp(-d² / 2σ²) = exp(-(1 - cos) / σ²) for the
    distance d and the ``width`` σ, as in the source of ``spread``, where one of its ends is among the nearest
    ``neighbours`` of the other. Unlike there, a passage has an edge of weight 1 to itself: one that is far
    from all others keeps what is known of it.
    """
    count = len(vectors)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -np.inf)
    # among equals the first, so that the graph does not depend on the library
    nearest = np.argsort(-likeness, axis=1, kind="stable")[:, : min(neighbours, count - 1)]
    joined = np.zeros((count, count), dtype=bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    weights = np.where(joined | joined.T, np.exp((likeness - 1) / width**2), 0.0)
    np.fill_diagonal(weights, 1.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def spread(steps: Floats, start: Floats, alpha: float) -> Floats:
    """The limit of F ← αPF + (1 - α)Y for ``steps`` P [n, n] and ``start`` Y [n, m], float64 [n, m].

    Local and global consistency (Zhou, Bousquet, Lal, Weston and Schölkopf, NIPS 2003) with P = D⁻¹W, a
    variant that they name, in place of D^-½WD^-½: values stay between the least and the largest of Y. On the
    scores of a ranking it is their regularization by the graph (Diaz, CIKM 2005). Each step brings F nearer
    to (1 - α)(I - αP)⁻¹Y by the factor α at least, and the last leaves it within 10⁻⁶. Raises JudgeError
    where it does not, as with rows of P that add up to more than 1.
    """
    # as many as it takes where values are at most 1
    values, most = start, 2 + math.ceil(math.log(_NEAR * (1 - alpha)) / math.log(alpha))
    for _ in range(most):
        following = alpha * (steps @ values) + (1 - alpha) * start
        change = float(np.abs(following - values).max(initial=0.0))
        values = following
        if change * alpha / (1 - alpha) < _NEAR:
            return np.asarray(values)
    raise JudgeError(f"The spreading over the graph of passages has not converged in {most} steps.")


def _starts(cosines: Floats, pairs: Sequence[Pair], graded: Mapping[tuple[str, str], Judgment]) -> Floats:
    """Where the spreading starts, float64 [n, 1]; with labels [n, n], a column as each passage may see it.

    In its column there is no label on text that it shares, or on a copy of such text.
    """
    labels = {at: graded[pair.key] for at, pair in enumerate(pairs) if pair.key in graded}
    if not labels:
        return cosines[:, None]
    starts = np.repeat(cosines[:, None], len(pairs), axis=1)
    for at, label in labels.items():
        starts[at, :] = (label.grade or 0) / MAX_GRADE
    for column, pair in enumerate(pairs):
        shared = [label for label in labels.values() if _overlap(label, pair)]
        copies = {label.evidence for label in shared} - {""}
        hidden = [at for at, label in labels.items() if label in shared or label.evidence in copies]
        starts[hidden, column] = cosines[hidden]
    return starts


def _overlap(label: Judgment, pair: Pair) -> bool:
    passage = pair.passage
    return label.doc_id == passage.doc_id and label.start < passage.end and passage.start < label.end
