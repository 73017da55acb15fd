"""The verdict by the first human labels of a result: by_labels.json, written by `harness labels next`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.report.tables import Table
from harness.values import number

FILE = "by_labels.json"
# Shown in a table in place of a missing figure.
_NONE = "–"


@dataclass(frozen=True, slots=True)
class ByLabels:
    """The verdict by labels, as text: ``sentences`` to show with the verdict, and the rows of two tables.

    ``means`` are setting, mean, interval, and mean by the judge alone; ``further`` are a number of labels and
    the half-widths of the nearest interval with them, on these queries and for new ones.
    """

    measure: str
    judge: str
    sentences: tuple[str, ...]
    means: tuple[tuple[str, str, str, str], ...]
    further: tuple[tuple[str, str, str], ...]

    @property
    def headline(self) -> str:
        """The corrected means in a sentence; '' where no model is corrected or no interval is known.

        It is shown before a verdict by the model's grades alone, since it is corrected for their errors.
        """
        if not self.judge or not self.means or any(row[2] == _NONE for row in self.means):
            return ""
        leader, mean, bounds, alone = self.means[0]
        source = f"By the grades of {self.judge}, corrected by people's"
        if mean == number(0.0):
            return f"{source}, nothing was found: the highest {self.measure} is {mean}."
        by_judge = "" if alone == _NONE else f"; by the judge alone {alone}"
        text = f"{leader} leads with {self.measure} {mean} {bounds}{by_judge}"
        if len(self.means) > 1:
            name, mean, bounds, alone = self.means[1]
            by_judge = "" if alone == _NONE else f"; alone {alone}"
            text += f". Next is {name} with {mean} {bounds}{by_judge}"
        return f"{source}: {text}."

    def tables(self) -> tuple[Table, ...]:
        """The means with their intervals, and the effect of more labels."""
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
    return json.dumps(asdict(found), indent=2, ensure_ascii=False) + "\n"


def read_by_labels(folder: Path) -> ByLabels | None:
    """The verdict by labels in a folder, None if there is none; raises HarnessError for a damaged file."""
    from harness.report.stored import damaged

    path = folder / FILE
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise damaged(path, str(error)) from None
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(ByLabels).validate_json(found)
    except ValidationError as error:
        first = error.errors()[0]
        raise damaged(path, ": ".join((*map(str, first["loc"]), first["msg"]))) from None
