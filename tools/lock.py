"""Write requirements.lock and requirements-dev.lock from the ranges in pyproject.toml.

Run by `make lock`. Resolves in throw-away environments with plain pip; torch is resolved first and alone, so
that the build already chosen for this machine is kept. The dev lock holds what is not in the first.

The head of each lock carries a digest of the ranges it was made from, which tests/test_locks.py compares: a
range edited without `make lock` is noticed without resolving anything.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TORCH = "torch==2.13.0"
RUNTIME_EXTRAS = ("pdfium", "tiktoken", "xlsx", "plots")
DEV_EXTRAS = ("jieba", "faiss", "docx", "html", "pptx", "fast", "corpus", "peers", "dev")
HEAD = "# Written by `make lock` from pyproject.toml; Python 3.11 to 3.13.\n# Ranges: sha256 {}\n"


def ranges() -> tuple[list[str], list[str]]:
    """The requirements of the runtime lock, and those that the development lock adds to it."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    runtime = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    runtime += [need for name in RUNTIME_EXTRAS for need in extras[name]]
    dev = [need for name in DEV_EXTRAS for need in extras[name] if not need.startswith("ndcg-harness[")]
    return runtime, dev


def head() -> str:
    """The first lines of a lock: who wrote it, and from which ranges."""
    return HEAD.format(hashlib.sha256(json.dumps([TORCH, *ranges()]).encode()).hexdigest())


def freeze(requirements: list[str]) -> list[str]:
    """Install ``requirements`` into a fresh environment and return what pip froze, one pin per line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        for batch in ([TORCH], requirements):
            subprocess.run([python, "-m", "pip", "install", "-q", *batch], check=True)
        out = subprocess.run(
            [python, "-m", "pip", "freeze", "--all"], check=True, capture_output=True, text=True
        ).stdout
    pins = [re.sub(r"\+\w+$", "", line) for line in out.splitlines() if "==" in line]
    return sorted((pin for pin in pins if not pin.startswith("pip==")), key=str.lower)


def main() -> None:
    """Resolve both locks and write them."""
    runtime, dev = ranges()
    pins = freeze(runtime)
    (ROOT / "requirements.lock").write_text(head() + "\n".join(pins) + "\n", encoding="utf-8")
    more = [pin for pin in freeze([*pins, *dev]) if pin not in pins]
    text = head() + "-r requirements.lock\n" + "\n".join(more) + "\n"
    (ROOT / "requirements-dev.lock").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(pins)} pins, {len(more)} more for development\n")


if __name__ == "__main__":
    main()
