"""What labels of people say of the text that has none: that it does not answer, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.data import LabelRow
from harness.judge import LabelsConfig
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.note_wordings import CORPUS
from harness.values import MAX_GRADE, Sentence, worded

Kind = Literal["answers", "pool"]


@dataclass(frozen=True, slots=True)
class LabelKind:
    """``answers``: all that answers each query is marked; ``pool``: passages were graded, others were not.

    ``why`` is the reason for an assumption, '' where the configuration says which it is.
    """

    kind: Kind
    why: str = ""

    def assumption(self, file: str) -> Sentence | None:
        """What is assumed of a label file, and the key that says otherwise; None where nothing is."""
        if not self.why:
            return None
        code = "labels.answers" if self.kind == "answers" else "labels.pool"
        return worded(CORPUS, code, file=file, why=self.why)


def label_kind(corpus: Corpus, config: BenchConfig) -> LabelKind:
    """What the label file is by ``relevance.labels``, or is taken for; a pool where another judge grades."""
    judge = config.relevance.judge
    if not isinstance(judge, LabelsConfig):
        return LabelKind("pool")
    return LabelKind(judge.labels) if judge.labels is not None else assumed_kind(corpus.label_rows)


def assumed_kind(rows: Sequence[LabelRow]) -> LabelKind:
    """What rows of a label file are taken for.

    Whoever grades a pool gives several grades, and 0 to much of it. Whoever marks answers gives all of them
    the highest grade, or marks a single fact of each query.
    """
    grades = {row.grade for row in rows}
    if not grades:
        return LabelKind("pool")
    if 0 in grades:
        return LabelKind("pool", "it has labels of grade 0")
    if grades == {MAX_GRADE}:
        return LabelKind("answers", f"all its labels have grade {MAX_GRADE}")
    facts = {(row.query_id, row.evidence or str(row.line)) for row in rows}
    if max(Counter(query for query, _ in facts).values()) == 1:
        return LabelKind("answers", "it has one label for each query")
    return LabelKind("pool", "it has several grades" if len(grades) > 1 else "its grade is not the highest")
