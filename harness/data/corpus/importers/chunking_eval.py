"""Texts and questions with exact character spans, as in Evaluating Chunking (Smith and Troynikov 2024).

Every span is graded 4. A question may have several; all of them together are its answer, so they carry no
common evidence name.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from harness.data.corpus.importers.folder import (
    DocumentName,
    ImportSummary,
    QueryId,
    link_or_copy,
    new_corpus_folder,
    source_files,
    write_csv,
    write_text,
)
from harness.data.corpus.inputs import input_table, read_rows
from harness.data.corpus.reading import read_utf8
from harness.values import Column, CorpusError

_GRADE = 4
_README = """# Chunking evaluation

Written by `harness import chunking_eval`. Texts, questions and spans: the chunking_evaluation repository by
Brandon Smith, MIT licence; the texts come from elsewhere and state no terms there. Questions were written by
a language model and filtered.

- `documents/*.md`: the texts, unchanged.
- `labels.csv`: start and end count characters (code points), end exclusive; every span is graded 4.
"""


@input_table(
    "spans.csv", "questions with exact spans", CorpusError, key=("query_id", "document", "start", "end")
)
@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span that answers a question; a question may have several."""

    query_id: QueryId
    document: DocumentName
    question: Annotated[str, Column("the question", filled=True)]
    start: Annotated[int, Column("the first character")]
    end: Annotated[int, Column("the end, exclusive")]
    text: Annotated[str, Column("the text there", verbatim=True, filled=True)]


def import_chunking_eval(source: Path, target: Path) -> ImportSummary:
    """Turn ``corpora/*.md`` and ``spans.csv`` into a corpus folder; every span is checked."""
    corpora, spans_csv = source_files(source, ("corpora", "spans.csv"), "chunking_eval")
    texts: dict[str, str] = {}
    questions: dict[str, SpanRow] = {}
    rows = read_rows(spans_csv, SpanRow, fault=partial(_fault, corpora, texts, questions))
    with new_corpus_folder(target) as folder:
        (folder / "documents").mkdir()
        for name in texts:
            link_or_copy(corpora / f"{name}.md", folder / "documents" / f"{name}.md")
        write_csv(
            folder / "queries.csv",
            ("query_id", "text", "document"),
            [(query_id, row.question, row.document) for query_id, row in questions.items()],
        )
        labels = write_csv(
            folder / "labels.csv",
            ("query_id", "document", "start", "end", "quote", "grade"),
            [(row.query_id, row.document, row.start, row.end, row.text, _GRADE) for row in rows],
        )
        write_text(folder / "README.md", _README)
    per_query = Counter(row.query_id for row in rows)
    several = sum(count > 1 for count in per_query.values())
    most = max(per_query.values())
    note = f"Questions with several spans, each graded {_GRADE}: {several} (up to {most} spans)."
    return ImportSummary(target, len(texts), len(questions), labels, (note,))


def _fault(corpora: Path, texts: dict[str, str], questions: dict[str, SpanRow], row: SpanRow) -> str:
    """Check a span; fills the ``texts`` by document and the first row of all ``questions``."""
    first = questions.setdefault(row.query_id, row)
    if first.question != row.question:
        return f"query_id {row.query_id!r} has another question above. Give each question its own id."
    if row.document not in texts:
        texts[row.document] = read_utf8(corpora / f"{row.document}.md").removeprefix("\ufeff")
    found = texts[row.document][row.start : row.end]
    if found == row.text:
        return ""
    return (
        f"the text at {row.start}-{row.end} of {row.document} is {found[:80]!r}. Offsets count characters, "
        "not bytes; check that the text file is unchanged."
    )
