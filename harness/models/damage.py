"""Check that the files of a model are whole, without loading it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from harness.values import ModelError

_LENGTH = 8
# The format allows no more; a damaged length would ask for terabytes.
_MOST_HEADER = 100_000_000
# What the hub's cache calls its files: the SHA-256 of large ones, git's SHA-1 of small ones.
_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")


def check_files(name: str, folder: Path) -> None:
    """Raise ModelError that names the file where one of a model's files is cut short or cannot be read."""
    for path in sorted(folder.rglob("*.json")):
        _check_json(name, path)
    for path in sorted(folder.rglob("*.safetensors")):
        _check_weights(name, path)
    for path in sorted(folder.glob("*.index.json")):
        parts = read_object(name, path).get("weight_map")
        for part in set(parts.values()) if isinstance(parts, dict) else ():
            if not (folder / str(part)).is_file():
                raise damaged(name, path, f"it names {str(part)[:80]!r}, which does not exist")


def check_hub_file(name: str, path: Path, sha256: str) -> None:
    """Compare a file of the hub's cache with the hash in its name."""
    blob = path.resolve()
    if _SHA256.fullmatch(blob.name):
        same = blob.name == sha256
    elif _SHA1.fullmatch(blob.name):
        content = blob.read_bytes()
        git = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        same = blob.name == git.hexdigest()
    else:
        return
    if not same:
        raise damaged(name, path, "its content differs from the fetched file")


def read_object(name: str, path: Path) -> dict[str, object]:
    """A JSON file of a model that holds an object; empty if it holds something else."""
    content = _check_json(name, path)
    return content if isinstance(content, dict) else {}


def tensor_names(path: Path) -> frozenset[str]:
    """The names of the tensors in a safetensors file that ``check_files`` has passed."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        return frozenset(json.loads(file.read(length))) - {"__metadata__"}


def damaged(name: str, path: Path, why: str) -> ModelError:
    """The error for a model's file that is not whole."""
    return ModelError(f"{name}: {path} is damaged ({why}). Fetch or save the model again.")


def _check_json(name: str, path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(name, path, f"not valid JSON: {str(error)[:80]}") from error


def _check_weights(name: str, path: Path) -> None:
    """The header of a safetensors file gives the position of each tensor; together they fill the file."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH), "little")
            if size < _LENGTH or length > min(size - _LENGTH, _MOST_HEADER):
                raise damaged(name, path, "its header is cut short")
            header = json.loads(file.read(length))
        ends = [tensor["data_offsets"][1] for key, tensor in header.items() if key != "__metadata__"]
        expected = _LENGTH + length + max(ends, default=0)
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, IndexError, TypeError) as error:
        raise damaged(name, path, "its header cannot be read") from error
    if size != expected or not ends:
        raise damaged(name, path, f"it has {size:,} bytes, and its header says {expected:,}")
