"""What computes: this package, Python and the libraries, as one key."""

import platform
import sys
from functools import lru_cache
from pathlib import Path

from harness.store import digest_of, key_of

_METADATA = (".dist-info", ".egg-info")


@lru_cache(maxsize=1)
def program_key() -> str:
    """A hash of everything in the package, of Python and of the libraries: names and versions of all.

    The content of libraries is not read; after editing an installed one, run with ``--again``.
    """
    digest = digest_of(Path(__file__).parents[1]).hex()
    return key_of(digest, sys.version, platform.machine(), sorted(_libraries()))


def _libraries() -> set[str]:
    """The names of the metadata folders of installed packages, which hold name and version of each.

    Our own is left out, since that of a checkout is seen only where the import path leads there. So are those
    that a package brings along, as Ray does: they are on the path only once that package is imported.
    """
    entries = [Path(entry) for entry in sys.path if entry]
    folders = [entry for entry in entries if entry.is_dir() and not (entry.parent / "__init__.py").is_file()]
    names = {path.name for folder in folders for path in folder.iterdir() if path.suffix in _METADATA}
    return {name for name in names if not name.startswith("ndcg_harness")}
