"""A Python that has other libraries beside what is installed here."""

import os
import subprocess
import sys

import pytest


def python_with(place, *wanted):
    """Install packages into an environment at ``place``; skips the test where none can be had."""
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    (packages,) = place.glob("**/site-packages")
    ours = (path for path in sys.path if path.endswith("site-packages"))
    (packages / "ours.pth").write_text("\n".join(ours))
    done = subprocess.run([python, "-m", "pip", "install", "-q", *wanted], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("needs a package index for the other libraries")
    return python
