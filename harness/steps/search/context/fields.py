"""Before every chunk the table's fields of its document, such as company and year."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, field_validator

from harness.steps.search.context import ContextText, Contextualizer, line
from harness.steps.search.needs import Cells
from harness.steps.search.passages import ContextConfig
from harness.steps.search.step import TableConfig
from harness.steps.search.tools import Sources
from harness.values import Chunk, Run

_PLACE = re.compile(r"\{([^{}]+)\}")


class FieldsConfig(TableConfig, ContextConfig):
    """A line made of the columns of a table of documents."""

    otherwise = "on_missing: leave_out in this context"
    kind: Literal["fields"] = "fields"
    template: str = Field(description="The line, each column in braces, such as `{company} {form} {period}`.")
    on_missing: Literal["fail", "leave_out"] = Field(
        "fail",
        description="A document without a row, or with an empty cell: `fail` lists them, `leave_out` gives "
        "their chunks no line.",
    )

    @field_validator("template")
    @classmethod
    def _names_a_column(cls, text: str) -> str:
        if not _PLACE.search(text):
            raise ValueError("the template names no column; put one in braces, such as {company}")
        return text

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the template names, each once."""
        return tuple(dict.fromkeys(_PLACE.findall(self.template)))


class FieldsContext(Contextualizer[FieldsConfig]):
    """Fills the template from the row of the document."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> Run[list[ContextText]]:
        """The line of its document, for each chunk; raises ConfigError for documents without one."""
        c = self.config
        documents = dict.fromkeys(chunk.doc_id for chunk in chunks)
        rows = yield Cells(c.file, c.key, c.columns, documents)
        empty = {
            doc_id: [column for column in c.columns if not rows.get(doc_id, {}).get(column)]
            for doc_id in documents
        }
        gaps = {doc_id: columns for doc_id, columns in empty.items() if columns}
        if gaps and c.on_missing == "fail":
            raise c.has_gaps(gaps, rows, len(documents))
        lines = {
            doc_id: line(_filled(c.template, rows[doc_id])) for doc_id in documents if doc_id not in gaps
        }
        return [lines.get(chunk.doc_id, ContextText()) for chunk in chunks]


def _filled(template: str, row: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: row[place[1]], template)
