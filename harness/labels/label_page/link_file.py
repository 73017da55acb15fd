"""The link of the page in a file for the browser: a command line can be read by every user of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}">
<title>harness label</title>
<p><a href="{link}">Open the labelling page</a></p>
"""


@contextmanager
def link_file(link: str, state: Path) -> Iterator[Path]:
    """A page beside the labels that leads to ``link``; only its owner can read it, and it is removed after.

    Beside the labels and not in a folder for temporary files, which some browsers may not read.
    """
    path = state.absolute().with_name(f"{state.name}.open.html")
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(_PAGE.format(link=escape(link)))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
