"""What `harness tune` may spend and shall promise, a part of the text and queries, and ranges of values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from harness.values import StageConfig, duration

# so many values of a range are tried, unless it says how many
VALUES = 5
_BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(min|h|USD|%)\s*")
_RANGE_KEYS = {"from", "to", "log", "values"}


@dataclass(frozen=True, slots=True)
class Allowance:
    """An ``amount`` of ``seconds``, of ``money`` in the unit of prices, or the ``share`` of a whole sweep."""

    amount: float
    of: Literal["seconds", "money", "share"]

    def __str__(self) -> str:
        """Such as ``25 % of a full sweep``, ``5.00 in prices`` or ``2 h``."""
        if self.of == "share":
            return f"{100 * self.amount:g} % of a full sweep"
        return duration(self.amount) if self.of == "seconds" else f"{self.amount:.2f} in prices"


class PartConfig(StageConfig):
    """A part of the documents and queries (docs/tune.md); larger parts of one seed contain smaller ones."""

    text: float = Field(
        1.0,
        ge=0,
        le=1,
        description="The share of the documents without a label that is searched, besides all with one.",
    )
    queries: float = Field(
        1.0, gt=0, le=1, description="The share of the queries, drawn from every document and type alike."
    )
    split: Literal["all", "train"] = Field("all", description="Which queries they are drawn from.")
    seed: int = Field(7, ge=0, description="Another seed draws others.")

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.text == 1 and self.queries == 1 and self.split == "all"


class TuneConfig(StageConfig):
    """How `harness tune` chooses among many settings; docs/tune.md explains it."""

    budget: str = Field(
        "25 %",
        description="What it may take: `30 min` or `2 h` of computing, `5 USD` in the unit of your prices, "
        "or `20 %` of what all settings take on everything.",
    )
    confidence: float = Field(0.95, gt=0.5, lt=1, description="The confidence of its bounds.")
    tolerance: float | None = Field(
        None, gt=0, lt=1, description="A loss that does not matter; empty: the `tolerance` of the benchmark."
    )
    give: Literal["search", "certify"] = Field(
        "search",
        description="`search` drops what looks worse; `certify` only what is shown to be worse, and stops "
        "where that is beyond the budget.",
    )
    screen: bool = Field(
        False,
        description="Whether stages before the last compute vectors in int8 on the CPU. The last one "
        "computes what is left again without it. It needs `pip install 'ndcg-harness[screen]'`.",
    )
    seed: int = Field(
        7,
        ge=0,
        description="Seed of the parts that stages see, of the sampler, and of what a screen learns by.",
    )
    strategy: Literal["grid", "tpe"] = Field(
        "grid",
        description="How ranges become settings. `grid`: by the fixed values of each range. `tpe`: a sampler "
        "of Optuna proposes numbers within the ranges, by the scores of earlier proposals; it needs "
        "`pip install 'ndcg-harness[tune]'`.",
    )
    trials: int = Field(30, ge=3, le=1000, description="With `tpe`: how many settings are proposed.")

    @field_validator("budget")
    @classmethod
    def _is_a_budget(cls, budget: str) -> str:
        match = _BUDGET.fullmatch(budget)
        if match is None or not float(match[1]):
            raise ValueError("a budget is written as `30 min`, `2 h`, `5 USD` or `20 %`")
        if match[2] == "%" and float(match[1]) > 100:
            raise ValueError("it is a share of the whole sweep, so at most 100 %")
        return budget

    @model_validator(mode="after")
    def _drops_by_what_it_sees(self) -> TuneConfig:
        if self.screen and self.give == "certify":
            raise ValueError(
                "`give: certify` drops only what is shown to be worse, and a screen in int8 shows nothing of "
                "exact vectors. Leave out `screen`, or have `give: search`"
            )
        return self

    @property
    def allowed(self) -> Allowance:
        """The budget as a number."""
        match = _BUDGET.fullmatch(self.budget)
        assert match is not None
        amount, unit = float(match[1]), match[2]
        if unit == "%":
            return Allowance(amount / 100, "share")
        if unit == "USD":
            return Allowance(amount, "money")
        return Allowance(amount * (3600 if unit == "h" else 60), "seconds")


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from ``low`` to ``high``, evenly spaced, or by equal ratios with ``log``.

    ``values`` is how many fixed ones stand for it. ``whole``: its key takes only whole numbers.
    """

    low: float
    high: float
    log: bool = False
    values: int = VALUES
    whole: bool = False

    def at(self, share: float) -> float:
        """The number at a ``share`` of the way from the lower to the higher end, 0 to 1."""
        if self.log:
            point = self.low * math.exp(share * math.log(self.high / self.low))
        else:
            point = self.low + share * (self.high - self.low)
        return round(point) if self.whole else float(f"{point:.6g}")

    def grid(self) -> list[float]:
        """The fixed values that stand for it, evenly spaced or by equal ratios."""
        return list(dict.fromkeys(self.at(place / (self.values - 1)) for place in range(self.values)))


def is_range(value: Any) -> bool:
    """Whether a value of a key is a range: a mapping with ``from`` and ``to``."""
    return isinstance(value, Mapping) and {"from", "to"} <= value.keys()


def range_of(value: Mapping[str, Any]) -> Range:
    """The range that a mapping states, of whole numbers where both ends are; ValueError if it cannot be."""
    if unknown := sorted(map(str, value.keys() - _RANGE_KEYS)):
        raise ValueError(f"a range has the keys from, to, log and values, not {unknown[0]}")
    low, high, log, count = value["from"], value["to"], value.get("log", False), value.get("values", VALUES)
    numbers = [end for end in (low, high) if isinstance(end, int | float) and not isinstance(end, bool)]
    if len(numbers) < 2 or not low < high or math.isinf(high - low):
        raise ValueError("a range goes from a number to a larger one")
    if not isinstance(log, bool) or (log and low <= 0):
        raise ValueError("log is true or false, and a range with log begins above 0")
    if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= 100:
        raise ValueError("values says how many of a range are tried, from 2 to 100")
    return Range(low, high, log, count, all(isinstance(end, int) for end in numbers))
