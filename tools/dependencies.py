"""Check licences and known vulnerabilities of what is installed: ``python tools/dependencies.py``.

Licences come from the metadata of the installed packages, without network, and are compared with a list of
those allowed. Known vulnerabilities come from pip-audit, where it is installed and reaches its data; else a
line says that they were not checked. The exit code is 1 if either finds something.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions

# What the parts of a licence may be: permissive ones, and MPL, which binds changes of its own files only.
_ALLOWED = re.compile(
    r"0BSD|3-Clause BSD License|Apache([ -]2\.0)?( Software)?( License)?(, Version 2\.0)?"
    r"( WITH LLVM-exception)?"
    r"|BSD([ -][23]-Clause)?( License)?|BSL-1\.0|CC0-1\.0|CNRI-Python|DFSG approved|dependency licenses"
    r"|ISC( License ISCL)?|MIT(-0|-CMU)?( License)?|MPL-2\.0|Mozilla Public License 2\.0 MPL 2\.0"
    r"|PSF-2\.0|Python Software Foundation License|Unlicense|Zlib"
)
_OWN = {"harness", "ndcg-harness"}
_SECONDS = 120
_UNREACHED = ("ConnectionError", "Max retries", "ServiceError", "Timeout", "Failed to upgrade")


def main() -> int:
    """Print what was found; 0 if nothing was."""
    refused = unlicensed(distributions())
    for line in refused:
        print(line)
    print(f"licences: {len(refused)} not on the list of tools/dependencies.py")
    return 1 if refused or _vulnerable() else 0


def unlicensed(installed: Iterable[Distribution]) -> list[str]:
    """A line for every distribution whose licence is unknown or not allowed."""
    found = []
    for one in installed:
        name, licence = one.metadata["Name"], licence_of(one)
        if name not in _OWN and not allowed(licence):
            found.append(f"{name} {one.version}: licence {licence or 'unknown'!r} is not allowed")
    return sorted(found)


def licence_of(one: Distribution) -> str:
    """The licence that a distribution states: its expression, else its classifiers, else its own words."""
    if expression := one.metadata.get("License-Expression"):
        return str(expression)
    classifiers = [text.split(" :: ") for text in one.metadata.get_all("Classifier", [])]
    named = [parts[-1] for parts in classifiers if parts[0] == "License" and parts[-1] != "OSI Approved"]
    return " AND ".join(named) or (one.metadata.get("License") or "").strip().split("\n")[0]


def allowed(licence: str) -> bool:
    """Whether all parts joined by AND are allowed, each by one of its alternatives."""
    every = re.split(r" AND |, (?!Version)", re.sub(r"[()]", "", licence))
    return all(any(_ALLOWED.fullmatch(one.strip()) for one in part.split(" OR ")) for part in every)


def _vulnerable() -> bool:
    if importlib.util.find_spec("pip_audit") is None:
        print("known vulnerabilities: not checked, pip-audit is not installed")
        return False
    command = [sys.executable, "-m", "pip_audit", "--local", "--skip-editable", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print(f"known vulnerabilities: not checked, no answer within {_SECONDS} s")
        return False
    if done.returncode and any(sign in done.stderr for sign in _UNREACHED):
        print("known vulnerabilities: not checked, the data of pip-audit cannot be reached")
        return False
    print(done.stdout.strip() or done.stderr.strip())
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
