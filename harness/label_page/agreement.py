"""How far raters agree, and where they do not. Numbers only: no rater sees the grades of others here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.label_page.items import Label
from harness.stats.agreement import cohen_kappa, krippendorff_alpha
from harness.types import MAX_GRADE


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two raters on the items that both have graded; None if a coefficient is undefined.

    ``exact`` and ``near`` are the shares of items with equal grades, and with grades at most one apart;
    ``kappa`` is Cohen's, weighted by the square of the distance.
    """

    first: str
    second: str
    items: int
    exact: float | None
    near: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class AgreementSoFar:
    """``alpha``: Krippendorff's for ordinal grades over the ``items`` with two grades or more."""

    items: int
    alpha: float | None
    pairs: tuple[PairAgreement, ...]


def agreement_so_far(labels: Sequence[Label]) -> AgreementSoFar:
    """The agreement of all raters on items with several grades; skipped items have no grade."""
    grades: dict[str, dict[str, int]] = {}
    for label in labels:
        if label.rating.grade is not None:
            grades.setdefault(label.rater, {})[label.item_id] = label.rating.grade
    raters = sorted(grades)
    pairs = tuple(_pair(one, other, grades) for one, other in combinations(raters, 2))
    items = sorted({item for own in grades.values() for item in own})
    matrix = np.array([[grades[rater].get(item, np.nan) for item in items] for rater in raters], dtype=float)
    shared = int((np.sum(~np.isnan(matrix), axis=0) > 1).sum()) if raters else 0
    alpha = krippendorff_alpha(matrix, "ordinal") if shared else float("nan")
    return AgreementSoFar(shared, _known(alpha), pairs)


def _pair(one: str, other: str, grades: dict[str, dict[str, int]]) -> PairAgreement:
    both = sorted(grades[one].keys() & grades[other].keys())
    if not both:
        return PairAgreement(one, other, 0, None, None, None)
    left = np.array([grades[one][item] for item in both])
    right = np.array([grades[other][item] for item in both])
    apart = np.abs(left - right)
    kappa = cohen_kappa(left, right, MAX_GRADE + 1, "quadratic")
    return PairAgreement(
        one, other, len(both), float((apart == 0).mean()), float((apart <= 1).mean()), _known(kappa)
    )


def _known(value: float) -> float | None:
    return None if value != value else value
