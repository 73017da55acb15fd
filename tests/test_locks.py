"""The locks are what `make lock` makes: from the present ranges, complete, and with nothing besides."""

import os
import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import lock

ROOT = Path(__file__).parent.parent
LOCKS = lock.LOCKS


def pins(*files):
    """The pinned versions of the locks by the name of the package."""
    found = re.findall(r"^([\w.-]+)==(\S+)", "\n".join((ROOT / file).read_text() for file in files), re.M)
    assert len(dict(found)) == len(found), "a package is pinned twice"
    return {canonicalize_name(name): version for name, version in found}


def unmet(needs, pinned):
    """The requirements that the pins of a lock do not meet, here and on this Python."""
    found = []
    for need in map(Requirement, needs):
        version = pinned.get(canonicalize_name(need.name))
        if (need.marker is None or need.marker.evaluate()) and not (
            version and need.specifier.contains(version, prereleases=True)
        ):
            found.append(str(need))
    return found


@pytest.mark.parametrize("file", LOCKS)
def test_a_lock_was_made_from_the_present_ranges(file):
    assert (ROOT / file).read_text().startswith(lock.head()), "run `make lock`"


def test_the_lock_of_the_site_is_of_the_present_ranges_and_hashed():
    text = (ROOT / lock.DOCS_LOCK).read_text()
    assert text.startswith(lock.site_head()), "run `python tools/lock.py --docs`"
    assert unmet(lock.site_ranges(), pins(lock.DOCS_LOCK)) == []


def test_every_requirement_is_pinned_also_those_of_the_extras():
    runtime, dev = lock.ranges()
    assert unmet(runtime, pins(*LOCKS[:2])) == []
    assert unmet(dev, pins(*LOCKS)) == []


def test_every_extra_is_locked():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {*lock.RUNTIME_EXTRAS, *lock.DEV_EXTRAS, *lock.APART_EXTRAS} == set(
        project["optional-dependencies"]
    )


@pytest.mark.parametrize("files", [LOCKS[:2], LOCKS], ids=["runtime", "development"])
def test_what_the_pinned_packages_need_is_pinned_and_nothing_else(files):
    # pip comes with every environment
    pinned, missing = pins(*files) | {"pip": "26.0"}, []
    runtime, dev = lock.ranges()
    left = [Requirement(need) for need in [*runtime, *(dev if files == LOCKS else []), lock.TORCH]]
    seen = set()
    while left:
        need = left.pop()
        name = canonicalize_name(need.name)
        for extra in {"", *need.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                further = [Requirement(one) for one in requires(name) or ()]
            except PackageNotFoundError:
                missing.append(name)
                continue
            held = [one for one in further if not one.marker or one.marker.evaluate({"extra": extra})]
            assert unmet([str(one).partition(";")[0] for one in held], pinned) == [], f"needed by {need}"
            left += held
    if missing and not os.environ.get("CI"):
        pytest.skip(f"not installed: {', '.join(sorted(missing))}")
    assert missing == []
    assert set(pinned) - {name for name, _ in seen} - {"pip"} == set()


@pytest.mark.parametrize("file", [LOCKS[0], LOCKS[2], lock.DOCS_LOCK])
def test_every_pin_has_its_hashes(file):
    lines = (ROOT / file).read_text().splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        assert "==" not in line or (line.endswith("\\") and below.lstrip().startswith("--hash=sha256:"))
