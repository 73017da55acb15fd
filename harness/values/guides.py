"""Where the pages of the documentation are, for messages that name one."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def guide(page: str) -> str:
    """The path of a page such as ``judge.md``: in a checkout its docs/, else what the wheel brought.

    It is relative where the page is below the working folder.
    """
    shipped = _PACKAGE / "shipped" / "docs" / page
    path, here = shipped if shipped.exists() else _PACKAGE.parent / "docs" / page, Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
