"""Known collections become corpus folders: documents, queries.csv, labels.csv and a README."""

from __future__ import annotations

from collections.abc import Callable

from harness.data.corpus.importers.beir import import_beir
from harness.data.corpus.importers.chunking_eval import import_chunking_eval
from harness.data.corpus.importers.financebench import import_financebench
from harness.data.corpus.importers.folder import ImportSummary

IMPORTERS: dict[str, Callable[..., ImportSummary]] = {
    "beir": import_beir,
    "chunking_eval": import_chunking_eval,
    "financebench": import_financebench,
}
"""By the name of a collection format, ``(source, target, **options)``."""
