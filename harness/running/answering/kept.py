"""Scored answers of another pipeline as a folder of results, for `harness compare`, `gate` and `trend`."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness import __version__, report
from harness.data import AnsweredQuery
from harness.running.answering.external import MeasureScores
from harness.running.config.answer_measures import AnswerScoringConfig, prompts_of
from harness.running.notes import RunNotes
from harness.running.run_models import RunModels
from harness.store import replace_folder
from harness.values import RunRecord, golden_cell, text_sha256

SETTING = "answers"
"""What the pipeline is called as a setting of its results."""
_QUERIES = "the queries with their golden answers"


def keep_scores(
    folder: Path,
    exchanges: Sequence[AnsweredQuery],
    scores: Sequence[MeasureScores],
    config: AnswerScoringConfig,
    models: RunModels,
    notes: RunNotes,
) -> None:
    """Write answer_scores.csv and record.json; an earlier folder stays beside it under another name."""
    hashed = [
        (query.query_id, query.question, golden_cell(query.references), query.answerable)
        for query in exchanges
    ]
    settings = [{"name": SETTING}]
    stated = config.model_dump(mode="json") | {"name": folder.name, "queries": _QUERIES, "settings": settings}
    record = RunRecord(
        # no labels and no anchoring: the same for all scored answers
        config=stated | {"labels": None, "relevance": {}, "anchor": {}},
        hashes={_QUERIES: text_sha256(json.dumps(sorted(hashed)))},
        versions={"python": platform.python_version(), "harness": __version__},
        models={name: dict(facts) for name, facts in models.describe().items()},
        seeds={},
        timings={},
        counts={
            "conventions": [],
            "queries": len(exchanges),
            "answer_prompts": prompts_of(config.answer_measures),
            "answered_at": {query.query_id: query.time for query in exchanges if query.time},
        },
        date=notes.begun.isoformat(timespec="seconds"),
        warnings=tuple(dict.fromkeys(notes.warnings)),
    )
    with replace_folder(folder, _name_of_replaced) as unfinished:
        report.write_scored_answers(unfinished, list(_rows(exchanges, scores)), record)


def _rows(
    exchanges: Sequence[AnsweredQuery], scores: Sequence[MeasureScores]
) -> Iterator[report.AnswerScoreRow]:
    clusters: dict[str, str] = {}
    for exchange in exchanges:
        clusters.setdefault(exchange.question, exchange.query_id)
    for measured in scores:
        for exchange, score in zip(exchanges, measured.scores, strict=True):
            details: dict[str, Any] = dict(score.details)
            yield report.AnswerScoreRow(
                setting=SETTING,
                query_id=exchange.query_id,
                split=exchange.as_case().query.split,
                cluster=clusters[exchange.question],
                measure=measured.measure,
                value=score.value,
                reason=score.reason,
                details=json.dumps(details, ensure_ascii=False, sort_keys=True),
            )


def _name_of_replaced(current: Path, earlier: Path) -> str | None:
    """The new name of an earlier result, next to the current one; None where both are the same."""
    return None if report.same_result(current, earlier) else report.name_of_earlier(earlier, current.name)
