"""The sheet in which people grade: a row per passage, written for a spreadsheet and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data import Row, is_same_text, possible_ids, suggestion, whole_number
from harness.labels.labelling.passages import PassageToGrade
from harness.labels.labelling.rows import spreadsheet_safe
from harness.store import write_bytes, write_text
from harness.values import ConfigError, Document, LabelError

COLUMNS = (
    "query_id",
    "question",
    "document",
    "page",
    "start",
    "end",
    "above",
    "passage",
    "grade",
    "evidence",
    "settings",
    "best_rank",
)
_WIDTHS = {"question": 40, "passage": 90, "above": 30, "document": 24}
# a cell of Excel holds 32,767 characters
_LONGEST = 30_000
_CUT = " […]"


def sheet_rows(wanted: Sequence[PassageToGrade], questions: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a sheet, their grades empty."""
    return [
        {
            **one.row(),
            "question": questions.get(one.query_id, ""),
            "above": one.above,
            "passage": one.text,
            "grade": "",
            "evidence": "",
            "settings": len(one.ranks),
            "best_rank": one.best_rank,
        }
        for one in wanted
    ]


def is_passage(cell: str, text: str) -> bool:
    """Whether a cell of a sheet holds a passage, which may have been cut for its length."""
    if len(cell) >= _LONGEST and cell.endswith(_CUT):
        return is_same_text(cell.removesuffix(_CUT).removeprefix("'"), text[: _LONGEST - len(_CUT)])
    return is_same_text(cell, text)


def read_passage(
    where: str,
    raw: Row,
    documents: Mapping[str, Document],
    columns: tuple[str, str] = ("document", "passage"),
    **more: Any,
) -> PassageToGrade:
    """The passage of a row, by the columns of its document and its text; ``more`` are further fields.

    Raises LabelError if it is not there.
    """
    name, passage = (raw.get(column) for column in columns)
    document = next((documents[one] for one in possible_ids(name) if one in documents), None)
    if document is None:
        raise LabelError(
            f"{where}: there is no document {name!r}{suggestion(name, documents)}. Correct the name, or "
            "add its file to the documents."
        )
    start = whole_number(where, "start", raw.get("start"), 0)
    end = whole_number(where, "end", raw.get("end"), 1)
    if start is None or end is None or not start < end <= len(document.text):
        raise LabelError(
            f"{where}: start and end are not a range of the text of {document.doc_id}, which has "
            f"{len(document.text)} characters. Leave them as they were written."
        )
    if not is_passage(passage, document.text[start:end]):
        raise LabelError(
            f"{where}: the passage is not at {start}-{end} of {document.doc_id}. Leave it as it was "
            "written; where the document has changed, or was read by another parser, make the file again."
        )
    return PassageToGrade.of(document, raw.get("query_id"), start, end, **more)


def write_sheet(path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> None:
    """Write rows as .xlsx, or as .csv that Excel reads as UTF-8; raises ConfigError for other endings."""
    if path.suffix.lower() == ".xlsx":
        write_bytes(path, _workbook(rows, columns))
    elif path.suffix.lower() == ".csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows([spreadsheet_safe(_cut(row[name])) for name in columns] for row in rows)
        write_text(path, "\ufeff" + out.getvalue())
    else:
        raise ConfigError(f"{path}: a sheet is a .xlsx or a .csv file. Give it one of these endings.")


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        return value[: _LONGEST - len(_CUT)] + _CUT
    return value


def _workbook(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet.datavalidation import DataValidation
    except ImportError as error:
        raise ConfigError(
            "writing .xlsx needs openpyxl: pip install 'ndcg-harness[xlsx]'; or write .csv."
        ) from error
    book = Workbook()
    sheet = book.active
    sheet.title = "to grade"
    sheet.append(tuple(columns))
    for row in rows:
        sheet.append([spreadsheet_safe(_cut(row[name])) for name in columns])
    grades = DataValidation(type="whole", operator="between", formula1="0", formula2="4", allow_blank=True)
    grades.error = "A grade is a whole number from 0 to 4."
    if columns == COLUMNS:
        # sheets of `harness labels`; those of others have columns of their own and know no skip
        grades = DataValidation(type="list", formula1='"0,1,2,3,4,skip"', allow_blank=True)
        grades.error = "A grade is a whole number from 0 to 4, or the word skip."
    sheet.add_data_validation(grades)
    for number, name in enumerate(columns, 1):
        letter = get_column_letter(number)
        sheet.column_dimensions[letter].width = _WIDTHS.get(name, 11)
        sheet[f"{letter}1"].font = Font(bold=True)
        if name == "grade":
            grades.add(f"{letter}2:{letter}{len(rows) + 1}")
    for line in sheet.iter_rows(min_row=2):
        for one in line:
            one.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
