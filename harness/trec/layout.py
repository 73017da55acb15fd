"""Values laid out as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np

from harness.trec.evaluate import DocScores

ALL = "all"


def as_rows(scores: DocScores, per_query: bool) -> list[tuple[str, str, float | None]]:
    """(query_id, measure, value) for every query where asked for, then the means as query ``all``."""
    rows: list[tuple[str, str, float | None]] = []
    if per_query:
        for query_id, values in zip(scores.query_ids, scores.values.tolist(), strict=True):
            for measure, value in zip(scores.measures, values, strict=True):
                rows.append((query_id, measure.name, None if np.isnan(value) else value))
    return rows + [(ALL, name, mean) for name, mean in scores.means().items()]


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
        content["queries"] = {
            query_id: {
                measure.name: None if np.isnan(value) else value
                for measure, value in zip(scores.measures, values, strict=True)
            }
            for query_id, values in zip(scores.query_ids, scores.values.tolist(), strict=True)
        }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


LAYOUTS = {"text": as_text, "csv": as_csv, "json": as_json}
