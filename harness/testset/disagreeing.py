"""Where people, or people and a model, grade a passage differently: one row a passage, to be resolved."""

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
    """Passages that were given different grades, with what everybody said; the widest apart first.

    ``second`` are the grades that are new. Of ``before`` stays what was resolved, and what the new grades say
    nothing of.
    """
    second = [row for row in second if row.grade is not None]
    said: dict[Key, dict[str, int]] = {}
    for row in (*first, *second):
        if row.grade is not None:
            said.setdefault(key_of_grade(row), {})[row.grader] = row.grade
    graders: dict[Key, set[str]] = {}
    for row in second:
        graders.setdefault(key_of_grade(row), set()).add(row.grader)
    listed = {key_of_grade(row): row for row in before}
    found = []
    for key in dict.fromkeys((*listed, *graders)):
        old, own = listed.get(key), said.get(key, {})
        if key in graders and len(set(own.values())) > 1:
            found.append(_row(key, own, questions, documents, old.resolved if old else None))
        elif old and (key not in graders or (old.resolved is not None and not _names(old) & graders[key])):
            found.append(old)
    return sorted(found, key=lambda row: (-row.apart, row.query_id, row.doc_id, row.start))


def _row(
    key: Key,
    own: Mapping[str, int],
    questions: Mapping[str, str],
    documents: Mapping[str, Document],
    resolved: int | None,
) -> DisagreementRow:
    query, document, start, end = key
    grades = "; ".join(f"{name} {grade}" for name, grade in own.items())
    apart = max(own.values()) - min(own.values())
    text = documents[document].text[start:end]
    return DisagreementRow(
        query, questions.get(query, ""), document, start, end, grades, apart, resolved, text
    )


def _names(row: DisagreementRow) -> set[str]:
    return {part.rpartition(" ")[0] for part in row.grades.split("; ")}
