"""Texts and questions with exact character spans, as in Evaluating Chunking (Smith and Troynikov 2024).

Every span is graded 4. A question may have several; all of them together are its answer, so they carry no
common evidence name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from harness.data.corpus.importers.folder import (
    ImportSummary,
    link_or_copy,
    new_corpus_folder,
    plain_name,
    questions_of,
    source_files,
    write_csv,
    write_text,
)
from harness.data.corpus.reading import read_utf8
from harness.data.corpus.table import Row, read_table
from harness.values import CorpusError

_GRADE = 4
_README = """# Chunking evaluation

Written by `harness import chunking_eval`. Texts, questions and spans: the chunking_evaluation repository by
Brandon Smith, MIT licence; the texts come from elsewhere and state no terms there. Questions were written by
a language model and filtered.

- `documents/*.md`: the texts, unchanged.
- `labels.csv`: start and end count characters (code points), end exclusive; every span is graded 4.
"""


def import_chunking_eval(source: Path, target: Path) -> ImportSummary:
    """Turn ``corpora/*.md`` and ``spans.csv`` into a corpus folder; every span is checked."""
    corpora, spans_csv = source_files(source, ("corpora", "spans.csv"), "chunking_eval")
    columns = ("query_id", "document", "question", "start", "end", "text")
    table = read_table(spans_csv, columns, CorpusError)
    rows, questions = table.rows, questions_of(table, repeated=True)
    names = sorted({plain_name(row.get("document"), f"{spans_csv}, line {row.line}") for row in rows})
    texts = {name: read_utf8(corpora / f"{name}.md").removeprefix("\ufeff") for name in names}
    seen: dict[tuple[str, ...], int] = {}
    for row in rows:
        _check_span(spans_csv, row, texts)
        first = seen.setdefault(tuple(map(row.get, ("query_id", "document", "start", "end"))), row.line)
        if first != row.line:
            raise CorpusError(f"{spans_csv}, line {row.line}: the same span as line {first}. Keep one.")
    with new_corpus_folder(target) as folder:
        (folder / "documents").mkdir()
        for name in names:
            link_or_copy(corpora / f"{name}.md", folder / "documents" / f"{name}.md")
        write_csv(
            folder / "queries.csv",
            ("query_id", "text", "document"),
            [(query_id, row.get("question"), row.get("document")) for query_id, row in questions.items()],
        )
        labels = write_csv(
            folder / "labels.csv",
            ("query_id", "document", "start", "end", "quote", "grade"),
            [
                (*(row.cells[name] for name in ("query_id", "document", "start", "end", "text")), _GRADE)
                for row in rows
            ],
        )
        write_text(folder / "README.md", _README)
    per_query = Counter(row.get("query_id") for row in rows)
    several = sum(count > 1 for count in per_query.values())
    most = max(per_query.values())
    note = f"Questions with several spans, each graded {_GRADE}: {several} (up to {most} spans)."
    return ImportSummary(target, len(names), len(questions), labels, (note,))


def _check_span(path: Path, row: Row, texts: Mapping[str, str]) -> None:
    where = f"{path}, line {row.line}"
    start, end = row.get("start"), row.get("end")
    if not (start.isdecimal() and end.isdecimal()):
        raise CorpusError(f"{where}: start {start!r} and end {end!r} must be integers. Correct them.")
    found = texts[row.get("document")][int(start) : int(end)]
    if not found or found != row.cells["text"]:
        raise CorpusError(
            f"{where}: the text at {start}-{end} of {row.get('document')} is {found[:80]!r}. "
            "Offsets count characters, not bytes; check that the text file is unchanged."
        )
