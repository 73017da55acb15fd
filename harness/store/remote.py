"""Other file systems, such as S3, by fsspec: connect to one, and copy its files here."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.store.atomic import TEMPORARY, insist
from harness.values import HarnessError


@contextmanager
def file_system(url: str, key: str, error: type[HarnessError]) -> Iterator[tuple[Any, str]]:
    """The file system of a URL, and the path there; all that its library raises becomes one ``error``.

    ``key`` is that of the configuration that the URL is from.
    """
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(url)
    except HarnessError:
        raise
    except Exception as fault:
        # a store's library may raise anything: refused credentials, no route, a package that is missing
        reason = " ".join(f"{type(fault).__name__}: {fault}".split())[:300]
        raise error(
            f"{key}: {url} cannot be used ({reason}). Are the address and the credentials right?"
        ) from fault


def fetch(system: Any, places: Mapping[str, Path]) -> None:
    """Copy files to their places here, all at once, as file systems in a network do many at a time.

    Each appears whole or not at all.
    """
    partial = {name: place.with_name(f"{TEMPORARY}{uuid.uuid4().hex}") for name, place in places.items()}
    for place in places.values():
        place.parent.mkdir(parents=True, exist_ok=True)
    try:
        system.get(list(partial), [str(path) for path in partial.values()])
        for name, place in places.items():
            insist(partial[name].replace, place)
    finally:
        for path in partial.values():
            path.unlink(missing_ok=True)
