"""The documents behind the project, which are not part of the repository."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mission_documents():
    """Their folder; tests of prompts as they are printed skip where it is absent."""
    default = Path(__file__).parent.parent.parent.parent / "shared"
    folder = Path(os.environ.get("HARNESS_SHARED", default)) / "mission" / "documents"
    if not folder.is_dir():
        pytest.skip(f"the documents of the project are not at {folder} (set HARNESS_SHARED)")
    return folder
