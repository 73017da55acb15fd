"""Shared by formats: names of passages, ranges of documents, grades."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.data import possible_ids
from harness.labels.testset.rows import Place
from harness.values import MAX_GRADE, Document, Judgment, LabelError

_PASSAGE = re.compile(r"(?P<document>.+):(?P<start>\d+)-(?P<end>\d+)")


def passage_id(label: Judgment) -> str:
    """A passage as one name: document, start, end (excluded)."""
    return f"{label.doc_id}:{label.start}-{label.end}"


def place_of(name: str, documents: Mapping[str, Document], where: str) -> Place:
    """The range that a name means: a passage, or a whole document; raises LabelError for neither."""
    found = _PASSAGE.fullmatch(name)
    if found and found["document"] in documents:
        document, start, end = documents[found["document"]], int(found["start"]), int(found["end"])
        if not 0 <= start < end <= len(document.text):
            raise LabelError(
                f"{where}: {start}-{end} is not a range of {document.doc_id}, which has {len(document.text)} "
                "characters. Name the documents that were labelled."
            )
        return Place(document, start, end)
    whole = next((documents[one] for one in possible_ids(name) if one in documents), None)
    if whole is None:
        raise LabelError(
            f"{where}: {name!r} is neither a document nor a passage such as report:120-480. Name the "
            "documents with --documents."
        )
    return Place(whole, 0, len(whole.text))


def grade_from(value: object, where: str) -> int:
    """A grade from 0 to 4, however it is written; raises LabelError for anything else."""
    try:
        grade = int(str(value).strip().split()[0])
    except (ValueError, IndexError):
        grade = -1
    if not 0 <= grade <= MAX_GRADE:
        raise LabelError(f"{where}: the grade is {value!r}, not a whole number from 0 to 4. Correct it.")
    return grade
