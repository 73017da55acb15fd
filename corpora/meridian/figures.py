"""Fills ``{...}`` placeholders of the source text with figures of the model.

A placeholder is an expression over the model's names and the functions below, so that a figure is
never typed twice: ``{m(rev[25])}`` is "$25,125 million", ``{up(rev)}`` how much revenue rose in 2025.
``up`` and ``down`` refuse a change of the other sign: a sentence that says "rose" cannot outlive its figures.
"""

from __future__ import annotations

import math
import re
from typing import Any

import model

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def n(value: float, digits: int = 0) -> str:
    """Write a number as filings do: 1,234; (56) below zero; a dash for nothing."""
    text = f"{abs(_half_up(value, digits)):,.{digits}f}"
    if not text.strip("0.,"):
        return "—"
    return f"({text})" if value < 0 else text


def d(value: float, digits: int = 0) -> str:
    """A number with its dollar sign, as at the top and foot of a column."""
    text = n(value, digits)
    return f"$({text[1:]}" if text.startswith("(") else f"${text}"


def m(value: float) -> str:
    """Millions in words: $1,234 million. The sign is left to the sentence."""
    return f"${abs(_half_up(value, 0)):,.0f} million"


def b(value: float) -> str:
    """Millions told in billions: $25.1 billion."""
    return f"${abs(_half_up(value / 1000, 1)):,.1f} billion"


def p(value: float, digits: int = 1) -> str:
    """A ratio as a percentage: 0.062 is 6.2%."""
    text = f"{abs(_half_up(value * 100, digits)):.{digits}f}"
    return f"({text})%" if value < 0 and text.strip("0.") else f"{text}%"


def grew(series: model.Series, year: int = 25) -> str:
    """The change on the year before as a table cell."""
    return p(series[year] / series[year - 1] - 1)


def up(series: model.Series, year: int = 25) -> str:
    """The percentage by which a figure rose; an error if it fell."""
    if series[year] <= series[year - 1]:
        raise ValueError(f"the text says it rose in {year}: {series}")
    return grew(series, year)


def down(series: model.Series, year: int = 25) -> str:
    """The percentage by which a figure fell; an error if it rose."""
    if series[year] >= series[year - 1]:
        raise ValueError(f"the text says it fell in {year}: {series}")
    return p(1 - series[year] / series[year - 1])


def rise(series: model.Series, year: int = 25) -> float:
    """The amount by which a figure rose; an error if it fell."""
    if series[year] <= series[year - 1]:
        raise ValueError(f"the text says it rose in {year}: {series}")
    return series[year] - series[year - 1]


def fall(series: model.Series, year: int = 25) -> float:
    """The amount by which a figure fell; an error if it rose."""
    if series[year] >= series[year - 1]:
        raise ValueError(f"the text says it fell in {year}: {series}")
    return series[year - 1] - series[year]


def y3(series: model.Series, digits: int = 0) -> str:
    """Three cells: 2025, 2024, 2023."""
    return " | ".join(n(series[y], digits) for y in (25, 24, 23))


def d3(series: model.Series, digits: int = 0) -> str:
    """Three cells with dollar signs: 2025, 2024, 2023."""
    return " | ".join(d(series[y], digits) for y in (25, 24, 23))


def y2(series: model.Series, digits: int = 0) -> str:
    """Two cells: 2025, 2024."""
    return " | ".join(n(series[y], digits) for y in (25, 24))


def d2(series: model.Series, digits: int = 0) -> str:
    """Two cells with dollar signs: 2025, 2024."""
    return " | ".join(d(series[y], digits) for y in (25, 24))


def p3(series: model.Series) -> str:
    """Three cells of percentages: 2025, 2024, 2023."""
    return " | ".join(p(series[y]) for y in (25, 24, 23))


def cells(values: list[float], digits: int = 0) -> str:
    """Cells of plain numbers."""
    return " | ".join(n(value, digits) for value in values)


def environment() -> dict[str, Any]:
    """The names that a placeholder may use."""
    functions = (n, d, m, b, p, grew, up, down, rise, fall, y3, d3, y2, d2, p3, cells, sum, abs)
    return {"__builtins__": {}, **model.build(), **{f.__name__: f for f in functions}}


def fill(text: str, names: dict[str, Any], where: str) -> str:
    """Replace every placeholder of ``text``; an error names the file and the placeholder."""

    def value(match: re.Match[str]) -> str:
        try:
            result = eval(match.group(1), names)
        except Exception as error:
            raise ValueError(f"{where}: {match.group(0)}: {error}") from error
        return result if isinstance(result, str) else n(result)

    return _PLACEHOLDER.sub(value, text)


def _half_up(value: float, digits: int) -> float:
    scale = 10**digits
    return math.copysign(math.floor(abs(value) * scale + 0.5 + 1e-9) / scale, value)
