"""A pool file: the passages to grade as a table, such as `harness testset` gathers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.data import FaultsOfRows, Note, read_table
from harness.labels.labelling.passages import PassageToGrade
from harness.labels.labelling.sheet import read_passage
from harness.values import Document, LabelError, finite

NEEDED = ("query_id", "question", "doc_id", "start", "end", "text")
# what the sheets of `harness labels` call them
_IN_SHEETS = {"doc_id": "document", "text": "passage"}


def read_pool(
    path: Path, documents: Mapping[str, Document], note: Note = lambda _: None
) -> tuple[dict[str, str], list[PassageToGrade]]:
    """The questions by id and the passages of a CSV, XLSX or JSONL file, in their order.

    Columns: query_id, question, doc_id, start, end, text (compared with the document, white space aside);
    optional above (shown before the text), page (not read: the document says it) and priority (a number, the
    highest first). A sheet of `harness labels` is a pool file too. Raises LabelError that names all rows at
    fault.
    """
    table = read_table(path, (), LabelError, note)
    is_sheet = set(_IN_SHEETS.values()) <= set(table.columns)
    names = {one: _IN_SHEETS.get(one, one) if is_sheet else one for one in NEEDED}
    missing = [name for name in names.values() if name not in table.columns]
    if missing:
        raise LabelError(
            f"{path}: there is no column {missing[0]!r}. A pool file has the columns {', '.join(NEEDED)}. "
            "Add or rename one."
        )
    questions: dict[str, str] = {}
    items: dict[object, PassageToGrade] = {}
    faults = FaultsOfRows(LabelError)
    for raw in table.rows:
        with faults.of_a_row():
            where = f"{path}, line {raw.line}"
            for column in ("query_id", "question"):
                if not raw.get(column):
                    raise LabelError(f"{where}: {column} is empty. Fill it.")
            columns = names["doc_id"], names["text"]
            item = read_passage(where, raw, documents, columns, above=raw.get("above"))
            item = replace(item, priority=_priority(where, raw.get("priority")))
            if questions.setdefault(item.query_id, raw.get("question")) != raw.get("question"):
                raise LabelError(
                    f"{where}: question {item.query_id!r} has another text above. Give it one text, or two "
                    "ids."
                )
            if items.setdefault(item.key, item) is not item:
                raise LabelError(f"{where}: the question has the same passage further up. Keep one row.")
    faults.end()
    return questions, list(items.values())


def _priority(where: str, cell: str) -> float | None:
    if not cell:
        return None
    try:
        value = finite(float(cell))
    except ValueError:
        value = None
    if value is None:
        raise LabelError(f"{where}: priority is {cell!r}, not a number. Correct it, or leave it empty.")
    return value
