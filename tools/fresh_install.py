"""The wheel of this version in an environment of its own, where nothing of this one is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.package_index import pip

ROOT = Path(__file__).parent.parent
# what comes with an environment
_OF_PYTHON = ("pip", "setuptools", "pkg_resources", "_distutils_hack")


@dataclass(frozen=True)
class Environment:
    """A virtual environment in ``folder``."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter; its commands lie beside."""
        return self.folder / "bin" / "python"

    def run(self, *words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run its Python in a folder, with ``more`` in the environment; nothing of ours is on its path."""
        return subprocess.run(
            [str(self.python), *words],
            cwd=cwd,
            env={**_inherited(), **more},
            check=False,
            capture_output=True,
            encoding="utf-8",
        )

    def install(self, *requirements: str) -> None:
        """Install by pip; raises NoIndexError without an index, and RuntimeError with what pip says."""
        # no metadata of the folder where it runs may count as installed
        pip("install", "--quiet", *requirements, python=self.python, cwd=self.folder, env=_inherited())

    def packages(self) -> set[str]:
        """The names of what is installed, besides what comes with an environment."""
        names = {path.name.split("-")[0].lower().replace("_", "-") for path in self._site.glob("*.dist-info")}
        return names - {"pip", "setuptools"}

    def megabytes(self) -> float:
        """What that takes on disk, in millions of bytes."""
        files = (path for path in self._site.rglob("*") if path.is_file())
        ours = (path for path in files if not path.relative_to(self._site).parts[0].startswith(_OF_PYTHON))
        return sum(path.stat().st_size for path in ours) / 1e6

    @property
    def _site(self) -> Path:
        (packages,) = (self.folder / "lib").glob("*/site-packages")
        return packages


def _inherited() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def new_environment(folder: Path) -> Environment:
    """Make an environment with pip and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return Environment(folder)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this version into a folder, from a copy: what lies about here is not packed."""
    source = folder / "source"
    source.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "llms.txt"):
        shutil.copy(ROOT / name, source / name)
    for name in ("harness", "tools", "configs", "corpora", "docs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True)
    (built,) = folder.glob("*.whl")
    return built
