"""What several commands need: the ledger they read, and their exit code where documents were left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.config import BenchConfig
    from harness.store.ledger import Ledger

_SHOWN = 5


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


def exit_code(config: BenchConfig, skipped: Sequence[str]) -> int:
    """0; or 1, with an error that names documents, where ``on_bad_document: fail_at_end`` skipped some."""
    from harness.report import counted
    from harness.terminal import print_error

    if not skipped or config.on_bad_document != "fail_at_end":
        return 0
    more = f" and {len(skipped) - _SHOWN} more" if len(skipped) > _SHOWN else ""
    print_error(
        f"{counted(len(skipped), 'document')} could not be used: {', '.join(skipped[:_SHOWN])}{more}. "
        "The rest is done (on_bad_document: fail_at_end)."
    )
    return 1
