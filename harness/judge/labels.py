"""Human labels in place of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NoReturn

from pydantic import Field

from harness.judge.records import Pair
from harness.values import Chunk, ConfigError, Document, Judgment, Query, StageConfig

# The judge shown in tables if labels name none.
PEOPLE = "human"


class LabelsConfig(StageConfig):
    """Human labels."""

    kind: Literal["labels"] = "labels"
    file: str | None = Field(
        None,
        description="JSON lines with query_id, doc_id, start, end, grade, instead of the file that `labels` "
        "names.",
    )


def nobody(config: LabelsConfig, tools: object) -> NoReturn:
    """There is no judge to call where labels already are the grades; raises ConfigError."""
    raise ConfigError("relevance: labels already are the grades, so there is no judge to call.")


def pairs_of_labels(
    labels: Iterable[Judgment], queries: Mapping[str, Query], documents: Mapping[str, Document]
) -> Iterator[Pair]:
    """The pairs that people have graded, for a judge to grade too; labels without a grade are ignored.

    Grouped by query, as a list prompt needs them.
    """
    scored = [label for label in labels if label.grade is not None]
    for label in sorted(scored, key=lambda label: label.query_id):
        span = Chunk.of(documents[label.doc_id], label.start, label.end)
        yield Pair(queries[label.query_id], span)
