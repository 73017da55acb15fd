"""Print the oldest versions that pyproject.toml promises, a requirement a line, to be installed apart.

    python tools/lowest.py > oldest.txt && pip install -r oldest.txt

Every range begins with a floor, `name>=floor`, and every floor must exist and go with the others. Beside the
core there are the extras that read files, and what runs the tests; those that run models are gigabytes.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EXTRAS = ("parquet", "pdfium", "xlsx", "docx", "html", "pptx")
TESTS = {"hypothesis", "pytest", "pytest-timeout", "httpx"}
_RANGE = re.compile(r"(?P<name>[\w.-]+)(?P<extra>\[[\w,]+\])?>=(?P<floor>[\w.]+)")


def floors(project: dict[str, Any]) -> list[str]:
    """`name==floor` for each requirement of the core, of EXTRAS and of the tests, from pyproject's table."""
    extras = project["optional-dependencies"]
    needs = [*project["dependencies"], *(need for name in EXTRAS for need in extras[name])]
    return [_floor(need) for need in (*needs, *(need for need in extras["dev"] if _name(need) in TESTS))]


def _name(need: str) -> str:
    return re.split(r"[\[<>=]", need, maxsplit=1)[0]


def _floor(need: str) -> str:
    """A requirement at its floor; raises ValueError where it has none."""
    match = _RANGE.match(need)
    if match is None:
        raise ValueError(f"pyproject.toml promises no oldest version of {need!r}: write name>=version.")
    return f"{match['name']}{match['extra'] or ''}=={match['floor']}"


def main() -> None:
    """Print them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sys.stdout.write("\n".join(floors(project)) + "\n")


if __name__ == "__main__":
    main()
