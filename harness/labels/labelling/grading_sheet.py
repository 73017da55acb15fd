"""The sheet in which people grade, a row per passage; graded sheets → rows of a labels file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from harness import data, running
from harness.data import GivenPassage, input_table, is_same_text, possible_ids
from harness.labels.labelling.label_rows import holds_rows, spreadsheet_safe
from harness.labels.labelling.passages import PassageToGrade
from harness.steps import passage_id
from harness.store import write_bytes, write_text
from harness.values import Column, ConfigError, Document, LabelError, counted, suggestion

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
_WIDTHS = {"question": 40, "passage": 90, "above": 30, "document": 24, "contexts": 90, "answer": 60}
# a cell of Excel holds 32,767 characters
_LONGEST = 30_000
_CUT = " […]"
# passages with another grade that are named
_MOST = 10


def sheet_rows(wanted: Sequence[PassageToGrade], questions: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a sheet, their grades empty."""
    return [
        {
            **passage.row(),
            "question": questions.get(passage.query_id, ""),
            "above": passage.above,
            "passage": passage.text,
            "grade": "",
            "evidence": "",
            "settings": len(passage.ranks),
            "best_rank": passage.best_rank,
        }
        for passage in wanted
    ]


def is_passage(cell: str, text: str) -> bool:
    """Whether a cell of a sheet holds a passage, which may have been cut for its length."""
    if len(cell) >= _LONGEST and cell.endswith(_CUT):
        return is_same_text(cell.removesuffix(_CUT).removeprefix("'"), text[: _LONGEST - len(_CUT)])
    return is_same_text(cell, text)


def _not_read(cell: str) -> None:
    """Ignore a cell that repeats what the document says."""


@input_table("passages to grade", "pools of the labelling page", LabelError)
@dataclass(frozen=True, slots=True, kw_only=True)
class UngradedRow(GivenPassage):
    """A passage of a sheet, or of a pool such as `harness testset` gathers."""

    document: Annotated[str, Column("the document", names=("doc_id",))]
    start: Annotated[int, Column("the first character in the extracted text, from 0")]
    end: Annotated[int, Column("the end, exclusive", least=1)]
    page: Annotated[int | None, Column("not read: the document says it", read=_not_read)] = None
    passage: Annotated[str, Column("its text, compared with the document, spaces aside", names=("text",))]
    question: Annotated[str, Column("the question")] = ""
    above: Annotated[str, Column("shown before the text, such as the heading of its table")] = ""
    priority: Annotated[float | None, Column("orders passages, the highest first")] = None

    def placed(self, documents: Mapping[str, Document]) -> PassageToGrade:
        """The passage in its document; raises LabelError if it is not there."""
        name = self.document
        document = next((documents[doc_id] for doc_id in possible_ids(name) if doc_id in documents), None)
        if document is None:
            raise LabelError(
                f"{self.where}: there is no document {name!r}{suggestion(name, documents)}. Correct the "
                "name, or add its file to the documents."
            )
        if self.end > len(document.text):
            raise LabelError(
                f"{self.where}: start and end are not a range of the text of {document.doc_id}, which has "
                f"{counted(len(document.text), 'character')}. Leave them as they were written."
            )
        if not is_passage(self.passage, document.text[self.start : self.end]):
            raise LabelError(
                f"{self.where}: the passage is not at {self.start}-{self.end} of {document.doc_id}. Leave it "
                "as it was written; where the document has changed, or was read by another parser, make the "
                "file again."
            )
        more = {"above": self.above, "priority": self.priority}
        return PassageToGrade.of(document, self.query_id, self.start, self.end, **more)


def write_sheet(
    path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS, title: str = "to grade"
) -> None:
    """Write rows as .xlsx, or as .csv that Excel reads as UTF-8; raises ConfigError for other endings.

    A workbook has the ``title`` on its sheet.
    """
    if path.suffix.lower() == ".xlsx":
        write_bytes(path, _workbook(rows, columns, title))
    elif path.suffix.lower() == ".csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows([spreadsheet_safe(_cut(row[name])) for name in columns] for row in rows)
        write_text(path, "\ufeff" + out.getvalue())
    else:
        raise ConfigError(f"{path}: a sheet is a .xlsx or a .csv file. Give it one of these endings.")


def sheet_name(stem: str) -> str:
    """The file to suggest for a sheet: a workbook, or .csv where the package that writes one is missing."""
    return f"{stem}.csv" if find_spec("openpyxl") is None else f"{stem}.xlsx"


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        return value[: _LONGEST - len(_CUT)] + _CUT
    return value


def _workbook(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], title: str) -> bytes:
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
    sheet.title = title
    sheet.append(tuple(columns))
    for row in rows:
        sheet.append([spreadsheet_safe(_cut(row[name])) for name in columns])
    grades = DataValidation(type="whole", operator="between", formula1="0", formula2="4", allow_blank=True)
    grades.error = "A grade is a whole number from 0 to 4."
    sheet.add_data_validation(grades)
    for number, name in enumerate(columns, 1):
        letter = get_column_letter(number)
        sheet.column_dimensions[letter].width = _WIDTHS.get(name, 11)
        sheet[f"{letter}1"].font = Font(bold=True)
        if name == "grade":
            grades.add(f"{letter}2:{letter}{len(rows) + 1}")
    for line in sheet.iter_rows(min_row=2):
        for cell in line:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


Key = tuple[str, str, int, int]


@data.input_table("sheets", "grades of passages", LabelError)
@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow(UngradedRow):
    """A passage with the grade that a person gave it."""

    grade: Annotated[str, Column("0 to 4; empty: not graded")]
    evidence: Annotated[str, Column("passages of a query that share a name are copies of one fact")] = ""
    note: Annotated[str, Column("anything")] = ""


def graded_rows(
    sheet: Path, documents: Mapping[str, Document], query_ids: Sequence[str], note: data.Note
) -> tuple[list[dict[str, Any]], int]:
    """The rows of a sheet that have a grade, each passage once, as rows of labels; and how many have none.

    Raises LabelError that names all lines at fault: a passage that is not at its offsets, an unknown query or
    document, an invalid grade, two grades for a passage.
    """
    rows: list[dict[str, Any]] = []
    first_grades: dict[Key, tuple[int, int]] = {}

    def fault(row: SheetRow) -> str:
        if not row.grade:
            return ""
        if row.query_id not in query_ids:
            near = suggestion(row.query_id, query_ids)
            return f"there is no query {row.query_id!r}{near}. Correct the id."
        passage = row.placed(documents)
        grade = data.grade_of(row.where, row.grade)
        before, line = first_grades.setdefault(passage.key, (grade, row.line))
        if before != grade:
            return f"the passage has grade {before} on line {line}, and {grade} here. Keep one."
        if line == row.line:
            rows.append({**passage.row(), "grade": grade, "evidence": row.evidence, "note": row.note})
        return ""

    read = data.read_rows(sheet, SheetRow, note, fault)
    return rows, sum(not row.grade for row in read)


def new_rows(
    rows: Sequence[Mapping[str, Any]],
    labels: Path,
    documents: Mapping[str, Document],
    config: running.BenchConfig,
    note: data.Note,
) -> list[Mapping[str, Any]]:
    """The rows that a labels file does not have yet; all of them where it is not there.

    ``config`` is the benchmark of the ``documents``. Raises LabelError that names those whose passage has
    another grade there: only people can say which of the two is right.
    """
    if not holds_rows(labels):
        return list(rows)
    listed = config.anchor.model_copy(update={"on_unanchored": "list"})
    if running.takes_passages(config):
        read = data.with_passages_named(data.read_passage_labels(labels, note), documents, passage_id)
    else:
        read = tuple(data.read_labels(labels, note))
    there = [row for row in read if any(name in documents for name in data.possible_ids(row.document))]
    result = data.anchor(there, documents, listed)
    lines = (at.row.line for at in result.anchorings if at.accepted)
    graded = {
        judgment.key: (judgment.grade, line) for line, judgment in zip(lines, result.judgments, strict=True)
    }
    fresh, differ = [], []
    for row in rows:
        key = (row["query_id"], row["document"], row["start"], row["end"])
        if key not in graded:
            fresh.append(row)
        elif (existing := graded[key])[0] != row["grade"]:
            differ.append(
                f"  line {existing[1]} says {existing[0]}, not {row['grade']}: {':'.join(map(str, key))}"
            )
    if differ:
        more = [f"  and {len(differ) - _MOST} more"] if len(differ) > _MOST else []
        raise LabelError(
            f"Some passages have another grade in {labels}. Remove or correct those rows there, then do this "
            "again; nothing was added:\n" + "\n".join([*differ[:_MOST], *more])
        )
    return fresh
