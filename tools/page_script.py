"""Print the script of report.html in one piece, each file under its name; for linters and tests."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.report.page.build import SCRIPTS, source_of


def main() -> None:
    """Write the script to the file that is named, or to standard output."""
    parts = [f"// file: {name}\n{source_of(name)}" for name in SCRIPTS]
    script = "(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(sys.argv[1]).write_text(script, encoding="utf-8")
    else:
        sys.stdout.write(script)


if __name__ == "__main__":
    main()
