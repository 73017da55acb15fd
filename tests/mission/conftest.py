"""The documents behind the project, which are not part of the repository."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mission_folder():
    """Where they are, with their rows and examples; tests that read them skip where it is absent."""
    default = Path(__file__).parent.parent.parent.parent / "shared"
    folder = Path(os.environ.get("HARNESS_SHARED", default)) / "mission"
    if not folder.is_dir():
        pytest.skip(f"the documents of the project are not at {folder} (set HARNESS_SHARED)")
    return folder


@pytest.fixture(scope="session")
def mission_documents(mission_folder):
    """The folder of the documents themselves."""
    return mission_folder / "documents"
