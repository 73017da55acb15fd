"""Known collections become corpus folders: documents, queries.csv, labels.csv and a README."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.corpus.importers.beir import import_beir
from harness.corpus.importers.chunking_eval import import_chunking_eval
from harness.corpus.importers.financebench import import_financebench
from harness.corpus.importers.folder import ImportSummary


@dataclass(frozen=True, slots=True)
class Importer:
    """One collection format: a line of description and ``run(source, target, **options)``."""

    description: str
    run: Callable[..., ImportSummary]


IMPORTERS: dict[str, Importer] = {
    "beir": Importer(
        "A BEIR folder (corpus.jsonl, queries.jsonl, qrels as TSV), for example Cranfield.", import_beir
    ),
    "chunking_eval": Importer(
        "Texts and spans.csv with exact offsets, as in Chroma's Evaluating Chunking.", import_chunking_eval
    ),
    "financebench": Importer(
        "FinanceBench: company filings as PDF, questions, evidence by page and quote.", import_financebench
    ),
}
