"""Folders that all workers of a run of the tests share."""

import os
from pathlib import Path

import pytest


def shared_place(tmp_path_factory):
    """A folder of this run, the same for every worker."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def computed(tmp_path_factory):
    """The cache of the docs' commands, the demo and the tests of figures, which embed the same documents.

    It begins empty, unless HARNESS_TEST_CACHE names that of a run by the same code, as CI does.
    """
    place = Path(os.environ.get("HARNESS_TEST_CACHE") or shared_place(tmp_path_factory) / "computed")
    place.mkdir(parents=True, exist_ok=True)
    return place.resolve()
