"""A comparison seen from the other side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.comparison.paired import Comparison


def turned(found: Iterable[Comparison]) -> dict[tuple[str, str], Comparison]:
    """Every comparison by (setting, against), and the other way round."""
    both: dict[tuple[str, str], Comparison] = {}
    for one in found:
        both[one.setting, one.against] = one
        both[one.against, one.setting] = turn(one)
    return both


def turn(one: Comparison) -> Comparison:
    """``against`` minus ``setting``."""
    return replace(
        one,
        setting=one.against,
        against=one.setting,
        mean=one.mean_against,
        mean_against=one.mean,
        difference=-one.difference,
        low=None if one.high is None else -one.high,
        high=None if one.low is None else -one.low,
        wins=one.losses,
        losses=one.wins,
        d_z=None if one.d_z is None else -one.d_z,
        dominance=-one.dominance,
    )
