"""Which differences between settings keep their sign however long the labels are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from harness.comparison.paired import Comparison
from harness.comparison.verdict import Turning
from harness.report import LabelSensitivityRow, Part, Table
from harness.values import number


@dataclass(frozen=True, slots=True)
class LabelSensitivity:
    """The means of W settings under every way of drawing the labels, the given labels first.

    ``ways`` [W] names them, ``lengths`` [W] is the median length of a relevant label in characters, ``means``
    maps a setting to its means [W].
    """

    measure: str
    ways: tuple[str, ...]
    lengths: tuple[float, ...]
    means: Mapping[str, tuple[float, ...]]

    def turns(self, one: str, other: str) -> tuple[str, ...]:
        """The ways under which the difference of two settings has another sign than with the given labels."""
        signs = np.sign(np.subtract(self.means[one], self.means[other]))
        return tuple(way for way, sign in zip(self.ways, signs, strict=True) if sign != signs[0])

    def turning(self, chunkings: Mapping[str, str]) -> Turning:
        """Every pair of settings with other ``chunkings`` whose difference turns, and the ways under which.

        Where a chunking is not known it counts as another one.
        """
        names = list(self.means)
        means = np.array([self.means[name] for name in names])
        signs = np.sign(means[:, None] - means[None, :])
        turned = (signs != signs[:, :, :1]).any(axis=2)
        return {
            (names[i], names[j]): self.turns(names[i], names[j])
            for i, j in np.argwhere(turned).tolist()
            if i < j and (names[i] not in chunkings or chunkings[names[i]] != chunkings.get(names[j]))
        }

    def table(self) -> Table:
        """One row per setting, best first, and a row with the lengths of the labels."""
        rows = sorted(self.means.items(), key=lambda item: -item[1][0])
        return Table(
            f"{self.measure} with longer and shorter labels: means",
            ("setting", *self.ways),
            (
                *((setting, *map(number, means)) for setting, means in rows),
                ("median label, characters", *(f"{length:,.0f}" for length in self.lengths)),
            ),
        )

    def sentences(self, found: Iterable[Comparison]) -> tuple[str, ...]:
        """Sentences on the labels, and on the differences that are real whatever their length."""
        lines = [f"The median label has {self.lengths[0]:,.0f} characters."]
        known = [one for one in found if one.setting in self.means and one.against in self.means]
        real = sum(one.real for one in known)
        if real and all(one.finding != "turns" for one in known):
            keep = "All real differences keep their" if real > 1 else "The real difference keeps its"
            lines.append(f"{keep} sign however the labels are drawn.")
        return tuple(lines)


def sensitivity_of(
    rows: Mapping[str, Iterable[LabelSensitivityRow]],
    names: Mapping[tuple[str, str], str],
    stage: str = "final",
) -> dict[str, LabelSensitivity]:
    """Every measure's, where all settings are in the rows of ``label_sensitivity.csv``.

    ``rows`` are those of each result by its name, ``names`` maps a (result, setting) to what the setting is
    called here; ``stage`` ``final`` is the last one of each setting.
    """
    means: dict[str, dict[str, dict[str, float]]] = {}
    lengths: dict[str, dict[str, float]] = {}
    for result, its in rows.items():
        for row in its:
            name = names.get((result, row.setting))
            if name is None or stage not in ("final", row.stage) or row.mean is None:
                continue
            # rows are in the order of the stages, so that the last one stays
            means.setdefault(row.measure, {}).setdefault(name, {})[row.labels] = row.mean
            lengths.setdefault(row.measure, {}).setdefault(row.labels, row.label_p50)
    return {
        measure: LabelSensitivity(
            measure,
            tuple(ways),
            tuple(ways.values()),
            {name: tuple(means[measure][name][way] for way in ways) for name in names.values()},
        )
        for measure, ways in lengths.items()
        if all(set(means[measure].get(name, ())) == set(ways) for name in names.values())
    }


def label_parts(sensitivity: LabelSensitivity | None, found: Iterable[Comparison]) -> tuple[Part, ...]:
    """The part that `harness compare` prints; nothing if it is unknown or there is one setting."""
    if sensitivity is None or len(sensitivity.means) < 2:
        return ()
    return (sensitivity.table(), sensitivity.sentences(found))
