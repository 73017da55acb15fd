"""Values laid out as text, CSV or JSON. Of several runs, by name, each value is given with its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.data.trec.evaluate import DocScores
from harness.values import delimited_text

ALL = "all"
Runs = Mapping[str, DocScores]


def as_rows(scores: DocScores, per_query: bool) -> list[tuple[str, str, float | None]]:
    """(query_id, measure, value) for every query where asked for, then the means as query ``all``."""
    means = [(ALL, name, mean) for name, mean in scores.means().items()]
    return [*_values(scores), *means] if per_query else means


def _values(scores: DocScores) -> Iterator[tuple[str, str, float | None]]:
    for query_id, values in zip(scores.query_ids, scores.values.tolist(), strict=True):
        for measure, value in zip(scores.measures, values, strict=True):
            yield query_id, measure.name, None if np.isnan(value) else value


def as_csv(runs: Runs, per_query: bool) -> str:
    """Columns query_id, measure, value in full precision; no value is an empty cell."""
    head = ("run",) if len(runs) > 1 else ()
    rows = (
        (*((run,) if head else ()), query, measure, "" if value is None else repr(value))
        for run, scores in runs.items()
        for query, measure, value in as_rows(scores, per_query)
    )
    return delimited_text([(*head, "query_id", "measure", "value"), *rows])


def as_text(runs: Runs, per_query: bool) -> str:
    """trec_eval's layout: measure, query, value to four decimals."""
    return "".join(
        (f"{run}\t" if len(runs) > 1 else "")
        + f"{measure:<22}\t{query}\t{'-' if value is None else format(value, '.4f')}\n"
        for run, scores in runs.items()
        for query, measure, value in as_rows(scores, per_query)
    )


def as_json(runs: Runs, per_query: bool, comparison: Sequence[Mapping[str, Any]] = ()) -> str:
    """One object: convention, number of queries, means, and the queries where asked for.

    Of several runs also their ``comparison``, one object a measure.
    """
    each = {run: _of_run(scores, per_query) for run, scores in runs.items()}
    content: Mapping[str, Any] = next(iter(each.values()))
    if len(each) > 1:
        content = {"runs": each, "comparison": comparison}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _of_run(scores: DocScores, per_query: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "convention": scores.convention.name,
        "n_queries": len(scores.query_ids),
        "means": scores.means(),
    }
    if per_query:
        content["queries"] = {query_id: {} for query_id in scores.query_ids}
        for query_id, measure, value in _values(scores):
            content["queries"][query_id][measure] = value
    return content
