"""Graded spans of the extracted text, as another tool has written them: nothing is left to be found."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from harness.errors import LabelError
from harness.kinds import StageConfig
from harness.types import MAX_GRADE, Document, Judgment


class _Row(StageConfig):
    query_id: str
    doc_id: str
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    grade: int | None = Field(ge=0, le=MAX_GRADE, strict=True)
    evidence: str = ""
    judge: str = "human"


def read_judgments(
    file: Path, documents: Mapping[str, Document], query_ids: Collection[str]
) -> tuple[Judgment, ...]:
    """Graded spans from JSON lines: query_id, doc_id, start, end, grade (0..4 or null), evidence, judge.

    Raises LabelError that names the line where one is malformed, or for a grade whose query or document is
    unknown or whose document is shorter.
    """
    try:
        with file.open(encoding="utf-8") as lines:
            judgments = tuple(_rows(lines, str(file)))
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"relevance.file: {file} cannot be read: {error}") from error
    for judgment in judgments:
        if judgment.grade is not None:
            _check(judgment, documents, query_ids)
    return judgments


def _rows(lines: Iterable[str], source: str) -> Iterator[Judgment]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = _Row(**json.loads(line))
        except (ValueError, TypeError, ValidationError) as error:
            raise LabelError(f"{source}, line {number}: not a label ({error}).") from error
        if row.start >= row.end:
            raise LabelError(f"{source}, line {number}: the span {row.start}-{row.end} is empty.")
        yield Judgment(
            row.query_id, row.doc_id, row.start, row.end, row.grade, row.evidence, source, row.judge, ""
        )


def _check(judgment: Judgment, documents: Mapping[str, Document], query_ids: Collection[str]) -> None:
    where = f"{judgment.source}: the label of query {judgment.query_id}"
    if judgment.query_id not in query_ids:
        raise LabelError(f"{where}: there is no query with this id.")
    document = documents.get(judgment.doc_id)
    if document is None:
        raise LabelError(f"{where} names document {judgment.doc_id}, which is not in the corpus.")
    if judgment.end > len(document.text):
        raise LabelError(
            f"{where} ends at {judgment.end}, but {judgment.doc_id} has {len(document.text)} characters: was "
            "the text extracted by another engine?"
        )
