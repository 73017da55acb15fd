"""What few labels of people say of a result, as `harness labels next` has left it: read back and shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report.tables import Table

FILE = "by_labels.json"
# What stands in a table where there is no figure.
_NONE = "–"


@dataclass(frozen=True, slots=True)
class ByLabels:
    """``sentences`` to show with the verdict; ``means`` and ``further`` as rows of two tables, in text."""

    measure: str
    judge: str
    sentences: tuple[str, ...]
    means: tuple[tuple[str, ...], ...]
    further: tuple[tuple[str, ...], ...]

    @property
    def headline(self) -> str:
        """The corrected means in a sentence; '' where no model is corrected or no interval is known.

        It comes before a verdict by the model's grades alone, since it is free of the model's mistakes.
        """
        if not self.judge or not self.means or any(row[2] == _NONE for row in self.means):
            return ""
        leader, mean, bounds, alone = self.means[0]
        said = "" if alone == _NONE else f"; by the judge alone {alone}"
        told = f"{leader} leads with {self.measure} {mean} {bounds}{said}"
        if len(self.means) > 1:
            name, mean, bounds, alone = self.means[1]
            said = "" if alone == _NONE else f"; alone {alone}"
            told += f". Next is {name} with {mean} {bounds}{said}"
        return f"By the grades of {self.judge}, corrected by people's: {told}."

    def tables(self) -> tuple[Table, ...]:
        """The means with their intervals, and what more labels would do."""
        source = f"grades of {self.judge}, corrected by people's" if self.judge else "people's labels so far"
        names = ("setting", "mean", "95 % interval", "by the judge alone")
        shown = len(names) if self.judge else len(names) - 1
        first = Table(
            f"{self.measure} by {source}",
            names[:shown],
            tuple(row[:shown] for row in self.means),
        )
        if not self.further:
            return (first,)
        second = Table(
            "What more labels would do to the interval of the nearest comparison (half-widths)",
            ("more labels", "on these queries", "for new queries"),
            self.further,
        )
        return first, second


def to_text(found: ByLabels) -> str:
    """As JSON."""
    plain = {name: getattr(found, name) for name in found.__slots__}
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def read_by_labels(folder: Path) -> ByLabels | None:
    """What the folder holds, None where nothing does; raises HarnessError for a damaged file."""
    from harness.report.stored import damaged

    path = folder / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise damaged(path, str(error)) from None
    try:
        return ByLabels(
            _text(found["measure"]),
            _text(found["judge"]),
            tuple(map(_text, found["sentences"])),
            _rows(found, "means", 4),
            _rows(found, "further", 3),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, str(error)) from None


def _rows(found: Mapping[str, Any], name: str, width: int) -> tuple[tuple[str, ...], ...]:
    rows = tuple(tuple(map(_text, row)) for row in found[name])
    if any(len(row) != width for row in rows):
        raise ValueError(f"{name} has a row of another length")
    return rows


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value
