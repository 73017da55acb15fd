"""A pool file: the passages to grade as a table, such as `harness testset` gathers them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.data import FaultsOfRows, Note, Row, read_table
from harness.labels.label_page.items import Item, PageQuestion
from harness.labels.labelling.sheet import read_passage
from harness.values import Document, LabelError, finite

NEEDED = ("query_id", "question", "doc_id", "start", "end", "text")
# what the sheets of `harness labels` call them
_IN_SHEETS = {"doc_id": "document", "text": "passage"}


def read_pool(
    path: Path, documents: Mapping[str, Document], note: Note = lambda _: None
) -> tuple[list[PageQuestion], list[Item]]:
    """The questions and passages of a CSV, XLSX or JSONL file, in their order.

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
    questions: dict[str, PageQuestion] = {}
    items: dict[str, Item] = {}
    faults = FaultsOfRows(LabelError)
    for raw in table.rows:
        with faults.of_a_row():
            where = f"{path}, line {raw.line}"
            question, item = _row(where, raw, documents, names)
            known = questions.setdefault(question.query_id, question)
            if known.text != question.text:
                raise LabelError(
                    f"{where}: question {question.query_id!r} has another text above. Give it one text, or "
                    "two ids."
                )
            if item.item_id in items:
                raise LabelError(f"{where}: the question has the same passage further up. Keep one row.")
            items[item.item_id] = item
    faults.end()
    return list(questions.values()), list(items.values())


def _row(
    where: str, raw: Row, documents: Mapping[str, Document], names: Mapping[str, str]
) -> tuple[PageQuestion, Item]:
    for column in ("query_id", "question"):
        if not raw.get(column):
            raise LabelError(f"{where}: {column} is empty. Fill it.")
    document, start, end = read_passage(where, raw, documents, names["doc_id"], names["text"])
    query_id = raw.get("query_id")
    priority = _priority(where, raw.get("priority"))
    item = Item.of(document, query_id, start, end, above=raw.get("above"), priority=priority)
    return PageQuestion(query_id, raw.get("question")), item


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
