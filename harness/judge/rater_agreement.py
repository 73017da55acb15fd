"""How far graders agree: people with each other, a judge with people, and the orders of settings by either.

Grades are whole numbers from 0 up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.comparison import KAPPAS_IN_STUDIES, Interval, bootstrap, jackknife
from harness.values import Judgment, LabelError, counted, delimited_text

Grades = Mapping[str, Mapping[Hashable, int]]
"""By rater, then by item, grades from 0 up."""


def confusion_matrix(human: np.ndarray, judge: np.ndarray, grades: int) -> np.ndarray:
    """Counts of shape (grades, grades): row = the human grade, column = the judge's."""
    matrix = np.zeros((grades, grades), dtype=np.int64)
    np.add.at(matrix, (human, judge), 1)
    return matrix


def cohen_kappa(human: np.ndarray, judge: np.ndarray, grades: int, quadratic: bool = False) -> float:
    """Cohen's kappa (Cohen 1960), or weighted by the squared distance of the grades (Cohen 1968).

    NaN if it is undefined: no pairs, or both say one and the same grade throughout.
    """
    matrix = confusion_matrix(human, judge, grades).astype(float)
    total = matrix.sum()
    distance = np.subtract.outer(np.arange(grades), np.arange(grades))
    cost = (distance**2 if quadratic else distance != 0).astype(float)
    if not total:
        return float("nan")
    expected = (cost * np.outer(matrix.sum(axis=1), matrix.sum(axis=0))).sum() / total
    return float(1 - (cost * matrix).sum() / expected) if expected else float("nan")


def krippendorff_alpha(ratings: np.ndarray) -> float:
    """Krippendorff's alpha for ordinal ratings of shape (raters, units), NaN if a rater has not rated a unit.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). NaN if it is undefined:
    fewer than two ratings that share a unit, or all of them equal.
    """
    kept = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    values = np.unique(kept[~np.isnan(kept)])
    if not values.size:
        return float("nan")
    # Shape (units, values): how often each value was given to each unit.
    counts = np.stack([(kept == value).sum(axis=0) for value in values], axis=1)
    raters = counts.sum(axis=1)
    coincidences = np.einsum("ua,ub,u->ab", counts, counts, 1 / (raters - 1))
    coincidences -= np.diag((counts / (raters - 1)[:, None]).sum(axis=0))
    totals = coincidences.sum(axis=1)
    # how many ratings lie between two values, their own counted half
    places = np.cumsum(totals) - totals / 2
    distance = np.subtract.outer(places, places) ** 2
    expected = (distance * np.outer(totals, totals)).sum() / (totals.sum() - 1)
    return float(1 - (distance * coincidences).sum() / expected) if expected else float("nan")


def bias_per_grade(human: np.ndarray, judge: np.ndarray, grades: int) -> np.ndarray:
    """Mean of judge minus human for each human grade, shape (grades,); NaN for a grade that no one gave."""
    counts = np.bincount(human, minlength=grades)
    sums = np.bincount(human, weights=(judge - human).astype(float), minlength=grades)
    return np.asarray(np.divide(sums, counts, out=np.full(grades, np.nan), where=counts > 0))


def kendall_tau(left: np.ndarray, right: np.ndarray) -> float:
    """Kendall's tau-b (Kendall 1945) of two score vectors; NaN when one of them is constant."""
    upper = np.triu_indices(len(left), 1)
    left_signs, right_signs = (np.sign(values[upper[0]] - values[upper[1]]) for values in (left, right))
    untied = float((left_signs**2).sum() * (right_signs**2).sum())
    return float((left_signs * right_signs).sum() / np.sqrt(untied)) if untied else float("nan")


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two raters on the ``items`` that both have graded; a figure is NaN where it is undefined.

    Coefficients are where either has given one grade throughout: kappa is then 0 whatever the other does.
    ``exact`` and ``near`` are the shares of items with equal grades, and with grades at most one apart;
    ``kappa`` is Cohen's, ``kappa_quadratic`` weighted by the square of the distance, ``alpha`` Krippendorff's
    for ordinal grades.
    """

    first: str
    second: str
    items: int
    exact: float = float("nan")
    near: float = float("nan")
    kappa: float = float("nan")
    kappa_quadratic: float = float("nan")
    alpha: float = float("nan")

    def __str__(self) -> str:
        """In a sentence."""
        named = (
            ("Cohen's kappa", self.kappa),
            ("quadratic", self.kappa_quadratic),
            ("Krippendorff's alpha (ordinal)", self.alpha),
        )
        figures = [f"{name} {value:.2f}" for name, value in named if value == value]
        rest = ", ".join(figures) or "coefficients are undefined, as one of them gave one grade throughout"
        passages = counted(self.items, "passage")
        return f"{self.first} and {self.second}: {passages}, the same grade for {self.exact:.0%}; {rest}."


def pair_agreements(grades: Grades) -> list[PairAgreement]:
    """Every two raters, in the order of ``grades``; those without a common item have 0 items and NaN."""
    return [_pair(first, second, grades) for first, second in combinations(grades, 2)]


def _pair(first: str, second: str, grades: Grades) -> PairAgreement:
    both = [item for item in grades[first] if item in grades[second]]
    if not both:
        return PairAgreement(first, second, 0)
    left, right = (np.array([grades[rater][item] for item in both]) for rater in (first, second))
    apart, scale = np.abs(left - right), int(max(left.max(), right.max())) + 1
    same, near = float((apart == 0).mean()), float((apart <= 1).mean())
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return PairAgreement(first, second, len(both), same, near)
    return PairAgreement(
        first,
        second,
        len(both),
        same,
        near,
        cohen_kappa(left, right, scale),
        cohen_kappa(left, right, scale, quadratic=True),
        krippendorff_alpha(np.array([left, right], dtype=float)),
    )


def alpha_of_all(grades: Grades) -> tuple[int, float]:
    """How many items have two grades or more, and Krippendorff's alpha for ordinal grades over them."""
    items = list(dict.fromkeys(item for by_item in grades.values() for item in by_item))
    matrix = np.array(
        [[by_item.get(item, np.nan) for item in items] for by_item in grades.values()], dtype=float
    )
    shared = int((np.sum(~np.isnan(matrix), axis=0) > 1).sum()) if items else 0
    return shared, krippendorff_alpha(matrix) if shared else float("nan")


@dataclass(frozen=True, slots=True)
class GradedPair:
    """One pair that a person and a judge have graded; ``judge_grade`` None: no usable grade."""

    query_id: str
    human_grade: int
    judge_grade: int | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one judge agrees with people; intervals are by query.

    ``unscored`` pairs have no grade by the judge; ``out_of_scale`` counts grades outside the scale, which
    were rejected (and so are unscored too) or clamped. ``confusion`` [grades, grades] has human grades as
    rows. Kappa and alpha are NaN where people have given one grade throughout: kappa is then 0 whatever the
    judge does.
    """

    judge: str
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
    bias_per_grade: np.ndarray
    confusion: np.ndarray

    @property
    def in_words(self) -> str:
        """The quadratic kappa beside those of judges in public studies."""
        (least, most), kappa = KAPPAS_IN_STUDIES, self.kappa_quadratic
        if np.count_nonzero(self.confusion.sum(axis=1)) == 1:
            return (
                "Kappa and alpha are undefined: people gave one grade throughout. The judge gave the same "
                f"grade to {self.exact:.0%}; label passages of other grades to learn more."
            )
        low, high = (kappa.value if bound is None else bound for bound in (kappa.low, kappa.high))
        studies = f"that of judges in public studies ({least:.2f} to {most:.2f})"
        if high < least:
            return f"Its quadratic kappa is below {studies}. Do not rely on its grades."
        if low > most:
            return f"Its quadratic kappa is above {studies}."
        return f"Its quadratic kappa may be {studies}."

    def row(self) -> dict[str, float | int | str | None]:
        """The figures by name, the confusion matrix cell by cell."""
        counts = ("judge", "pairs", "queries", "unscored", "out_of_scale")
        row = {name: getattr(self, name) for name in counts}
        for name in ("kappa", "kappa_quadratic", "alpha_ordinal"):
            interval: Interval = getattr(self, name)
            row |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
        row |= {name: getattr(self, name) for name in ("exact", "mean_absolute_difference", "bias")}
        row |= {f"bias_at_human_{grade}": bias for grade, bias in enumerate(self.bias_per_grade.tolist())}
        for (human, judge), count in np.ndenumerate(self.confusion):
            row[f"human_{human}_judge_{judge}"] = int(count)
        return row


def match_judgments(human: Iterable[Judgment], judge: Iterable[Judgment]) -> list[GradedPair]:
    """Pairs of judgments of the same query and span; what only one side has judged is ignored.

    Raises LabelError when people have given one span two grades: settle that before measuring a judge.
    """
    grades = {judgment.key: judgment.grade for judgment in judge}
    pairs: dict[Hashable, GradedPair] = {}
    for label in human:
        if label.grade is None or label.key not in grades:
            continue
        pair = GradedPair(label.query_id, label.grade, grades[label.key])
        before = pairs.setdefault(label.key, pair)
        if before.human_grade != label.grade:
            raise LabelError(
                f"{label.source}: query {label.query_id}, {label.doc_id}:{label.start}-{label.end} has the "
                f"human grades {before.human_grade} and {label.grade}."
            )
    return list(pairs.values())


def measure_agreement(
    judge: str, pairs: Sequence[GradedPair], max_grade: int, *, out_of_scale: int = 0
) -> Agreement:
    """Compare a judge with people over the pairs that both have graded; LabelError if there is none."""
    scored = [pair for pair in pairs if pair.judge_grade is not None]
    if not scored:
        raise LabelError(f"{judge}: there is no pair that both people and the judge have graded.")
    grades = max_grade + 1
    human = np.array([pair.human_grade for pair in scored])
    judged = np.array([pair.judge_grade for pair in scored], dtype=np.int64)
    queries = np.array([pair.query_id for pair in scored])
    both = np.stack([human, judged]).astype(float)

    def varied(coefficient: Callable[[np.ndarray], float]) -> Interval:
        if np.ptp(human) == 0:
            return Interval(float("nan"))
        return jackknife(coefficient, queries)

    return Agreement(
        judge=judge,
        pairs=len(scored),
        queries=len(set(queries.tolist())),
        unscored=len(pairs) - len(scored),
        out_of_scale=out_of_scale,
        kappa=varied(lambda rows: cohen_kappa(human[rows], judged[rows], grades)),
        kappa_quadratic=varied(lambda rows: cohen_kappa(human[rows], judged[rows], grades, True)),
        alpha_ordinal=varied(lambda rows: krippendorff_alpha(both[:, rows])),
        exact=float((human == judged).mean()),
        mean_absolute_difference=float(np.abs(human - judged).mean()),
        bias=float((judged - human).mean()),
        bias_per_grade=bias_per_grade(human, judged, grades),
        confusion=confusion_matrix(human, judged, grades),
    )


def agreement_csv(results: Sequence[Agreement]) -> str:
    """One row per judge, as CSV; all judges on the same scale."""
    return delimited_text([results[0].row(), *(map(_cell, result.row().values()) for result in results)])


def _cell(value: float | int | str | None) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6f}"
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Kendall's tau-b between the orders of settings by two sets of labels: all, and the best only."""

    settings: int
    tau: Interval
    top: int
    tau_top: Interval


def order_agreement(human: np.ndarray, judge: np.ndarray, *, top: int = 5) -> OrderAgreement:
    """Whether a judge puts settings in the order that people do.

    ``human`` and ``judge`` hold scores of shape (settings, queries) under the two sets of labels; means are
    over queries, intervals from resampling them. ``top`` looks only at the settings that are best by the
    human labels, where telling them apart matters and is hardest. Raises ValueError on shapes that differ
    or hold NaN.
    """
    if human.shape != judge.shape or human.ndim != 2 or human.shape[1] == 0:
        raise ValueError(f"scores of one shape (settings, queries), not {human.shape} and {judge.shape}")
    if np.isnan(human).any() or np.isnan(judge).any():
        raise ValueError("a score is NaN: leave out the queries for which a setting has none")
    best = np.argsort(-human.mean(axis=1), kind="stable")[:top]

    def tau_of(chosen: Sequence[int] | np.ndarray) -> Interval:
        def statistic(queries: np.ndarray) -> float:
            left, right = human[chosen][:, queries], judge[chosen][:, queries]
            return kendall_tau(left.mean(axis=1), right.mean(axis=1))

        return bootstrap(statistic, human.shape[1], resamples=1000, seed=0)

    return OrderAgreement(len(human), tau_of(range(len(human))), len(best), tau_of(best))
