"""Agreement of judges with people as a table and a plot, from rows of (query, human grade, judge grade)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison import (
    Interval,
    bias_per_grade,
    cohen_kappa,
    confusion_matrix,
    jackknife,
    krippendorff_alpha,
)
from harness.values import Judgment, LabelError, counted


@dataclass(frozen=True, slots=True)
class GradedPair:
    """One pair that a person and a judge have graded; ``judge_grade`` None: no usable grade."""

    query_id: str
    human_grade: int
    judge_grade: int | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one judge agrees with people. ``grades`` is the size of the scale; intervals are by query.

    ``unscored`` pairs have no grade by the judge; ``out_of_scale`` counts grades outside the scale, which
    were rejected (and so are unscored too) or clamped. ``confusion`` has human grades as rows.
    """

    judge: str
    grades: int
    pairs: int
    queries: int
    unscored: int
    out_of_scale: int
    kappa: Interval
    kappa_quadratic: Interval
    alpha_ordinal: Interval
    exact: float
    mean_absolute_difference: float
    bias: float
    bias_per_grade: tuple[float, ...]
    confusion: np.ndarray


def match_judgments(human: Iterable[Judgment], judge: Iterable[Judgment]) -> list[GradedPair]:
    """Pairs of judgments of the same query and span; what only one side has judged is ignored.

    Raises LabelError when people have given one span two grades: settle that before measuring a judge.
    """
    grades: dict[tuple[str, str, int, int], int | None] = {_span(found): found.grade for found in judge}
    pairs: dict[tuple[str, str, int, int], GradedPair] = {}
    for label in human:
        span = _span(label)
        if label.grade is None or span not in grades:
            continue
        if span in pairs and pairs[span].human_grade != label.grade:
            raise LabelError(
                f"{label.source}: query {label.query_id}, {label.doc_id}:{label.start}-{label.end} has the "
                f"human grades {pairs[span].human_grade} and {label.grade}."
            )
        pairs[span] = GradedPair(label.query_id, label.grade, grades[span])
    return list(pairs.values())


def _span(judgment: Judgment) -> tuple[str, str, int, int]:
    return judgment.query_id, judgment.doc_id, judgment.start, judgment.end


def measure_agreement(
    judge: str,
    pairs: Sequence[GradedPair],
    max_grade: int,
    *,
    out_of_scale: int = 0,
) -> Agreement:
    """Compare a judge with people over the pairs that both have graded; LabelError if there is none."""
    scored = [pair for pair in pairs if pair.judge_grade is not None]
    if not scored:
        raise LabelError(f"{judge}: there is no pair that both people and the judge have graded.")
    grades = max_grade + 1
    human = np.array([pair.human_grade for pair in scored])
    judged = np.array([pair.judge_grade for pair in scored], dtype=np.int64)
    queries = np.array([pair.query_id for pair in scored])

    def interval(name: str) -> Interval:
        def statistic(rows: np.ndarray) -> float:
            left, right = human[rows], judged[rows]
            if name == "alpha":
                return krippendorff_alpha(np.stack([left, right]).astype(float))
            return cohen_kappa(left, right, grades, "quadratic" if name == "quadratic" else "none")

        return jackknife(statistic, queries)

    return Agreement(
        judge=judge,
        grades=grades,
        pairs=len(scored),
        queries=len(set(queries.tolist())),
        unscored=len(pairs) - len(scored),
        out_of_scale=out_of_scale,
        kappa=interval("plain"),
        kappa_quadratic=interval("quadratic"),
        alpha_ordinal=interval("alpha"),
        exact=float((human == judged).mean()),
        mean_absolute_difference=float(np.abs(human - judged).mean()),
        bias=float((judged - human).mean()),
        bias_per_grade=tuple(float(bias) for bias in bias_per_grade(human, judged, grades)),
        confusion=confusion_matrix(human, judged, grades),
    )


def agreement_rows(found: Agreement) -> Iterator[tuple[str, float | int | str | None]]:
    """The figures of one judge by name, the confusion matrix cell by cell."""
    yield "judge", found.judge
    for name in ("pairs", "queries", "unscored", "out_of_scale"):
        yield name, getattr(found, name)
    for name in ("kappa", "kappa_quadratic", "alpha_ordinal"):
        interval: Interval = getattr(found, name)
        yield name, interval.value
        yield f"{name}_low", interval.low
        yield f"{name}_high", interval.high
    yield "exact", found.exact
    yield "mean_absolute_difference", found.mean_absolute_difference
    yield "bias", found.bias
    for grade, bias in enumerate(found.bias_per_grade):
        yield f"bias_at_human_{grade}", bias
    for human in range(found.grades):
        for judge in range(found.grades):
            yield f"human_{human}_judge_{judge}", int(found.confusion[human, judge])


def agreement_csv(results: Sequence[Agreement]) -> str:
    """One row per judge, as CSV; all judges on the same scale. Raises ValueError when the scales differ."""
    if len({found.grades for found in results}) > 1:
        raise ValueError("judges on different scales do not fit in one table")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, found in enumerate(results):
        rows = list(agreement_rows(found))
        if number == 0:
            writer.writerow([name for name, _ in rows])
        writer.writerow([_cell(value) for _, value in rows])
    return text.getvalue()


def agreement_plot(found: Agreement) -> bytes:
    """A PNG: the confusion matrix by share of each human grade, and the bias per human grade.

    Needs matplotlib (the ``plots`` extra); raises ModuleNotFoundError without it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    totals = found.confusion.sum(axis=1, keepdims=True)
    left.imshow(found.confusion / np.where(totals == 0, 1, totals), cmap="Blues", vmin=0, vmax=1)
    for (human, judge), count in np.ndenumerate(found.confusion):
        left.text(judge, human, str(count), ha="center", va="center", fontsize=8)
    ticks = range(found.grades)
    left.set(xlabel="judge's grade", ylabel="human grade", xticks=ticks, yticks=ticks)
    left.set_title(f"{found.judge}: {counted(found.pairs, 'pair')}", fontsize=9)
    right.bar(ticks, found.bias_per_grade, color="#4472a8")
    right.axhline(0, color="black", linewidth=0.8)
    right.set(xlabel="human grade", ylabel="mean of judge minus human", xticks=ticks)
    right.set_title(f"kappa {found.kappa}, quadratic {found.kappa_quadratic}", fontsize=9)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=120)
    return png.getvalue()


def _cell(value: float | int | str | None) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6f}"
    return "" if value is None else str(value)
