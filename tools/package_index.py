"""Install by pip, and tell a machine without a package index from a package that cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# how pip says that it has tried an address for the last time
_GIVEN_UP = "Retry(total=0"


class NoIndexError(Exception):
    """No package index can be reached from here."""


def pip(
    *words: str | Path,
    python: str | Path = sys.executable,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> None:
    """Run pip; raises NoIndexError where it fails without an index, and RuntimeError with what pip says.

    That nothing matches is what pip says of a name with a typo as much as of a network that is down. So
    after a failure it is asked for a package that every index has: itself.
    """
    ended = _run(words, python, cwd, env)
    if ended.returncode == 0:
        return
    said = (ended.stderr + ended.stdout).strip()
    if _GIVEN_UP in said:
        raise NoIndexError(said)
    # wheels that lie in a folder are no index
    only_index = {**(os.environ if env is None else env), "PIP_FIND_LINKS": os.devnull}
    if _run(("index", "versions", "pip", "--retries", "0"), python, cwd, only_index).returncode:
        raise NoIndexError(said)
    raise RuntimeError(f"pip {' '.join(map(str, words))}: {said}")


def _run(
    words: tuple[str | Path, ...], python: str | Path, cwd: Path | None, env: dict[str, str] | None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-m", "pip", "--disable-pip-version-check", *map(str, words)],
        cwd=cwd,
        env=env,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
