"""How means change with longer and shorter labels, and whether that turns a difference round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from harness.comparison.stats import ROUNDING
from harness.report import LabelSensitivityRow


@dataclass(frozen=True, slots=True)
class LabelSensitivity:
    """The means of W settings under every way of drawing the labels, the given labels first.

    ``ways`` [W] names them, ``lengths`` [W] is the median length of a relevant label in characters, ``means``
    maps a setting to its means [W].
    """

    ways: tuple[str, ...]
    lengths: tuple[float, ...]
    means: Mapping[str, tuple[float, ...]]

    def turns(self, *compared: tuple[str, ...]) -> tuple[str, ...]:
        """The ways under which a difference has another sign than with the given labels; to be 0 is none.

        It is that of the settings in the first half of each tuple minus those in the second.
        """
        half = len(compared[0]) // 2
        sides = [(name, 1 if at < half else -1) for settings in compared for at, name in enumerate(settings)]
        ahead = np.sum([side * np.array(self.means[name]) for name, side in sides], axis=0)
        signs = np.sign(np.where(np.abs(ahead) <= ROUNDING, 0.0, ahead))
        return tuple(way for way, sign in zip(self.ways, signs, strict=True) if sign * signs[0] < 0)


def sensitivity_of(
    rows: Iterable[tuple[str, LabelSensitivityRow]], settings: Collection[str]
) -> dict[str, LabelSensitivity]:
    """Every measure's, where all ``settings`` are in the rows of ``label_sensitivity.csv``.

    ``rows`` come with their settings; of several for one way of drawing the labels the last one counts.
    """
    means: dict[str, dict[str, dict[str, float]]] = {}
    lengths: dict[str, dict[str, float]] = {}
    for name, row in rows:
        if row.mean is not None:
            means.setdefault(row.measure, {}).setdefault(name, {})[row.labels] = row.mean
            lengths.setdefault(row.measure, {}).setdefault(row.labels, row.label_p50)
    return {
        measure: LabelSensitivity(
            tuple(ways),
            tuple(ways.values()),
            {name: tuple(means[measure][name][way] for way in ways) for name in settings},
        )
        for measure, ways in lengths.items()
        if all(set(means[measure].get(name, ())) == set(ways) for name in settings)
    }
