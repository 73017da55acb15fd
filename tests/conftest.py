"""Fixtures that every room's tests share."""

import os
import shutil
import subprocess
from pathlib import Path

import hypothesis
import pytest

from tests.shipped_models import real_models, shipped_models
from tests.skips import pytest_configure

__all__ = ["pytest_configure", "real_models", "shipped_models"]

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


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A chromium of its own for each module; its tests skip where it does not start."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium, of the dev extra")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options=options, service=service)
    except Exception as error:  # a browser that this machine cannot start says nothing about the page
        pytest.skip(f"chromium does not start here: {error}")
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The source of axe-core, which looks for what people with disabilities cannot use."""
    if not shutil.which("npm"):
        pytest.skip("needs npm, for axe-core")
    folder = tmp_path_factory.mktemp("axe")
    words = ("npm install --silent --no-audit --no-fund axe-core@4.11 --prefix", str(folder))
    done = subprocess.run([*words[0].split(), words[1]], capture_output=True, check=False, timeout=120)
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if done.returncode or not source.exists():
        pytest.skip("axe-core could not be installed")
    return source.read_text(encoding="utf-8")
