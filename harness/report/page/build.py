"""Put payload, style and script together into one file that a browser may trust."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from rcssmin import cssmin

from harness.report.page.detail import LADDER
from harness.report.page.page_tables import Tables
from harness.report.page.payload import base_payload, with_detail

# The page must open fast and be small enough for e-mail.
LIMIT = 2_000_000
# In the order in which they build on each other; main comes last and starts the page.
_SCRIPTS = """
elements theme dom format data state scale save rows table grid plot terms names views answer
board dropped gains differences curves reading slopes splits losses glance answer_losses answers filters kinds
heat histograms judged price recall health origin passages two_rankings replies drill address main
"""
_COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)")
SCRIPTS = tuple(f"{name}.js" for name in _SCRIPTS.split())


@dataclass(frozen=True, slots=True)
class Page:
    """The finished page; ``note`` says what was left out to keep it small, '' where nothing was."""

    html: str
    note: str

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.html.encode())


def build_page(
    tables: Tables,
    statistics: Mapping[str, Any],
    limit: int = LIMIT,
    headline: str = "",
    pictures: Sequence[Mapping[str, Any]] = (),
    answer_lines: Sequence[Mapping[str, Any]] = (),
    answer_glance: Mapping[str, Any] | None = None,
    rankings_line: str = "",
    routes: Mapping[str, str] = MappingProxyType({}),
    columns: Mapping[str, Any] = MappingProxyType({}),
) -> Page:
    """Build report.html, with as much of the rankings and texts as fits below ``limit`` bytes.

    ``statistics`` maps each measure to what was found out about it, as plain values; the page opens with
    ``headline``, by default the first measure. ``pictures`` of PDF pages come on top of ``limit``.
    ``answer_lines`` are the verdict on answers, each with ``label`` and ``text``; where it leads, the page
    opens with it at a glance, ``answer_glance``, and ``rankings_line`` beside it is the verdict on rankings.
    ``routes`` has what the routes of fusions are called. ``columns`` says how settings differ: ``factors``
    with a value each setting, ``curves`` by chunk size, and ``retrievals``, the first setting that retrieves
    like each. A result whose scores alone are larger than the limit becomes a larger page.
    """
    base = base_payload(tables, statistics, headline, routes, columns) | {"pictures": list(pictures)}
    if base["answers"] is not None:
        more = {"verdict": list(answer_lines), "glance": answer_glance, "rankings": rankings_line}
        base["answers"] |= more
    limit += len(pack({"pictures": list(pictures)})) if pictures else 0

    @cache
    def built(step: int) -> Page:
        payload = with_detail(base, tables, LADDER[step])
        return Page(assemble(payload, tables.name), " ".join(payload["notes"]))

    if built(0).size < limit:
        return built(0)
    # each step is smaller than the one before it: the first that fits, else the last
    last = len(LADDER) - 1
    return built(bisect_left(range(last), True, 1, key=lambda step: built(step).size < limit))


def assemble(payload: Mapping[str, Any], name: str) -> str:
    """The page around a payload: text only ever is in it compressed, never as markup."""
    style, script = _style(), _script()
    parts = {
        "TITLE": html.escape(name),
        "POLICY": f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        "STYLE": style,
        "SCRIPT": script,
        "DATA": pack(payload),
    }
    # one pass, so that nothing inside a part is taken for the place of another
    return re.sub(r"%%([A-Z]+)%%", lambda place: parts[place[1]], _asset("page.html"))


@cache
def _style() -> str:
    """The style sheet without comments and blanks."""
    return str(cssmin(_asset("theme.css") + _asset("page.css")))


@cache
def _script() -> str:
    """All scripts as one that keeps its names to itself, without lines of comment, indents and empty lines.

    Within a line nothing is left out: the usual tools take what follows a template within a template for
    code, and cut blanks out of sentences. No template of ours goes over several lines.
    """
    lines = (line.strip() for name in SCRIPTS for line in source_of(name).splitlines())
    kept = (line for line in lines if line and not line.startswith("//"))
    return "\n".join(("(() => {", "'use strict';", *kept, "})();"))


def source_of(name: str) -> str:
    """One of SCRIPTS. The labelling page loads some as modules: what they export is plain here."""
    return re.sub(r"^export ", "", _asset(name), flags=re.MULTILINE)


def pack(payload: Mapping[str, Any]) -> str:
    """JSON, compressed, in base64; the same payload always gives the same text."""
    # NaN has no place in JSON, and ASCII escapes keep every character safe on its way
    text = json.dumps(payload, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), compresslevel=6, mtime=0)).decode("ascii")


@cache
def colours() -> dict[str, tuple[str, str]]:
    """The light and the dark value of every colour by its name in theme.css, such as ``loss-order``.

    For pictures that are drawn elsewhere.
    """
    return {name: (light, dark) for name, light, dark in _COLOUR.findall(_asset("theme.css"))}


def _asset(name: str) -> str:
    return files("harness.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
