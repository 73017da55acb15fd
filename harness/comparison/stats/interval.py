"""An estimate with its interval: the one type for means, differences and coefficients."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, NaN without data, and its bounds, None if unknown; ``n`` is how many values it is of."""

    value: float = float("nan")
    low: float | None = None
    high: float | None = None
    n: int = 0

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.3f} [no interval]"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def within(self, least: float, most: float) -> Interval:
        """The same with bounds in the range that the quantity can have: values outside are impossible."""
        if self.low is None or self.high is None:
            return self
        low, high = (min(max(bound, least), most) for bound in (self.low, self.high))
        return Interval(self.value, low, high, self.n)
