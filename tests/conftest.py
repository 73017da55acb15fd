"""Fixtures that every room's tests share."""

import os
from pathlib import Path

import hypothesis
import pytest

from tests.once import encoded_once, models_once

__all__ = ["encoded_once", "models_once"]

# Workers share the cores. If each computes with all of them, they spend most of their time on one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes says how busy the machine is. CI tries more examples than a developer waits for.
EXAMPLES = 100 if os.environ.get("CI") else 50
hypothesis.settings.register_profile("any machine", deadline=None, max_examples=EXAMPLES)
hypothesis.settings.load_profile("any machine")


@pytest.fixture(scope="session")
def shared_corpora():
    """The folder of public collections that is not part of the repository; tests skip where it is absent."""
    default = Path(__file__).parent.parent.parent / "shared"
    folder = Path(os.environ.get("HARNESS_SHARED", default)) / "corpora"
    if not folder.is_dir():
        pytest.skip(f"the shared corpora are not at {folder} (set HARNESS_SHARED)")
    return folder
