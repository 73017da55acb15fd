"""What an agent may have the harness read, run and spend.

A configuration is a program in small: it names files, functions, services and prices, and somebody else than
its user may have written it. So it is checked before anything of it is done, and what is read is checked
once more when it is opened.
"""

from __future__ import annotations

import atexit
import errno
import glob
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from harness import running
from harness.values import ConfigError, HarnessError

# what runs code, or a class of a library with any arguments
_CODE = {"python": "a function of yours", "langchain": "a class of a library"}
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(:|//)")
_LISTED = {"os.listdir", "os.scandir"}
# what libraries read of the system itself
_OF_THE_SYSTEM = (
    *(
        "/proc",
        "/dev",
        "/sys",
        "/usr",
        "/lib",
        "/etc/ssl",
        "/etc/mime.types",
        "/etc/resolv.conf",
        "/etc/hosts",
    ),
    *("/etc/os-release", "/etc/localtime", "/etc/fonts", "C:\\Windows"),
)
_CACHES = "~/.cache"


@dataclass(slots=True)
class Permits:
    """The limits of one server: a folder, an amount of money, addresses of endpoints, and own code.

    ``root`` is a real path, the only folder that is read and written. ``budget`` is in the currency of the
    prices in the configurations, and ``spent`` what of it runs may have taken. ``endpoints`` are the
    beginnings of addresses that may be asked.
    """

    root: Path
    budget: float = 0.0
    endpoints: tuple[str, ...] = ()
    code: bool = False
    spent: float = 0.0

    @property
    def left(self) -> float:
        """What may still be spent."""
        return max(0.0, self.budget - self.spent)

    def inside(self, name: str) -> Path:
        """The real path of a file or folder below the root; raises ConfigError for any other place."""
        if _REMOTE.match(name) or "\0" in name:
            raise ConfigError(f"{name!r} is no path below {self.root}. Name a file or folder there.")
        path = Path(os.path.realpath(self.root / Path(name).expanduser()))
        if not path.is_relative_to(self.root):
            raise ConfigError(
                f"{name} is outside {self.root}, and nothing else may be read or written. Copy it there, or "
                "start the server with another --root."
            )
        return path

    def config(self, name: str) -> running.BenchConfig:
        """A configuration below the root, checked; raises ConfigError for one that goes beyond the limits.

        With a budget every endpoint needs an address of ``endpoints`` and a ``max_cost``, which together fit
        what is left; one whose prices are 0 needs the address alone.
        """
        path = self.inside(name)
        # first as it is written: to read a configuration may read the prompts that it names
        for where, value in _values(running.read_source(path).data, ()):
            self._check_value(where, value)
        config = running.load_config(path)
        for where, value in _values(config, ()):
            self._check_value(where, value)
        self.cap(config)
        return config

    def cap(self, config: running.BenchConfig) -> float:
        """The most that a run may spend; raises ConfigError where nothing limits it, or it is too much."""
        sections = {
            section.model_dump_json(): section
            for _, section in _values(config, ())
            if isinstance(section, BaseModel) and "max_cost" in type(section).model_fields
        }
        cap = sum(map(_most, sections.values()))
        if cap > self.left:
            raise ConfigError(
                f"The endpoints of {config.name} may spend {cap:g} (max_cost), and {self.left:g} is left of "
                f"--budget {self.budget:g}. Lower max_cost, or start the server with a larger --budget."
            )
        return cap

    def _check_value(self, where: tuple[str, ...], value: Any) -> None:
        key = ".".join(where)
        if isinstance(value, BaseModel):
            self._check_section(key, value)
        elif isinstance(value, Path):
            self.inside(str(value))
        elif isinstance(value, str) and where and where[-1] not in {"base_url", "url", "endpoint"}:
            self._check_text(key, value)

    def _check_section(self, key: str, section: BaseModel) -> None:
        kind = getattr(section, "kind", "")
        if not self.code and (kind in _CODE or "call" in type(section).model_fields):
            raise ConfigError(
                f"{key}: kind {kind} runs {_CODE.get(kind, 'code of yours')}. Leave it out, or start the "
                "server with --allow-code."
            )
        if kind == "ray" and section.model_dump().get("address") != "local":
            raise ConfigError(f"{key}: a cluster is not asked from here. Use `harness bench` for it.")
        for name in ("base_url", "url", "endpoint"):
            address = getattr(section, name, None)
            if isinstance(address, str):
                self._check_address(key, address)

    def _check_address(self, key: str, address: str) -> None:
        """Raise ConfigError for an address below none of those allowed; hosts are compared whole."""
        asked = urlsplit(address)
        for allowed in map(urlsplit, self.endpoints):
            same = (asked.scheme, asked.netloc) == (allowed.scheme, allowed.netloc)
            if same and f"{asked.path}/".startswith(f"{allowed.path.rstrip('/')}/"):
                return
        raise ConfigError(
            f"{key}: {address} is not asked: the server was not started with --endpoints {asked.scheme}://"
            f"{asked.netloc}. Leave it out, or start the server with that."
        )

    def _check_text(self, key: str, text: str) -> None:
        """Raise ConfigError for a text that names something outside the root, or a store elsewhere."""
        if _REMOTE.match(text):
            raise ConfigError(f"{key}: {text[:200]} is not below {self.root}. Copy it there.")
        if len(text) < 2 or len(text) > 4000 or "\n" in text or "\0" in text:
            return
        path = self.root / Path(text).expanduser()
        if key.startswith("documents") and glob.has_magic(text):
            fixed = itertools.takewhile(lambda part: not glob.has_magic(part), path.parts)
            self.inside(str(Path(*fixed)))
            # not those of Path, which follow no links
            for name in glob.iglob(str(path), recursive=True):  # noqa: PTH207
                self.inside(name)
        elif key.startswith("documents") or os.path.lexists(path):
            self.inside(text)

    def guard(self) -> None:
        """From here on refuse, for the whole process, to open what is neither ours nor below the root.

        The second line behind ``config``: also for a link that is made after the check, or a key of a package
        that names a file. It holds for what Python opens.
        """
        scratch = tempfile.mkdtemp(prefix="harness-mcp-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        tempfile.tempdir = os.environ["TMPDIR"] = scratch
        caches = (os.environ.get("HF_HOME") or _CACHES, _CACHES)
        packages = (sys.prefix, sys.base_prefix, str(Path(running.__file__).parents[2]), *_of_packages())
        places = (scratch, *caches, *packages)
        real = [os.path.realpath(Path(place).expanduser()) for place in places]
        allowed = tuple({str(self.root), *real, *_OF_THE_SYSTEM} - {os.sep})

        def hook(event: str, words: tuple[Any, ...]) -> None:
            if event == "open" or event in _LISTED:
                place = words[0] if words and words[0] is not None else "."
                path = os.fsdecode(place) if isinstance(place, str | bytes) else None
                if path is not None and not _is_below(os.path.realpath(path), allowed):
                    limit = f"outside {self.root}, which is all that may be read"
                    raise PermissionError(errno.EACCES, limit, path)

        sys.addaudithook(hook)


def _of_packages() -> list[str]:
    """Where packages are imported from; not the folder in which Python was started."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [place for place in sys.path if place and (place in named or place.endswith("-packages"))]


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _values(value: Any, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every section, path and text of a configuration, with the keys that lead to it."""
    if isinstance(value, BaseModel):
        yield where, value
        for name in type(value).model_fields:
            yield from _values(getattr(value, name), (*where, name))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(inner, (*where, str(name)))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _values(inner, where)
    elif isinstance(value, str | Path):
        yield where, value


def _most(section: BaseModel) -> float:
    """The most that one endpoint may spend in a run; raises ConfigError where nothing limits it."""
    limit: float | None = getattr(section, "max_cost", None)
    if limit is not None:
        return limit
    price = getattr(section, "price", None)
    amounts = [getattr(price, "input", price), getattr(price, "output", None)]
    amounts += [getattr(section, "price_per_request", None)]
    known = [amount for amount in amounts if amount is not None]
    if known and not any(known):
        return 0.0
    raise HarnessError(
        "An endpoint has neither max_cost nor prices of 0, so nothing limits what it costs. Give it max_cost."
    )
