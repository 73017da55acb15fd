"""What factors do, as values: the effects that a verdict rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.comparison.paired import Comparison


@dataclass(frozen=True, slots=True)
class Effect:
    """Two levels of a factor compared: ``found.setting`` and ``found.against`` are levels, not settings.

    ``pairs`` are the settings that were paired, which differ in this factor alone.
    """

    factor: str
    found: Comparison
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """The main effects of a sweep, and sentences on the interactions that are beyond chance.

    ``levels`` has, by factor, the level to use; None where effects do not decide that.
    """

    main: tuple[Effect, ...] = ()
    interactions: tuple[str, ...] = ()
    levels: Mapping[str, str] | None = None
