"""What was asked in place of each query, for the drill-down: every text once, and who asked which of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.stored import Row

# A text is cut no shorter, however small the page has to be: a question is seldom longer.
_SHORTEST = 250


def asked_detail(
    rows: Sequence[Row], settings: Mapping[str, int], queries: Mapping[str, int], characters: int | None
) -> dict[str, Any]:
    """``texts``, and ``steps``: setting, name of the step, and for every query the places of its texts.

    Texts are cut to ``characters`` and no shorter than a question is long; None: whole.
    """
    most = None if characters is None else max(characters, _SHORTEST)
    places: dict[str, int] = {}
    steps: dict[tuple[str, str], list[list[int]]] = {}
    for row in rows:
        if row["setting"] not in settings or row["query_id"] not in queries:
            continue
        text = row["text"]
        if most is not None and len(text) > most:
            text = text[:most] + " …"
        by_query = steps.setdefault((row["setting"], row["step"]), [[] for _ in queries])
        by_query[queries[row["query_id"]]].append(places.setdefault(text, len(places)))
    return {
        "texts": list(places),
        "steps": [
            {"setting": settings[setting], "step": step, "by": by_query}
            for (setting, step), by_query in steps.items()
        ],
    }
