"""The benchmark that files of hits are scored as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import data, running
from harness.values import ConfigError


def hits_config(
    hits: Mapping[str, Path],
    *,
    name: str,
    documents: Iterable[str],
    queries: Path,
    labels: Path,
    cache: Path,
    results: Path,
    parser: str,
    on_bad_document: str,
    measures: Sequence[str] | None = None,
    prefix: str = "",
) -> running.BenchConfig:
    """The benchmark whose settings are the files of ``hits`` by name; raises ConfigError for bad values.

    ``prefix`` goes before the name of what is at fault, ``--`` for options.
    """
    # both load pydantic, which the help of the command does without
    from pydantic import ValidationError

    from harness.values import problem_in

    if parser not in data.PARSERS:
        raise ConfigError(f"{prefix}parser is {parser!r}; it can be {' or '.join(data.PARSERS)}.")
    fields: dict[str, Any] = {
        "name": name,
        "documents": tuple(documents),
        "on_bad_document": on_bad_document,
        "queries": queries,
        "labels": labels,
        "settings": [
            running.hit_setting(setting, file, data.PARSERS[parser].config())
            for setting, file in hits.items()
        ],
        "cache": cache,
        "results": results,
    }
    if measures:
        fields["measures"] = tuple(measures)
    try:
        return running.BenchConfig.model_validate(fields)
    except ValidationError as error:
        option = prefix if error.errors()[0]["loc"] else "options: " if prefix else ""
        raise ConfigError(f"{option}{problem_in(error)}.") from error
