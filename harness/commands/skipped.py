"""The exit code of a command that went on without documents it could not use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.config import BenchConfig

_SHOWN = 5


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
