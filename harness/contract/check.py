"""A check: one sentence that holds or does not, and what was seen where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.errors import HarnessError

Outcome = Literal["ok", "failed", "note"]


class BrokenError(HarnessError):
    """What a step returned is against the contract."""


class Remark(Exception):  # noqa: N818 - it is no error
    """What a step returned is allowed, and worth knowing."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of one check; ``said`` is empty where all is well."""

    outcome: Outcome
    about: str
    said: str = ""


Check = tuple[str, Callable[[], object]]
"""What should hold, and what tries it: it raises HarnessError where it does not, Remark for a note."""


def run_checks(checks: Sequence[Check]) -> Iterator[Checked]:
    """Try one after the other; where the first does not hold, the others would say the same."""
    for place, (about, attempt) in enumerate(checks):
        try:
            attempt()
        except Remark as remark:
            yield Checked("note", about, str(remark))
        except HarnessError as error:
            yield Checked("failed", about, str(error))
            if place == 0:
                return
        else:
            yield Checked("ok", about)
