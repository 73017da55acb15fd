"""The ledger that a command reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.store.ledger import Ledger


@contextmanager
def open_ledger(cache: Path) -> Iterator[Ledger]:
    """The ledger of a cache that has one; raises LlmError, rather than make an empty one."""
    from harness.errors import LlmError
    from harness.store import CacheLayout
    from harness.store.ledger import Ledger

    path = CacheLayout(cache).ledger
    if not path.is_file():
        raise LlmError(f"There is no ledger at {path}: nothing has been judged with this cache. See --cache.")
    with Ledger(path) as ledger:
        yield ledger
