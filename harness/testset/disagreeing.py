"""Where two people, or a person and a model, grade a passage differently: rows to be resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.testset.grades import Key, key_of_grade
from harness.testset.rows import DisagreementRow, GradeRow
from harness.types import Document


def disagreements(
    first: Sequence[GradeRow],
    second: Iterable[GradeRow],
    documents: Mapping[str, Document],
    questions: Mapping[str, str],
    before: Sequence[DisagreementRow],
) -> list[DisagreementRow]:
    """Passages whose second grade is another one than a first one; the widest apart first.

    Of ``before`` stays what was resolved, and what the second grades say nothing of.
    """
    second = list(second)
    resolved = {key_of_grade(row): row.resolved for row in before if row.resolved is not None}
    anew = {(key_of_grade(row), row.grader) for row in second}
    by_key: dict[Key, list[GradeRow]] = {}
    for row in first:
        if row.grade is not None:
            by_key.setdefault(key_of_grade(row), []).append(row)
    found = [
        row
        for row in before
        if not {(key_of_grade(row), row.first_by), (key_of_grade(row), row.second_by)} & anew
    ]
    for row in second:
        key = key_of_grade(row)
        for one in by_key.get(key, ()):
            if one.grade is not None and row.grade is not None and one.grade != row.grade:
                found.append(
                    DisagreementRow(
                        row.query_id,
                        questions.get(row.query_id, ""),
                        row.doc_id,
                        row.start,
                        row.end,
                        one.grade,
                        row.grade,
                        one.grader,
                        row.grader,
                        resolved.get(key),
                        documents[row.doc_id].text[row.start : row.end],
                    )
                )
    return sorted(found, key=lambda row: (-abs(row.first - row.second), row.query_id, row.doc_id, row.start))
