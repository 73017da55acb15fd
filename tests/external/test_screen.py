"""The screen of `harness tune` by the libraries themselves, in an environment that has them."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.external.libraries import python_with

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_model_is_calibrated_by_the_packages_of_the_extra(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [need for need in project["optional-dependencies"]["screen"] if "ndcg-harness" not in need]
    needs += project["optional-dependencies"]["fast"]
    python = python_with(tmp_path / "environment", *needs)
    done = subprocess.run(
        [
            *(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", ""),
            ROOT / "tests" / "external" / "screen_in_use.py",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "[100%]" in done.stdout
