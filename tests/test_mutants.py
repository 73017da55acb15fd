"""`tools/mutants.py` runs tests on what it changed, and leaves out only what is named as equivalent."""

import multiprocessing

import pytest

from tools.mutants import EQUIVALENT, ROOT, caught, mutants


@pytest.mark.parametrize("entry", EQUIVALENT, ids=lambda entry: f"{entry.path}: {entry.change}")
def test_what_is_called_equivalent_is_a_mutant_of_that_line(entry):
    path = ROOT / entry.path
    lines = path.read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if entry.text in f"{line}\n"]
    made = [make() for make in mutants(path) if make.args[5].lineno == number]
    assert [mutant.equivalent for mutant in made if mutant.change == entry.change] == [entry.why]
    # another change of the same line is tried
    assert {mutant.equivalent for mutant in made} == {"", entry.why} or len(made) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", [way for way in ("forkserver", "spawn") if way in multiprocessing.get_all_start_methods()]
)
def test_tests_run_on_the_changed_module(way, tmp_path):
    """Also where pytest loads the modules of a package itself, as it has a plugin of pytest."""
    test = tmp_path / "test_axis.py"
    test.write_text(
        "from harness.comparison.first_screen import Axis\n"
        "def test_place():\n"
        "    assert Axis(1.0, 3.0).place(2.0) == 0.5\n",
        encoding="utf-8",
    )
    made = [make() for make in mutants(ROOT / "harness/comparison/first_screen.py")]
    place = next(mutant for mutant in made if mutant.change == "value - self.low  ->  value + self.low")
    assert caught(place, [str(test)], 900, way=way).endswith("::test_place")
    ends = next(mutant for mutant in made if mutant.change == "0.5  ->  1.5")
    assert caught(ends, [str(test)], 900, way=way) == ""
    unused = next(make() for make in mutants(ROOT / "harness/comparison/glance_svg.py"))
    assert caught(unused, [str(test)], 900, way=way) is None
