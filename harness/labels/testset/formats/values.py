"""Shared by formats: names of passages, offsets of other tools, results of reading and writing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.data import possible_ids, whole_number
from harness.labels.testset.finished import Label, TestQuestion, label_of
from harness.labels.testset.grades import agreements
from harness.labels.testset.rows import GradeRow
from harness.values import Document, LabelError, counted

_PASSAGE = re.compile(r"(?P<document>.+):(?P<start>\d+)-(?P<end>\d+)")


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The files of an export, and in ``notes`` what the format cannot hold."""

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The content of an import, and in ``notes`` its assumptions.

    ``grades`` has every rater's own grades where several graded one passage; ``labels`` then has what they
    agree on.
    """

    questions: tuple[TestQuestion, ...]
    labels: tuple[Label, ...]
    notes: tuple[str, ...] = ()
    grades: tuple[GradeRow, ...] = ()


@dataclass(frozen=True, slots=True)
class RaterGrade:
    """One rater's grade of a passage, and the parts of it that are marked, as offsets within it."""

    by: str
    grade: int
    marked: tuple[tuple[int, int], ...] = ()


@dataclass
class Ratings:
    """Passages with the ratings of all who graded them."""

    labels: list[Label] = field(default_factory=list)
    grades: list[GradeRow] = field(default_factory=list)
    differ: int = 0

    def add(
        self,
        query_id: str,
        passage: tuple[Document, int, int],
        given: Sequence[RaterGrade],
        fact: str,
        where: str,
    ) -> None:
        """Add a passage; where raters differ it has no label. Raises LabelError for marks beyond it."""
        document, start, end = passage
        self.differ += (differ := len({one.grade for one in given}) > 1)
        for one in given:
            parts = [part_of(passage, a, b, where) for a, b in one.marked if one.grade] or [passage]
            texts = [document.text[a:b] for _, a, b in parts]
            answer = texts[0] if parts != [passage] and len(parts) == 1 else ""
            row = GradeRow(
                query_id, document.doc_id, start, end, one.grade, one.by, evidence=fact, answer=answer
            )
            self.grades.append(row)
            if not differ:
                self.labels += [label_of(query_id, part, one.grade, one.by, fact) for part in parts]

    def result(self, questions: Mapping[str, TestQuestion], notes: Sequence[str]) -> ImportResult:
        """The import; the notes say how far raters agree and what to do where they differ."""
        passages = {(row.query_id, row.doc_id, row.start, row.end) for row in self.grades}
        several = len(self.grades) > len(passages)
        told = [str(one) for one in agreements(self.grades)]
        if self.differ:
            told.append(
                f"{counted(self.differ, 'passage is', 'passages are')} graded differently by several raters "
                "and not in labels.csv; grades.csv has every rater's own grade. Decide them in the tool, or "
                "add rows with the grade that you settle on to labels.csv."
            )
        grades = tuple(self.grades) if several else ()
        return ImportResult(tuple(questions.values()), tuple(self.labels), (*notes, *told), grades)


def last_of_each(given: Iterable[RaterGrade]) -> list[RaterGrade]:
    """The last rating of each rater: what a person says later replaces what they said before."""
    return list({one.by: one for one in given}.values())


def passage_id(doc_id: str, start: int, end: int) -> str:
    """A passage as one name: document, start, end (excluded)."""
    return f"{doc_id}:{start}-{end}"


def span_of(name: str, documents: Mapping[str, Document], where: str) -> tuple[Document, int, int]:
    """The range that a name means: a passage, or a whole document; raises LabelError for neither."""
    found = _PASSAGE.fullmatch(name)
    if found and found["document"] in documents:
        document = documents[found["document"]]
        return valid_range(document, int(found["start"]), int(found["end"]), where)
    whole = next((documents[one] for one in possible_ids(name) if one in documents), None)
    if whole is None:
        raise LabelError(
            f"{where}: {name!r} is neither a document nor a passage such as report:120-480. Name the "
            "documents with --documents."
        )
    return whole, 0, len(whole.text)


def valid_range(document: Document, start: int, end: int, where: str) -> tuple[Document, int, int]:
    """A range of a document; raises LabelError if it is none."""
    if not 0 <= start < end <= len(document.text):
        raise LabelError(
            f"{where}: {start}-{end} is not a range of {document.doc_id}, which has {len(document.text)} "
            "characters. Name the documents that were labelled."
        )
    return document, start, end


def part_of(
    passage: tuple[Document, int, int], start: int, end: int, where: str
) -> tuple[Document, int, int]:
    """A range that counts from the beginning of a passage; raises LabelError if it is not within it."""
    document, first, last = passage
    if not 0 <= start < end <= last - first:
        raise LabelError(f"{where}: {start}-{end} is not a range of the passage. Correct it.")
    return document, first + start, first + end


def offset(value: object, where: str) -> int:
    """An offset as a tool writes it, perhaps as 5.0; raises LabelError for anything else."""
    found = whole_number(where, "start or end", str(value), 0)
    if found is None:
        raise LabelError(f"{where}: start or end is empty. Fill it.")
    return found


@contextmanager
def exported(where: str, tool: str) -> Iterator[None]:
    """Raise LabelError in place of what happens to a record that is not as a tool exports it."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        lacks = f" (it lacks {error})" if isinstance(error, KeyError) else ""
        raise LabelError(f"{where}: it is not as {tool} exports it{lacks}. Export it again.") from error


def resolve_passage(
    documents: Mapping[str, Document], name: object, start: object, end: object, text: object, where: str
) -> tuple[Document, int, int]:
    """The passage that another tool means; raises LabelError if its document or text differs.

    ``text`` None: the tool says nothing of the text.
    """
    document = documents.get(str(name))
    if document is None:
        raise LabelError(f"{where}: there is no document {name!r}. Name the documents with --documents.")
    span = valid_range(document, offset(start, where), offset(end, where), where)
    if text is not None and text != document.text[slice(*span[1:])]:
        raise LabelError(
            f"{where}: the text at {start}-{end} of {document.doc_id} differs. Name the documents that were "
            "labelled."
        )
    return span


def resolve_offsets(text: str, start: int, end: int, expected: str, where: str) -> tuple[int, int]:
    """The half-open range of ``text`` that another tool means; ``expected`` is what it says is there.

    Tools count the end as the last character or as the one behind it, and in characters or in UTF-16 units.
    Whichever gives the text that they show is meant; without that text, half-open ranges of characters are.
    Raises LabelError if none gives it.
    """
    if not expected:
        return start, end
    for first, last in ((start, end), (start, end + 1)):
        if text[first:last] == expected:
            return first, last
    units = text.encode("utf-16-le", "surrogatepass")
    for last in (end, end + 1):
        before = units[: 2 * start].decode("utf-16-le", "replace")
        inside = units[2 * start : 2 * last].decode("utf-16-le", "replace")
        if inside == expected:
            return len(before), len(before) + len(inside)
    raise LabelError(
        f"{where}: the text at {start}-{end} is {text[start:end][:60]!r}, not {expected[:60]!r}. The text "
        "differs from the one that was labelled. Name that one."
    )


def ask(questions: dict[str, TestQuestion], one: TestQuestion, where: str) -> None:
    """Add a question that is not known; raises LabelError if its id stands for another text.

    White space does not make another text: tools and people add blanks.
    """
    if questions.setdefault(one.query_id, one).text.split() != one.text.split():
        raise LabelError(f"{where}: question {one.query_id!r} has another text above. Give each its own id.")


def grade_from(value: object, where: str) -> int:
    """A grade from 0 to 4, however it is written; raises LabelError for anything else."""
    try:
        grade = int(str(value).strip().split()[0])
    except (ValueError, IndexError):
        grade = -1
    if not 0 <= grade <= 4:
        raise LabelError(f"{where}: the grade is {value!r}, not a whole number from 0 to 4. Correct it.")
    return grade


def question_in(query_id: str, data: Mapping[str, Any]) -> TestQuestion:
    """The question that an annotated passage is of, from what was exported with it."""
    answer = str(data.get("answer") or "")
    by = "as imported" if answer else ""
    answerable = str(data.get("answerable", "yes")) != "no"
    return TestQuestion(query_id, str(data["question"]), str(data.get("type") or ""), answerable, answer, by)
