"""Write the locks of requirements (LOCKS and DOCS_LOCK) from the ranges in pyproject.toml.

Run by `make lock`. Resolves in throw-away environments with plain pip; torch is resolved first and alone, so
that the build already chosen for this machine is kept. The dev lock holds what is not in the first. Every
file of a pinned version has its hash there, which uv looks up. Torch has a lock of its own, without hashes:
which build is installed, and with which libraries, depends on the machine. What builds the
site of the docs has one too, for an environment of its own; ``python tools/lock.py --docs`` writes it alone.

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
RUNTIME_EXTRAS = ("local", "chroma", "langchain", "parquet", "pdfium", "tiktoken", "xlsx")
DEV_EXTRAS = (
    "jieba",
    "faiss",
    "docx",
    "html",
    "pptx",
    "fast",
    "ray",
    "mcp",
    "tune",
    "corpus",
    "peers",
    "office",
    "all",
    "dev",
)
# Clients of stores, and what a screen needs: tested in an environment of their own (tests/external), which
# takes what is newest. The driver of PostgreSQL has a licence that tools/dependencies.py does not list.
APART_EXTRAS = ("qdrant", "pgvector", "lancedb", "screen")
HEAD = "# Written by `make lock` from pyproject.toml; Python 3.11 to 3.13.\n# Ranges: sha256 {}\n"
DOCS_LOCK = "requirements-docs.lock"
LOCKS = ("requirements.lock", "requirements-torch.lock", "requirements-dev.lock")


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


def site_ranges() -> list[str]:
    """The requirements of the lock of the site."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(project["dependency-groups"]["site"])


def site_head() -> str:
    """The first lines of the lock of the site."""
    return HEAD.format(hashlib.sha256(json.dumps(site_ranges()).encode()).hexdigest())


def freeze(requirements: list[str], first: tuple[str, ...] = (TORCH,)) -> list[str]:
    """Install ``first``, then ``requirements`` into a fresh environment; returns its pins, one a line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        for batch in ([*first], requirements) if first else (requirements,):
            subprocess.run([python, "-m", "pip", "install", "-q", *batch], check=True)
        out = subprocess.run(
            [python, "-m", "pip", "freeze", "--all"], check=True, capture_output=True, text=True
        ).stdout
    pins = [re.sub(r"\+\w+$", "", line) for line in out.splitlines() if "==" in line]
    return sorted((pin for pin in pins if not pin.startswith("pip==")), key=str.lower)


def hashed(pins: list[str]) -> str:
    """The pins as lines of a lock, each with the hashes of all files of that version."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python, listed, out = (Path(folder) / name for name in ("bin/python", "pins.in", "pins.lock"))
        listed.write_text("\n".join(pins), encoding="utf-8")
        subprocess.run([str(python), "-m", "pip", "install", "-q", "uv"], check=True)
        options = ["--no-deps", "--generate-hashes", "--no-header", "--no-annotate", "-o", str(out)]
        subprocess.run([str(python), "-m", "uv", "-q", "pip", "compile", str(listed), *options], check=True)
        return out.read_text(encoding="utf-8")


def main() -> None:
    """Resolve all locks and write them."""
    pins = [pin for pin in freeze(site_ranges(), ()) if not pin.startswith("setuptools==")]
    (ROOT / DOCS_LOCK).write_text(site_head() + hashed(pins), encoding="utf-8")
    if "--docs" in sys.argv[1:]:
        return
    runtime, dev = ranges()
    pins = freeze(runtime)
    more = [pin for pin in freeze([*pins, *dev]) if pin not in pins]
    pins.remove(TORCH)
    for name, text in zip(LOCKS, (hashed(pins), f"{TORCH}\n", hashed(more)), strict=True):
        (ROOT / name).write_text(head() + text, encoding="utf-8")
    sys.stdout.write(f"{len(pins) + 1} pins, {len(more)} more for development\n")


if __name__ == "__main__":
    main()
