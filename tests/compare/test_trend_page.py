"""What docs/monitoring.md says of false alarms and delays follows from the simulated years that were kept."""

import json

import numpy as np
import pytest

from benchmarks.trend_alarms import (
    BEFORE,
    CELLS,
    DRAWS,
    FILE,
    WITHIN,
    alarms_row,
    changes,
    delay,
    delays_row,
    three_sigmas,
    year,
)
from tests.docs_commands import ROOT

ROWS = json.loads(FILE.read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8").splitlines()
ALARMS, DELAYS = ([row for row in ROWS if measured in row] for measured in ("alarms", "delays"))


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row['values']} {row['queries']} {row.get('fall', '')}"
)
def test_a_row_of_the_page_follows_from_its_years(row):
    assert (alarms_row if "alarms" in row else delays_row)(row) in PAGE


def test_no_row_is_kept_twice():
    rows = [(row["values"], row["queries"], row.get("fall")) for row in ROWS]
    assert len(set(rows)) == len(rows)


def test_what_three_errors_call_a_change_is_drawn_again():
    for row in ALARMS:
        rng = np.random.default_rng(7)
        years = [year(DRAWS[row["values"]], rng, row["queries"]) for _ in range(10)]
        marked = [number for number, looks in enumerate(years) if three_sigmas(looks)]
        assert marked == [number for number in row["three_sigmas"] if number < len(years)]


@pytest.mark.parametrize(
    "row", [row for row in DELAYS if row["fall"] == 0.2][:2], ids=lambda row: row["values"]
)
def test_the_first_years_are_computed_again(row):
    rng = np.random.default_rng(11)
    draw = DRAWS[row["values"]]
    looks = [year(draw, rng, row["queries"], row["fall"])[: BEFORE + WITHIN] for _ in range(3)]
    assert [delay(changes(values, cells=CELLS)) for values in looks] == row["delays"][:3]
