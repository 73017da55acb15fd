"""Fixtures that every room's tests share."""

import argparse
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from tests.order import pytest_collection_modifyitems, pytest_runtest_protocol
from tests.places import computed
from tests.shipped_models import pytest_runtest_setup, real_models, shipped_models
from tests.skips import pytest_configure
from tools.screenshots import NoBrowserError, chromium

__all__ = [
    "computed",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_runtest_protocol",
    "pytest_runtest_setup",
    "real_models",
    "shipped_models",
]

# Translations of the words of argparse are read from the disk at every call.
argparse._ = str

# Workers share the cores. If each computes with all of them, they spend most of their time on one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes says how busy the machine is. CI tries more examples than a developer waits for.
# Where a run tries another system, and not values, it asks for fewer.
EXAMPLES = int(os.environ.get("HARNESS_TEST_EXAMPLES") or (100 if os.environ.get("CI") else 25))
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


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A chromium of its own for each module; its tests skip where it does not start."""
    with ExitStack() as stack:
        try:
            driver = stack.enter_context(chromium(tmp_path_factory.mktemp("profile"), logs=True))
        except NoBrowserError as error:  # says nothing about the page
            pytest.skip(str(error))
        driver.set_page_load_timeout(600)
        yield driver


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The source of axe-core, which looks for what people with disabilities cannot use."""
    if not shutil.which("npm"):
        pytest.skip("needs npm, for axe-core")
    folder = tmp_path_factory.mktemp("axe")
    words = ("npm install --silent --no-audit --no-fund axe-core@4.11 --prefix", str(folder))
    done = subprocess.run([*words[0].split(), words[1]], capture_output=True, check=False, timeout=600)
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if done.returncode or not source.exists():
        pytest.skip("axe-core could not be installed")
    return source.read_text(encoding="utf-8")
