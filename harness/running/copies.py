"""Documents on other file systems, such as S3: copied to this machine when they are new or have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from glob import has_magic
from pathlib import Path

from harness.running.note_wordings import CORPUS
from harness.store import fetch, file_system, key_of
from harness.values import CorpusError, counted, worded


def local_patterns(patterns: Sequence[str], folder: Path, note: Callable[[str], None]) -> list[str]:
    """The globs of files on this machine, those with a URL (``s3://bucket/*.pdf``) replaced by their copies.

    Copies lie below ``folder``; ``note`` gets what is copied. Raises CorpusError for a URL that names no file
    or cannot be read, and where the package for its file system is missing.
    """
    local: list[str] = []
    for pattern in patterns:
        local += map(str, _copies(pattern, folder, note)) if "://" in pattern else [pattern]
    return local


def _copies(url: str, folder: Path, note: Callable[[str], None]) -> list[Path]:
    with file_system(url, "documents", CorpusError) as (system, path):
        names = sorted(system.glob(path)) if has_magic(path) else [path]
        places = {
            name: _place(folder, system.unstrip_protocol(name)) for name in names if system.isfile(name)
        }
        versions = {name: key_of(system.ukey(name), system.size(name)) for name in places}
        new = {name: place for name, place in places.items() if _version(place) != versions[name]}
        if new:
            note(worded(CORPUS, "documents.copied", documents=counted(len(new), "document"), url=url))
        fetch(system, new)
        for name, place in new.items():
            _noted(place).write_text(versions[name], encoding="utf-8")
    if not places:
        raise CorpusError(f"documents: {url} names no file. Name files, such as s3://bucket/*.pdf.")
    return list(places.values())


def _place(folder: Path, url: str) -> Path:
    protocol, _, path = url.partition("://")
    parts = [part for part in path.split("/") if part]
    if ".." in parts:
        raise CorpusError(f"documents: {url} has a folder named `..`. Rename it.")
    return folder.joinpath(protocol, *parts)


def _version(place: Path) -> str:
    try:
        return _noted(place).read_text(encoding="utf-8") if place.is_file() else ""
    except OSError:
        return ""


def _noted(place: Path) -> Path:
    """The file that says which version of a document was copied."""
    return place.with_name(f".{place.name}.version")
