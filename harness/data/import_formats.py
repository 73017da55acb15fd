"""The tables of what `harness import` turns into a corpus folder; its help is made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.values import At, OpenTable


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format: what it is, in a line, and what reads it.

    ``read(source, target, **options)`` writes the corpus folder ``target`` and returns an ``ImportSummary``;
    it raises CorpusError where the source cannot be read. ``options`` are those of the command that it takes.
    ``answered``: the corpus has the answers of another pipeline.
    """

    about: str
    read: Callable[..., Any]
    options: tuple[str, ...] = ()
    answered: bool = False


_IMPORTERS = "harness.data.corpus.importers"
_COLLECTION = "harness.data.external.collection"

IMPORTS: OpenTable[ImportFormat] = OpenTable(
    "import",
    ImportFormat,
    {
        "beir": ImportFormat(
            "a folder of BEIR: corpus.jsonl, queries.jsonl, qrels/",
            At(f"{_IMPORTERS}.beir", "import_beir"),
            options=("qrels",),
        ),
        "chunking_eval": ImportFormat(
            "the data of Chroma's chunking evaluation",
            At(f"{_IMPORTERS}.chunking_eval", "import_chunking_eval"),
        ),
        "financebench": ImportFormat(
            "the filings, questions and evidence of FinanceBench",
            At(f"{_IMPORTERS}.financebench", "import_financebench"),
        ),
        "ragas": ImportFormat(
            "answers: user_input, retrieved_contexts, response, reference",
            At(_COLLECTION, "import_ragas"),
            answered=True,
        ),
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""
