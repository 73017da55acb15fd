"""The inputs of results: the content of every file that a configuration names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.running.config.models import BenchConfig
from harness.running.corpus import input_files
from harness.values import file_sha256

# These name outputs, not inputs.
_OUTPUTS = ("cache", "results")
_MOST_PATH = 4096


def input_hashes(config: BenchConfig) -> dict[str, str]:
    """The sha256 of every file that a run reads, by its path.

    These are documents, queries, labels and tables, and any other file that the configuration names: a
    prompt, synonyms, an argument of the user's own code. Raises HarnessError or OSError where one cannot be
    used.
    """
    values = config.model_dump(mode="json", exclude=set(_OUTPUTS), serialize_as_any=True)
    files = dict.fromkeys([*input_files(config), *filter(_is_file, _texts(values))])
    return file_hashes(files)


def file_hashes(files: Iterable[Path]) -> dict[str, str]:
    """The sha256 of files by their path; raises CorpusError or OSError for one that cannot be read."""
    # in this thread: a signal ends it, where a pool of threads would be waited for
    return {str(path): file_sha256(path) for path in files}


def _texts(value: Any) -> Iterator[Path]:
    """All texts in a configuration, as paths."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str) and 0 < len(value) < _MOST_PATH and "\0" not in value:
        yield Path(value)
        # the user's own code, `package.module:function`, if it is in the working folder
        module, colon, _ = value.partition(":")
        if colon and all(part.isidentifier() for part in module.split(".")):
            yield Path(*module.split(".")).with_suffix(".py")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # too long for a file name
        return False
