"""Packages that are not installed: which they are, and the line that installs them."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from harness.values import causes_of

_OURS = "ndcg-harness"
# What is imported under another name than it is installed.
_MODULES = {
    "beautifulsoup4": "bs4",
    "faiss-cpu": "faiss",
    "pillow": "PIL",
    "pystemmer": "Stemmer",
    "python-docx": "docx",
    "python-pptx": "pptx",
    "markdown-it-py": "markdown_it",
    "pyyaml": "yaml",
}
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?(?P<versions>[^;]*)"
    r"(?:;.*extra == ['\"](?P<extra>[\w-]+))?"
)
_FOR_DEVELOPERS = {"dev", "peers", "corpus"}
# What is imported here and comes along with a package of an extra.
_COME_WITH = dict.fromkeys(("transformers", "tokenizers", "safetensors", "huggingface_hub"), "local")


def missing_package(error: BaseException) -> str | None:
    """What to print where a package is missing, all that are with it; None where the error is another one."""
    for cause in causes_of(error):
        if (
            isinstance(cause, ModuleNotFoundError)
            and cause.name
            and (top := cause.name.split(".")[0]) != "harness"
        ):
            return _line(top)
    return None


def _line(module: str) -> str:
    needed, extras = _requirements()
    packages = {package for package in needed if not _is_there(_module_of(package))}
    name = next(
        (package for package in (*needed, *extras) if module in (package, _module_of(package))), module
    )
    if name in extras and name not in needed:
        return f"the package {name} is not installed. Install it: pip install '{_OURS}[{extras[name]}]'."
    names = sorted({name, *packages})
    which = f"the package {name} is" if len(names) == 1 else f"the packages {', '.join(names)} are"
    line = " ".join(f"'{package}{needed.get(package, '')}'" for package in names)
    return f"{which} not installed. Install {'it' if len(names) == 1 else 'them'}: pip install {line}."


@cache
def _requirements() -> tuple[dict[str, str], dict[str, str]]:
    """The versions of each package that is always needed, and the extra of each that is not, by its name."""
    try:
        listed = requires(_OURS) or []
    except PackageNotFoundError:
        listed = []
    needed: dict[str, str] = {}
    extras: dict[str, str] = {}
    for requirement in listed:
        if match := _REQUIREMENT.match(requirement):
            name, extra = match["name"].lower(), match["extra"]
            if extra is None:
                needed[name] = match["versions"].strip()
            elif extra not in _FOR_DEVELOPERS:
                extras.setdefault(name, extra)
    return needed, _COME_WITH | extras


def _module_of(package: str) -> str:
    return _MODULES.get(package, package.replace("-", "_"))


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    return find_spec(module) is not None
