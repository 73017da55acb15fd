"""A test is skipped where no package index can be reached, and for no other failure of pip."""

import os
import subprocess
import sys

import pytest

from tests.external import libraries
from tests.skips import allowance
from tools import package_index

CLASH = "ERROR: Cannot install a and b because these package versions have conflicting dependencies."
NOTHING = "ERROR: No matching distribution found for mlfow-skinny"
DOWN = (
    "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after "
    f"connection broken by 'NewConnectionError': /simple/a/\n{NOTHING}"
)
BOTH = [
    lambda place: libraries.python_with(place, "a", "b"),
    lambda place: libraries.package_at(sys.executable, place, "a"),
]


def pip_says(monkeypatch, said, reachable):
    """Have pip fail with these words, and an index be there or not."""

    def run(words, **options):
        if "pip" not in words:
            # an environment of its own, which has nothing to do with pip
            (words[-1] / "lib" / "site-packages").mkdir(parents=True)
            return subprocess.CompletedProcess(words, 0)
        if "versions" in words:
            return subprocess.CompletedProcess(words, 0 if reachable else 1, "", "")
        return subprocess.CompletedProcess(words, 1, "", said)

    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.parametrize("said", [CLASH, NOTHING])
@pytest.mark.parametrize("wanted", BOTH, ids=["an environment", "a package"])
def test_what_cannot_be_had_from_an_index_that_is_there_fails_with_the_words_of_pip(
    monkeypatch, tmp_path, wanted, said
):
    pip_says(monkeypatch, said, reachable=True)
    with pytest.raises(RuntimeError) as failed:
        wanted(tmp_path)
    assert said in str(failed.value)


@pytest.mark.parametrize(("said", "reachable"), [(NOTHING, False), (DOWN, True)])
@pytest.mark.parametrize("wanted", BOTH, ids=["an environment", "a package"])
def test_without_an_index_the_test_is_skipped_and_excused(monkeypatch, tmp_path, wanted, said, reachable):
    pip_says(monkeypatch, said, reachable)
    with pytest.raises(pytest.skip.Exception) as skipped:
        wanted(tmp_path)
    assert allowance(str(skipped.value)) == "a package index"


def test_pip_itself_tells_an_index_without_a_package_from_no_index(monkeypatch, tmp_path):
    index = tmp_path / "index" / "pip"
    index.mkdir(parents=True)
    (index / "index.html").write_text('<a href="pip-1.0-py3-none-any.whl">pip-1.0-py3-none-any.whl</a>')
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    wanted = ("download", "--no-deps", "--dest", tmp_path, "mlfow-skinny")
    monkeypatch.setenv("PIP_INDEX_URL", index.parent.as_uri())
    with pytest.raises(RuntimeError, match=NOTHING):
        package_index.pip(*wanted)
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "none").as_uri())
    with pytest.raises(package_index.NoIndexError, match=NOTHING):
        package_index.pip(*wanted)
