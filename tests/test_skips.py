"""A skip in CI fails the run unless the machine lacks what it may lack."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXCUSED = "import pytest\ndef test_it(): pytest.skip('needs npm, for axe-core')\n"
WHOLE = "import pytest\npytest.importorskip('no_such_package')\n"
ONE = "import pytest\n@pytest.mark.skip(reason='slow today')\ndef test_it(): pass\n"
XFAIL = "@pytest.mark.xfail\ndef test_other(): assert False\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "ci", "workers", "status", "said"),
    [
        (EXCUSED + XFAIL, "true", "0", 0, "1 skipped for want of npm"),
        (ONE, "true", "0", 1, "without an excuse (tests/skips.py): test_one.py::test_it: slow today"),
        (WHOLE, "true", "0", 1, "test_one.py: could not import 'no_such_package'"),
        (WHOLE, "true", "1", 1, "test_one.py: could not import 'no_such_package'"),
        (ONE, "", "0", 0, ""),
    ],
    ids=["excused, and expected to fail", "one test", "a module", "a module, by a worker", "not in CI"],
)
def test_a_skip_in_ci_needs_an_excuse(tmp_path, module, ci, workers, status, said):
    (tmp_path / "test_one.py").write_text(module)
    # so that a run with nothing but a skipped module ends well by itself
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    (tmp_path / "conftest.py").write_text("from tests.skips import pytest_configure\n")
    unused = [f"-pno:{name}" for name in ("cacheprovider", "langsmith_plugin", "anyio", "hypothesispytest")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", workers, *unused, str(tmp_path)],
        env={**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    assert said in done.stdout
