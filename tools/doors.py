"""Write the table of each room's door: ``python tools/doors.py [--check]``.

A type checker needs imports, and a door that imports on demand needs names and modules. The first are
written by hand in ``if TYPE_CHECKING:``, the second follow from them.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

_ROOMS = Path(__file__).parent.parent / "harness"
_WIDTH = 110


def offered_by(source: str) -> dict[str, list[str]]:
    """The names that a door imports for the type checker, by module; ``KINDS=READERS`` where renamed."""
    (declared,) = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    offered: dict[str, list[str]] = {}
    for node in declared.body:
        if isinstance(node, ast.ImportFrom):
            offered.setdefault(str(node.module), []).extend(
                alias.name if alias.asname is None else f"{alias.name}={alias.asname}" for alias in node.names
            )
    return offered


def with_table(source: str) -> str:
    """The source of a door with the table that follows from its imports."""
    begin = source.index("else:\n    __getattr__ = door(")
    lines = ["else:\n", "    __getattr__ = door(\n", "        __name__,\n", "        {\n"]
    for module, names in offered_by(source).items():
        lines += _row(f'            "{module}": ', " ".join(sorted(names)))
    return source[:begin] + "".join([*lines, "        },\n", "    )\n"])


def _row(key: str, names: str) -> list[str]:
    """One entry, over several lines where it is too long for one, as the formatter would have it."""
    if len(key) + len(names) + 3 <= _WIDTH:
        return [f'{key}"{names}",\n']
    # 16 blanks and two quotes beside the names, and a blank after all lines but the last
    lines = [names] if len(names) + 18 <= _WIDTH else textwrap.wrap(names, _WIDTH - 19)
    ends = [" "] * (len(lines) - 1) + [""]
    parts = [f'                "{line}{end}"\n' for line, end in zip(lines, ends, strict=True)]
    return [f"{key}(\n", *parts, "            ),\n"]


def main() -> int:
    """Write all tables; with --check only say which differ, and return 1 if any does."""
    stale = []
    for path in sorted(_ROOMS.glob("*/__init__.py")):
        source = path.read_text(encoding="utf-8")
        if "= door(" in source and (made := with_table(source)) != source:
            stale.append(path)
            if "--check" not in sys.argv[1:]:
                path.write_text(made, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        folders = " ".join(path.parent.name for path in stale)
        sys.stderr.write(f"These doors differ from their imports; run python tools/doors.py: {folders}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
