"""A Python that has other libraries beside what is installed here."""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.package_index import NoIndexError, pip

ROOT = Path(__file__).parents[2]


def pip_or_skip(*words):
    """Run pip; skips the test where no index can be reached, and fails it with pip's words otherwise."""
    try:
        pip(*words)
    except NoIndexError:
        pytest.skip("needs a package index")


@contextmanager
def open_folder():
    """A folder that every user may enter, for a server that runs as another user; it is removed afterwards.

    The folders of pytest do not serve: each pytest that starts on the machine, such as one that a test runs,
    closes the folder above them to others.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def python_with(place, *wanted):
    """Install packages into an environment at ``place``; skips the test where no index is.

    It has no pip of its own, and nothing is compiled before it is imported: most of it never is.
    """
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    (packages,) = place.glob("**/site-packages")
    ours = (path for path in sys.path if path.endswith("site-packages"))
    (packages / "ours.pth").write_text("\n".join(ours))
    pip_or_skip("--python", python, "install", "-q", "--no-compile", *wanted)
    return python


def package_at(python, place, wanted):
    """Put one package, without what it needs, into a folder for PYTHONPATH; skips the test as above."""
    pip_or_skip("--python", python, "install", "-q", "--no-compile", "--no-deps", "--target", place, wanted)
    return place


def stores_in_use(python, store):
    """Run the tests of one store by a Python that has its packages; fails where one of them does.

    With HARNESS_TRIED, a folder, what every test came to is written there: docs/stores.md is made of it.
    """
    tried = os.environ.get("HARNESS_TRIED")
    done = subprocess.run(
        [
            *(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", ""),
            *([f"--junitxml={Path(tried, store)}.xml"] if tried else []),
            ROOT / "tests" / "external" / "stores_in_use.py",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HARNESS_STORE": store},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "[100%]" in done.stdout
