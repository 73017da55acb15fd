"""The sentences and tables of every document, found at most once per text."""

from __future__ import annotations

import numpy as np

from harness.chunk import OUTLINE_VERSION, Outline
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.store import key_of


def outlines(corpus: Corpus, context: Context) -> dict[str, Outline]:
    """The outline of every document by its id; one file of the cache serves all chunkings."""
    key = key_of(corpus.key, OUTLINE_VERSION)
    stored = context.artifacts.get("outlines", key)
    if stored is None:
        found = {}
        with context.reporter.task("outline documents", len(corpus.documents)) as task:
            for document in corpus.documents:
                found[document.doc_id] = Outline.of(document.text)
                task.advance()
        flat = {i: [o.sentences.ravel().tolist(), o.tables.ravel().tolist()] for i, o in found.items()}
        context.artifacts.put("outlines", key, flat)
        return found
    return {
        doc_id: Outline(*(np.array(flat, dtype=np.int64).reshape(-1, 2) for flat in both))
        for doc_id, both in stored.items()
    }
