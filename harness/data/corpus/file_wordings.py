"""What is said of the files that people give: each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "table.mark": "{file}: read with {mark} between the columns.",
    "table.sheet": "{file}: read from the sheet {sheet}.",
    "table.sheets.one": "{file}: read from the sheet {sheet}; 1 more is left out.",
    "table.sheets": "{file}: read from the sheet {sheet}; {count} more are left out.",
    "table.utf16": "{file}: read as UTF-16.",
    "table.windows": "{file}: not UTF-8; read as Windows-1252. Save it as CSV UTF-8 if letters look wrong.",
    "table.empty columns": "{file}: empty columns at the end are left out.",
    "table.empty rows.one": "{file}: 1 empty row left out.",
    "table.empty rows": "{file}: {count} empty rows left out.",
    "labels.unread": (
        "{file}: the column {column} is not read, so labels with a page and no offsets grade the whole page. "
        "Rename it to 'quote' if it has texts of passages."
    ),
    "documents.others": (
        "Not read as documents, because the configuration names them for something else: {files}."
    ),
    "documents.beside": ("{file} is document {document}, as it would be alone; beside it there is {others}."),
}
