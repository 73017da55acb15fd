"""The judge that is no model: grades given by people, read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from pydantic import Field, ValidationError

from harness.errors import LabelError
from harness.judge.records import Pair
from harness.kinds import StageConfig
from harness.types import MAX_GRADE, Chunk, Document, Judgment, Query


class LabelsConfig(StageConfig):
    """Human labels."""

    kind: Literal["labels"] = "labels"
    file: str | None = Field(
        None,
        description="JSON lines with query_id, doc_id, start, end, grade, instead of the file that `labels` "
        "names.",
    )


class _Row(StageConfig):
    query_id: str
    doc_id: str
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    grade: int | None = Field(ge=0, le=MAX_GRADE, strict=True)
    evidence: str = ""
    judge: str = "human"


class LabelsJudge:
    """Hands on human labels; needs no pool, for a label is a graded span whatever was retrieved."""

    name = "human"

    def __init__(self, config: LabelsConfig) -> None:
        self.config = config

    def read(self, lines: Iterable[str], source: str) -> list[Judgment]:
        """Labels from JSON lines; see read_labels."""
        return list(read_labels(lines, source))

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a run record keeps of the judge."""
        return {"kind": "labels", "file": self.config.file}


def read_labels(lines: Iterable[str], source: str) -> Iterator[Judgment]:
    """Labels from JSON lines: query_id, doc_id, start, end, grade (0..4 or null), evidence, judge.

    Raises LabelError that names ``source`` and the line where one is malformed.
    """
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


def write_labels(judgments: Iterable[Judgment]) -> Iterator[str]:
    """JSON lines that ``read_labels`` reads, for labelling by hand or by another tool."""
    for judgment in judgments:
        row = {name: getattr(judgment, name) for name in _Row.model_fields}
        yield json.dumps(row, ensure_ascii=False)


def pairs_of_labels(
    labels: Iterable[Judgment], queries: Mapping[str, Query], documents: Mapping[str, Document]
) -> Iterator[Pair]:
    """The pairs that people have graded, for a judge to grade too; labels without a grade are passed over.

    Grouped by query, as a list prompt needs them. Raises LabelError for an unknown query, or as check_spans.
    """
    scored = [label for label in labels if label.grade is not None]
    check_spans(scored, documents)
    for label in sorted(scored, key=lambda label: label.query_id):
        if label.query_id not in queries:
            raise LabelError(f"{label.source}: a label names query {label.query_id}, which there is not.")
        span = Chunk.of(documents[label.doc_id], label.start, label.end)
        yield Pair(queries[label.query_id], span)


def check_spans(judgments: Iterable[Judgment], documents: Mapping[str, Document]) -> None:
    """Raise LabelError for a label whose document is unknown or shorter than its span."""
    for judgment in judgments:
        document = documents.get(judgment.doc_id)
        where = f"{judgment.source}: the label of query {judgment.query_id}"
        if document is None:
            raise LabelError(f"{where} names document {judgment.doc_id}, which is not in the corpus.")
        if judgment.end > len(document.text):
            raise LabelError(
                f"{where} ends at {judgment.end}, but {judgment.doc_id} has {len(document.text)} "
                "characters: was "
                "the text extracted by another engine?"
            )
