"""Values laid out as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.trec.evaluate import DocScores

ALL = "all"


def as_rows(scores: DocScores, per_query: bool) -> list[tuple[str, str, float | None]]:
    """(query_id, measure, value) for every query where asked for, then the means as query ``all``."""
    means = [(ALL, name, mean) for name, mean in scores.means().items()]
    return [*_values(scores), *means] if per_query else means


def _values(scores: DocScores) -> Iterator[tuple[str, str, float | None]]:
    for query_id, values in zip(scores.query_ids, scores.values.tolist(), strict=True):
        for measure, value in zip(scores.measures, values, strict=True):
            yield query_id, measure.name, None if np.isnan(value) else value


def as_csv(scores: DocScores, per_query: bool) -> str:
    """Columns query_id, measure, value in full precision; no value is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("query_id", "measure", "value"))
    writer.writerows(
        (query, measure, "" if value is None else repr(value))
        for query, measure, value in as_rows(scores, per_query)
    )
    return out.getvalue()


def as_text(scores: DocScores, per_query: bool) -> str:
    """trec_eval's layout: measure, query, value to four decimals."""
    return "".join(
        f"{measure:<22}\t{query}\t{'-' if value is None else format(value, '.4f')}\n"
        for query, measure, value in as_rows(scores, per_query)
    )


def as_json(scores: DocScores, per_query: bool) -> str:
    """One object: convention, number of queries, means, and the queries where asked for."""
    content: dict[str, Any] = {
        "convention": scores.convention.name,
        "n_queries": len(scores.query_ids),
        "means": scores.means(),
    }
    if per_query:
        content["queries"] = {query_id: {} for query_id in scores.query_ids}
        for query_id, measure, value in _values(scores):
            content["queries"][query_id][measure] = value
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


LAYOUTS = {"text": as_text, "csv": as_csv, "json": as_json}
