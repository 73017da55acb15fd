"""`tools/mutants.py` leaves out only what is named as equivalent, and that is still there."""

import pytest

from tools.mutants import EQUIVALENT, ROOT, mutants


@pytest.mark.parametrize("entry", EQUIVALENT, ids=lambda entry: f"{entry.path}: {entry.change}")
def test_what_is_called_equivalent_is_a_mutant_of_that_line(entry):
    path = ROOT / entry.path
    lines = path.read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if entry.text in line]
    made = [make() for make in mutants(path) if make.args[5].lineno == number]
    assert [mutant.equivalent for mutant in made if mutant.change == entry.change] == [entry.why]
    # another change of the same line is tried
    assert {mutant.equivalent for mutant in made} == {"", entry.why} or len(made) == 1
