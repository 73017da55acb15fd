"""The passages of a folder of results to grade next, and how firm the verdict by people's grades is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.labels.labelling.label_pool import LabelPool, read_label_pool
from harness.labels.labelling.sheet import sheet_rows
from harness.labels.labelling.unjudged import GradedSpan
from harness.labels.ordering.expected import mean_scores
from harness.labels.ordering.firmness import Firmness
from harness.labels.ordering.pool import ItemPool
from harness.labels.ordering.words import known, sentences
from harness.report import ByLabels
from harness.values import Reporter


@dataclass(frozen=True, slots=True)
class FirmnessReport:
    """How firm the verdict is.

    ``judge`` names the language model whose grades are corrected, '' for none; ``judge_alone`` are the means
    by its grades, None if it has not graded every passage.
    """

    firm: Firmness
    judge: str
    judge_alone: Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class NextLabels:
    """The ``rows`` of a sheet in the order of labelling, and how firm the verdict is."""

    rows: list[dict[str, Any]]
    firmness: FirmnessReport


def next_labels(folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter) -> NextLabels:
    """The next ``count`` passages among the first ``top`` of all settings, as the labels file is now.

    ``labels`` is the file of labels, by default that of the configuration. A passage is graded where a label
    covers half of either. Raises ConfigError if there is no file of labels to go by.
    """
    label_pool = read_label_pool(folder, top, count, labels, reporter)
    ids = label_pool.order.order(label_pool.items, label_pool.graded(), label_pool.skipped)
    by_id = {one.name: one for one in label_pool.wanted}
    opened = label_pool.opened
    rows = sheet_rows([by_id[name] for name in ids], opened.documents, opened.questions)
    return NextLabels(rows, firmness_of(label_pool))


def firmness_of(
    label_pool: LabelPool, more: Iterable[GradedSpan] = (), skipped: frozenset[str] = frozenset()
) -> FirmnessReport:
    """The verdict by the labels file, and by ``more`` grades that are not in it yet."""
    firm = label_pool.order.firmness(label_pool.items, label_pool.graded(more), label_pool.skipped | skipped)
    alone = _judge_alone(label_pool.order.pool(label_pool.items)) if label_pool.judge else None
    return FirmnessReport(firm, label_pool.judge, alone)


def _judge_alone(pool: ItemPool) -> dict[str, float] | None:
    import numpy as np

    if np.isnan(pool.judge).any():
        return None
    return dict(zip(pool.settings, mean_scores(pool, pool.judge.astype(np.int64)).tolist(), strict=True))


def by_labels(found: FirmnessReport, top: int) -> ByLabels:
    """The verdict as it is shown in the terminal and on the pages."""
    alone = found.judge_alone or {}
    means = tuple(
        (
            name,
            f"{span.value:.3f}" if known(found.firm) else "–",
            _bounds(span.low, span.high),
            f"{alone[name]:.3f}" if name in alone else "–",
        )
        for name, span in found.firm.means
    )
    further = tuple(
        (f"+{one.labels}", f"±{one.half_by_labels:.3f}", _plus_minus(one.half_by_queries))
        for one in found.firm.further
    )
    sure, lines = known(found.firm), sentences(found.firm)
    if found.judge and sure:
        lines = (*lines[:-1], _judge_words(found), lines[-1])
    if further:
        listed = ", ".join(f"{labels} to {now}" for labels, now, _ in further)
        lines = (*lines[:-1], f"More labels bring the half-width on these queries {listed}.", lines[-1])
    return ByLabels(f"passage NDCG@{top}", found.judge, lines, means, further)


def _judge_words(found: FirmnessReport) -> str:
    return (
        f"The grades of {found.judge} are corrected by {found.firm.graded:,} of people, so that its mistakes "
        "are not in these means."
    )


def _bounds(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _plus_minus(half: float | None) -> str:
    return "–" if half is None else f"±{half:.3f}"
