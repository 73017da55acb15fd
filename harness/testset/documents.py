"""The documents of a test set: read once, and the same ones from the first step to the last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.errors import CorpusError
from harness.running.context import Context
from harness.running.corpus import load_documents
from harness.testset.rows import DocumentRow
from harness.testset.state import State
from harness.types import Document


def documents_of(state: State, context: Context) -> dict[str, Document]:
    """The documents by id; raises CorpusError where one is not what it was when the test set was begun.

    Offsets of questions, passages and grades hold for the text they were made of, and for no other.
    """
    documents = {one.doc_id: one for one in load_documents(state.config.bench(state.folder), context)}
    for row in state.rows(DocumentRow):
        now = documents.get(row.doc_id)
        if now is None or now.sha256 != row.sha256:
            what = "is missing" if now is None else "has changed"
            raise CorpusError(
                f"{row.doc_id} {what} since {state.path(DocumentRow)} was written, so offsets would not "
                "hold. Put the document back, or begin anew: harness init with another --out."
            )
    return documents


def document_rows(state: State, documents: Iterable[Document]) -> dict[type[Any], list[DocumentRow]]:
    """The table that later steps compare the documents with; none where it has been written."""
    rows = [
        DocumentRow(one.doc_id, one.sha256, len(one.text), len(one.page_starts))
        for one in sorted(documents, key=lambda one: one.doc_id)
    ]
    return {} if state.has(DocumentRow) else {DocumentRow: rows}
