"""Before every chunk the table's fields of its document, such as company and year."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, field_validator

from harness.steps.search.context import ContextConfig, ContextText, Contextualizer, line
from harness.steps.search.step import TableConfig
from harness.steps.search.tools import Sources
from harness.values import Chunk, ConfigError

_PLACE = re.compile(r"\{([^{}]+)\}")


class FieldsConfig(TableConfig, ContextConfig):
    """A line made of the columns of a table of documents."""

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

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[ContextText]:
        """The line of its document, for each chunk; raises ConfigError for documents without one."""
        c = self.config
        documents = dict.fromkeys(chunk.doc_id for chunk in chunks)
        rows = sources.facts(c.file, c.key, c.columns, documents)
        lines, missing = {}, []
        for doc_id in documents:
            row = rows.get(doc_id, {})
            empty = [column for column in c.columns if not row.get(column)]
            if empty:
                missing.append(f"{doc_id} ({', '.join(empty)})" if row else doc_id)
                lines[doc_id] = ContextText()
            else:
                lines[doc_id] = line(_filled(c.template, row))
        if missing and c.on_missing == "fail":
            raise ConfigError(
                f"{c.file}: a row or value is missing for {len(missing)} of {len(lines)} documents: "
                f"{'; '.join(missing)}. Add them, or set on_missing: leave_out in this context."
            )
        return [lines[chunk.doc_id] for chunk in chunks]


def _filled(template: str, row: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: row[place[1]], template)
