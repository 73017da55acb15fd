"""FinanceBench (Islam et al. 2023, arXiv 2311.11944): questions on company filings, evidence as quotes.

A passage that answers its question alone gets grade 4. Where a question has several evidence passages, each
is needed and none answers alone, so each gets grade 3. They are different facts, hence no evidence name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
from harness.data.corpus.table import InputTable, Row, read_table, whole_number
from harness.values import CorpusError

_ANSWERS_ALONE = 4
_ANSWERS_IN_PART = 3
# as people write them in questions
_FORMS = {"10k": "10-K", "10q": "10-Q", "8k": "8-K", "earnings": "earnings release"}
_README = """# FinanceBench

Written by `harness import financebench`. Questions, answers and evidence: FinanceBench by Patronus AI (Islam
et al. 2023, arXiv 2311.11944), whose dataset card states CC BY-NC 4.0: research and evaluation only, not for
use inside a product. The PDFs are filings published by the companies.

- `queries.csv`: the question as text; type and reasoning as the collection names them; note is what the
  collection says to justify the answer.
- `documents.csv`: company, sector, form and period of each filing, where the collection says so.
- `labels.csv`: page (1-based, of the PDF file) and verbatim quote. Grade 4 where the passage is the only
  evidence of its question, 3 where a question has several, for then none of them answers it alone.
"""


def import_financebench(source: Path, target: Path) -> ImportSummary:
    """Turn ``documents.csv``, ``questions.csv``, ``evidence.csv`` and ``pdfs/`` into a corpus folder."""
    documents_csv, questions_csv, evidence_csv, pdfs = source_files(
        source, ("documents.csv", "questions.csv", "evidence.csv", "pdfs"), "financebench"
    )
    documents = read_table(documents_csv, ("document",), CorpusError)
    questions = read_table(questions_csv, ("query_id", "document", "question", "answer"), CorpusError)
    evidence = read_table(evidence_csv, ("query_id", "document", "page", "evidence_text"), CorpusError)
    facts: dict[str, Row] = {}
    for row in documents.rows:
        where = f"{documents_csv}, line {row.line}"
        if facts.setdefault(plain_name(row.get("document"), where), row) is not row:
            raise CorpusError(f"{where}: {row.get('document')} is listed twice. Keep one row.")
    _check_references(documents, questions, evidence)
    with new_corpus_folder(target) as folder:
        (folder / "pdfs").mkdir()
        for name in facts:
            pdf = pdfs / f"{name}.pdf"
            if not pdf.is_file():
                raise CorpusError(f"{pdf} is missing, though {documents_csv.name} lists it. Fetch it again.")
            link_or_copy(pdf, folder / "pdfs" / pdf.name)
        queries = write_csv(
            folder / "queries.csv",
            ("query_id", "text", "answer", "type", "reasoning", "document", "doc_type", "note"),
            [_query(row, facts) for row in questions.rows],
        )
        labels = write_csv(
            folder / "labels.csv",
            ("query_id", "document", "page", "quote", "grade", "note"),
            _labels(evidence.rows),
        )
        write_csv(
            folder / "documents.csv",
            ("document", "company", "sector", "form", "period"),
            [_document(row) for row in documents.rows],
        )
        write_text(folder / "README.md", _README)
    return ImportSummary(target, len(facts), queries, labels, _notes(questions, evidence))


def _check_references(documents: InputTable, questions: InputTable, evidence: InputTable) -> None:
    known = {row.get("document") for row in documents.rows}
    asked = questions_of(questions)
    for table in (questions, evidence):
        for row in table.rows:
            if row.get("document") not in known:
                raise CorpusError(
                    f"{table.path}, line {row.line}: {documents.path.name} has no {row.get('document')!r}. "
                    "Correct one of the two."
                )
    for row in evidence.rows:
        if row.get("query_id") not in asked:
            raise CorpusError(
                f"{evidence.path}, line {row.line}: {questions.path.name} has no {row.get('query_id')!r}. "
                "Correct one of the two."
            )
        where = f"{evidence.path}, line {row.line}"
        if whole_number(where, "page", row.get("page"), 1, CorpusError) is None:
            raise CorpusError(f"{where}: page is empty. Fill it.")


def _document(row: Row) -> tuple[str, ...]:
    name, company, sector, form, period = map(
        row.get, ("document", "company", "sector", "doc_type", "period")
    )
    return name, company, sector, _FORMS.get(form.lower(), form), period


def _query(row: Row, facts: Mapping[str, Row]) -> tuple[str, ...]:
    own = ("query_id", "question", "answer", "question_type", "question_reasoning", "document")
    form = facts[row.get("document")].get("doc_type")
    return (*map(row.get, own), form, row.get("justification"))


def _labels(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    passages = Counter(row.get("query_id") for row in rows)
    return [
        (
            *map(row.get, ("query_id", "document", "page", "evidence_text")),
            _ANSWERS_ALONE if count == 1 else _ANSWERS_IN_PART,
            "" if count == 1 else f"one of {count} passages",
        )
        for row in rows
        for count in [passages[row.get("query_id")]]
    ]


def _notes(questions: InputTable, evidence: InputTable) -> tuple[str, ...]:
    passages = Counter(row.get("query_id") for row in evidence.rows)
    several = sum(count > 1 for count in passages.values())
    notes = [f"Questions with several evidence passages, each graded {_ANSWERS_IN_PART}: {several}."]
    without = sum(row.get("query_id") not in passages for row in questions.rows)
    if without:
        notes.append(f"Questions without an evidence passage, so without a label: {without}.")
    return tuple(notes)
