"""The colours of report.html, for pictures that are drawn elsewhere."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)")


@cache
def colours() -> dict[str, tuple[str, str]]:
    """The light and the dark value of every colour by its name in theme.css, such as ``loss-order``."""
    theme = files("harness.report.page").joinpath("assets", "theme.css").read_text(encoding="utf-8")
    return {name: (light, dark) for name, light, dark in _COLOUR.findall(theme)}
