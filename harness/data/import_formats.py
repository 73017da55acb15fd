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


IMPORTS: OpenTable[ImportFormat] = OpenTable(
    "import",
    ImportFormat,
    {
        "beir": ImportFormat(
            "a folder of BEIR: corpus.jsonl, queries.jsonl, qrels/",
            At("harness.data.corpus.importers.beir", "import_beir"),
            options=("qrels",),
        ),
        "ragas": ImportFormat(
            "answers: user_input, retrieved_contexts, response, reference",
            At("harness.data.external.ragas", "import_ragas"),
            answered=True,
        ),
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""
