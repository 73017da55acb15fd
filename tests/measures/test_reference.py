"""Every measure is described, and the page of measures tells the truth about names, ranges and values."""

import re

from harness.measures import FAMILIES
from tools.reference.measures import measures_reference


def test_every_measure_has_a_description_a_formula_and_an_entry():
    page = measures_reference()
    for name, family in FAMILIES.items():
        assert family.about, name
        assert family.formula, name
        assert f"`{name}`" in page
    # one entry for each, aliases beside it
    entries = re.findall(r"^## (\S+)$", page, flags=re.M)
    assert len(entries) == len(set(entries)) == len({id(f) for f in FAMILIES.values()})
