"""The identity of the program: a hash of the harness' own files and of the installed libraries."""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import lru_cache
from pathlib import Path

import harness
from harness.store import key_of

_METADATA = (".dist-info", ".egg-info")


@lru_cache(maxsize=1)
def program_key() -> str:
    """A hash of everything in the package, of Python and of the libraries: names and versions of all.

    The content of libraries is not read; after editing an installed one, run with ``--again``.
    """
    return key_of(_own_files(), sys.version, platform.machine(), sorted(_libraries()))


def _own_files() -> str:
    folder = Path(harness.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def _libraries() -> set[str]:
    """The folders of metadata of what is installed, which are called by name and version.

    But for our own: a checkout has one, which is seen only where the path of imports leads there.
    """
    folders = [folder for entry in sys.path if entry and (folder := Path(entry)).is_dir()]
    found = {path.name for folder in folders for path in folder.iterdir() if path.suffix in _METADATA}
    return {name for name in found if not name.startswith("ndcg_harness")}
