"""The warnings that results were stored with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.values import ResultWarning


def warnings_of(
    records: Mapping[str, Mapping[str, Any]], names: Mapping[tuple[str, str], str]
) -> tuple[ResultWarning, ...]:
    """The warnings of run records by result, each once; ``names`` as for ``tokens_of``.

    Those that not all results share name theirs. Results of older versions have none.
    """
    own = {result: record.get("warnings", []) for result, record in records.items()}
    found: dict[ResultWarning, None] = {}
    for result, rows in own.items():
        for row in rows:
            settings = tuple(names[result, one] for one in row["settings"] if (result, one) in names)
            if row["settings"] and not settings:
                continue
            shared = all(row in others for others in own.values())
            text = row["text"] if shared else f"{result}: {row['text']}"
            # a warning of several results is of the settings of all
            found[
                ResultWarning(
                    row["kind"], text, tuple(row["measures"]), () if shared and len(own) > 1 else settings
                )
            ] = None
    return tuple(found)
