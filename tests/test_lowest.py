"""The oldest versions that are promised, as tools/lowest.py lists them for CI."""

import tomllib

import pytest

from tools.lowest import EXTRAS, ROOT, TESTS, floors

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_package_of_the_core_is_there_at_its_floor():
    names = {pin.partition("==")[0].partition("[")[0] for pin in floors(PROJECT)}
    core = {need.partition(">=")[0].partition("[")[0] for need in PROJECT["dependencies"]}
    assert core <= names
    assert names >= TESTS
    assert len(names - core - TESTS) >= len(EXTRAS)


def test_a_floor_is_the_first_version_of_a_range():
    project = {
        "dependencies": ["numpy>=2.0,<3", "pypdf[crypto]>=6,<8"],
        "optional-dependencies": {name: [] for name in EXTRAS} | {"dev": ["pytest>=8.3", "ruff>=0.9"]},
    }
    assert floors(project) == ["numpy==2.0", "pypdf[crypto]==6", "pytest==8.3"]


def test_a_package_without_a_floor_is_refused():
    with pytest.raises(ValueError, match="no oldest version of 'numpy<3'"):
        floors({"dependencies": ["numpy<3"], "optional-dependencies": dict.fromkeys([*EXTRAS, "dev"], ())})
