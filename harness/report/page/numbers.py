"""Numbers in the short form in which the page carries them."""

from __future__ import annotations

import math
from typing import Any

# Scores are carried as whole millionths: six decimals, and shorter JSON than fractions.
SCALE = 1_000_000
# The page rounds what it shows to three decimals. Numbers carried with barely more would be rounded twice:
# 0.123496 to 0.1235, and that to 0.124.
DIGITS = 9


def scaled(cell: str) -> int | None:
    """A score as whole millionths; None for an empty cell."""
    return in_millionths(float(cell)) if cell else None


def in_millionths(score: float) -> int:
    """A score as whole millionths."""
    return round(score * SCALE)


def figure(value: Any) -> float | None:
    """A number with nine significant digits; None if there is none."""
    if value is None or value == "":
        return None
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def plain(cell: str) -> float | int | str | None:
    """A cell as the number it spells, else as text; None for an empty one."""
    if cell == "":
        return None
    try:
        number = float(cell)
    except ValueError:
        return cell
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else float(f"{number:.{DIGITS}g}")


def cut(text: str, characters: int | None, shortest: int) -> str:
    """The first ``characters`` of a text, and no fewer than ``shortest``; None: all of it."""
    most = len(text) if characters is None else max(characters, shortest)
    return text if len(text) <= most else text[:most] + " …"
