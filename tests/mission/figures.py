"""The figures of the worked examples, to four digits, and what each follows from: ``figures.json``.

Tests of the mission take what they expect from here, by the id of a row and the place of the figure.
"""

import json
from pathlib import Path

ROWS = json.loads((Path(__file__).parent / "figures.json").read_text(encoding="utf-8"))
FIGURES = {(row["id"], row["place"]): row["figure"] for row in ROWS}


def figure(row_id, place):
    """What an example shows or comes to, as it stands in the table."""
    return FIGURES[row_id, place]


def to_four(value):
    """A value, or the values of a list, to the digits of the table; words as they are."""
    if isinstance(value, list):
        return [to_four(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value
