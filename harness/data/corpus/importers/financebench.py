"""FinanceBench (Islam et al. 2023, arXiv 2311.11944): questions on company filings, evidence as quotes.

A passage that answers its question alone gets grade 4. Where a question has several evidence passages, each
is needed and none answers alone, so each gets grade 3. They are different facts, hence no evidence name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
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
from harness.values import Column, CorpusError

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


@input_table("documents.csv", "the filings", CorpusError, key=("document",))
@dataclass(frozen=True, slots=True)
class FilingRow:
    """A filing, the PDF of which is in the folder."""

    document: DocumentName
    company: Annotated[str, Column("who filed it")] = ""
    sector: Annotated[str, Column("the sector of the company")] = ""
    doc_type: Annotated[str, Column("its form, such as 10k")] = ""
    period: Annotated[str, Column("the year or quarter")] = ""


@input_table("questions.csv", "the questions", CorpusError, key=("query_id",))
@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question on a filing."""

    query_id: QueryId
    question: Annotated[str, Column("the question", filled=True)]
    answer: Annotated[str, Column("its answer")]
    document: DocumentName
    question_type: Annotated[str, Column("its type")] = ""
    question_reasoning: Annotated[str, Column("what it asks for")] = ""
    justification: Annotated[str, Column("why the answer is right")] = ""


@input_table("evidence.csv", "the evidence", CorpusError)
@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A passage that answers a question, alone or with others."""

    query_id: QueryId
    document: DocumentName
    page: Annotated[int, Column("the page of the PDF file, from 1", least=1)]
    evidence_text: Annotated[str, Column("the passage")]


def import_financebench(source: Path, target: Path) -> ImportSummary:
    """Turn ``documents.csv``, ``questions.csv``, ``evidence.csv`` and ``pdfs/`` into a corpus folder."""
    documents_csv, questions_csv, evidence_csv, pdfs = source_files(
        source, ("documents.csv", "questions.csv", "evidence.csv", "pdfs"), "financebench"
    )
    filings = {row.document: row for row in read_rows(documents_csv, FilingRow)}

    def known(row: QuestionRow) -> str:
        return _unless_known(row.document, filings, documents_csv)

    questions = read_rows(questions_csv, QuestionRow, fault=known)
    asked = {row.query_id for row in questions}

    def fits(row: EvidenceRow) -> str:
        return _unless_known(row.document, filings, documents_csv) or _unless_known(
            row.query_id, asked, questions_csv
        )

    evidence = read_rows(evidence_csv, EvidenceRow, fault=fits)
    passages = Counter(row.query_id for row in evidence)
    with new_corpus_folder(target) as folder:
        (folder / "pdfs").mkdir()
        for name in filings:
            pdf = pdfs / f"{name}.pdf"
            if not pdf.is_file():
                raise CorpusError(f"{pdf} is missing, though {documents_csv.name} lists it. Fetch it again.")
            link_or_copy(pdf, folder / "pdfs" / pdf.name)
        queries = write_csv(
            folder / "queries.csv",
            ("query_id", "text", "answer", "type", "reasoning", "document", "doc_type", "note"),
            [
                (
                    *(row.query_id, row.question, row.answer, row.question_type, row.question_reasoning),
                    *(row.document, filings[row.document].doc_type, row.justification),
                )
                for row in questions
            ],
        )
        labels = write_csv(
            folder / "labels.csv",
            ("query_id", "document", "page", "quote", "grade", "note"),
            [
                (
                    *(row.query_id, row.document, row.page, row.evidence_text),
                    _ANSWERS_ALONE if count == 1 else _ANSWERS_IN_PART,
                    "" if count == 1 else f"one of {count} passages",
                )
                for row in evidence
                for count in [passages[row.query_id]]
            ],
        )
        write_csv(
            folder / "documents.csv",
            ("document", "company", "sector", "form", "period"),
            [
                (name, row.company, row.sector, _FORMS.get(row.doc_type.lower(), row.doc_type), row.period)
                for name, row in filings.items()
            ],
        )
        write_text(folder / "README.md", _README)
    several = sum(count > 1 for count in passages.values())
    notes = [f"Questions with several evidence passages, each graded {_ANSWERS_IN_PART}: {several}."]
    if without := len(asked - passages.keys()):
        notes.append(f"Questions without an evidence passage, so without a label: {without}.")
    return ImportSummary(target, len(filings), queries, labels, tuple(notes))


def _unless_known(name: str, known: Collection[str], listed_in: Path) -> str:
    return "" if name in known else f"{listed_in.name} has no {name!r}. Correct one of the two."
