"""The means of settings by the number of characters that are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from harness.comparison.verdict_parts import ENOUGH_READ
from harness.report import ReadingRow


@dataclass(frozen=True, slots=True)
class ScoreAtDepth:
    """A mean at a depth of reading; ``whole`` unless rankings end so early that it may be too low.

    ``measure`` is what was averaged, without the depth: it depends on the text that is read, as the measure
    of the verdict need not.
    """

    mean: float
    whole: bool
    measure: str


def readings_of(
    rows: Iterable[tuple[str, ReadingRow]], settings: Collection[str]
) -> dict[str, dict[int, ScoreAtDepth]]:
    """The means of every setting by the characters read; ``rows`` of reading.csv come with their settings.

    Empty unless all ``settings`` have rows of the same depths.
    """
    means: dict[str, dict[int, ScoreAtDepth]] = {}
    for name, row in rows:
        if row.mean is not None:
            measure = row.measure.partition("@")[0]
            score = ScoreAtDepth(row.mean, row.read >= ENOUGH_READ, measure)
            means.setdefault(name, {})[row.characters] = score
    depths = {frozenset(means.get(name, ())) for name in settings}
    return means if len(depths) == 1 and all(depths) else {}
