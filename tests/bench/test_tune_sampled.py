"""What docs/tune.md says of bounds among proposed settings follows from simulated worlds that are kept."""

import json
import re

import numpy as np
import pytest

from benchmarks.tune_sampled import FILE, MEANS, SHARES, Kept, kept_of, space_of, world
from tests.docs_commands import ROOT

KEPT = json.loads(FILE.read_text(encoding="utf-8"))
ROWS = KEPT["rows"]
PAGE = re.sub(r"\s+", " ", (ROOT / "docs" / "tune.md").read_text(encoding="utf-8"))


def shown(number):
    return f"{number:.2f}".lstrip("0")


def test_every_row_of_the_simulation_is_kept_with_as_many_worlds():
    names = [tuple(row[name] for name in ("plan", "documents", "truth")) for row in ROWS]
    assert names == [
        tuple(row[name] for name in ("plan", "documents", "truth")) for row in Kept(24, None).rows
    ]
    assert len({len(row[name]) for row in ROWS for name in (*SHARES, *MEANS)}) == 1


def test_the_figures_of_the_page_are_those_of_the_worlds():
    worlds = len(ROWS[0]["among"])
    total = worlds * len(ROWS)
    assert f"benchmarks.tune_sampled --worlds {worlds}" in PAGE
    assert f"{worlds} worlds each: in all {total} worlds the bound of the chosen setting held" in PAGE
    assert all(held == 1 for row in ROWS for name in SHARES for held in row[name])
    # what fails more often fails once in so many worlds with a chance of at least 95 %
    assert f"in less than {100 * (1 - 0.05 ** (1 / total)):.1f} % of such worlds" in PAGE
    ranges = [[float(np.mean(row[name])) for row in ROWS] for name in MEANS]
    among, dropped, lost = ranges
    assert f"lost up to {shown(max(lost))} against the best proposal" in PAGE
    bounds = [f"{shown(min(means))} to {shown(max(means))}" for means in (among, dropped)]
    assert f"the bounds were {bounds[0]} and {bounds[1]}" in PAGE


def test_a_world_is_computed_again_by_its_number():
    row, seed = ROWS[-1], len(ROWS[-1]["among"]) - 1
    again = kept_of(*world(space_of(KEPT["settings"]), row, KEPT["settings"], seed))
    assert again == {name: pytest.approx(row[name][seed], abs=2e-4) for name in again}
