"""The script that runs many sessions at once, in small."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "tools" / "concurrent_sessions.py"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_sessions_at_once_do_not_disturb_each_other():
    words = ["--sessions", "12", "--at-once", "6", "--killed", "0.2"]
    done = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False)
    assert done.stdout.endswith(", 0 problems\n"), done.stdout + done.stderr
    assert done.returncode == 0
