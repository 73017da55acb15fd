"""What speaks against the judge whose grades a result rests on, as its run record has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# of nine judges against assessors of TREC, the least and the largest: benchmarks/judge_agreement.py
KAPPAS_IN_STUDIES = 0.34, 0.60
ALSO_RANK = "judges_that_rank"
"""Where ``counts`` of a run record lists the models of the settings that are the judge's too."""


@dataclass(frozen=True, slots=True)
class JudgeDoubt:
    """Why nobody should choose by the grades of a judge; it is false where nothing speaks against them.

    ``kappa`` is the quadratic kappa with people where its whole interval is below that of judges in public
    studies, else None. ``also_ranks`` are the models of the settings that are the judge's too, which then
    grades its own rankings.
    """

    kappa: float | None = None
    also_ranks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.kappa is not None or bool(self.also_ranks)

    @property
    def code(self) -> str:
        """The code of the sentence on it in `wordings`."""
        if self.kappa is None:
            return "judge.ranks"
        return "judge.both" if self.also_ranks else "judge.disagrees"

    @property
    def values(self) -> dict[str, str]:
        """The values of that sentence."""
        return {} if self.kappa is None else {"kappa": f"{self.kappa:.2f}"}


def judge_doubt(records: Iterable[Mapping[str, Any]]) -> JudgeDoubt:
    """The doubt about the judges of several results: their lowest kappa that is low, all models that rank.

    Records of older versions do not say which models rank too.
    """
    kappas: list[float] = []
    ranking: list[str] = []
    for record in records:
        agreement = record.get("judge", {}).get("agreement", {})
        kappas += [agreement["kappa_quadratic"]] if _is_low(agreement) else []
        ranking += record.get("counts", {}).get(ALSO_RANK, ())
    return JudgeDoubt(min(kappas, default=None), tuple(dict.fromkeys(ranking)))


def _is_low(agreement: Mapping[str, Any]) -> bool:
    value, high = (agreement.get(name) for name in ("kappa_quadratic", "kappa_quadratic_high"))
    return value is not None and (value if high is None else high) < KAPPAS_IN_STUDIES[0]
