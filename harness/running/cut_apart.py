"""Documents cut into chunks by the workers of a cluster, all documents of all settings in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import steps, values
from harness.models import AnyTokenizer, tokenizer_named
from harness.running.config.models import Setting
from harness.running.resources import CHUNKS_FORMAT, Resources, RunSources, places_of
from harness.store import key_of

_CHARACTERS = 2_000_000
"""So many characters of documents go to a worker at a time."""

Cut = tuple[dict[str, list[list[Any]]], NDArray[np.int32]]
"""The places of the chunks of each document, and the tokens of every chunk."""


@dataclass(frozen=True, slots=True)
class CutPart:
    """Some documents to cut; ``tokenizer`` is that of a model by its name, with its ``fingerprint`` here."""

    config: steps.ChunkerConfig
    tokenizer: str
    fingerprint: str
    documents: Sequence[values.Document]


def cut_part(part: CutPart) -> Cut:
    """What a worker makes of a part; raises ModelError if its tokenizer is another one than ours."""
    tokenizer = _tokenizer(part.tokenizer)
    if tokenizer.fingerprint != part.fingerprint:
        raise values.ModelError(
            f"{part.tokenizer}: a worker has another tokenizer of this model than the machine that runs the "
            "harness. Give both the same files, or name the model by its hub id."
        )
    chunks = steps.chunk_documents(part.documents, part.config, tokenizer)
    return places_of(chunks), steps.token_lengths([chunk.text for chunk in chunks], tokenizer)


@lru_cache(maxsize=1)
def _tokenizer(name: str) -> AnyTokenizer:
    return tokenizer_named(name)


def cut_apart(points: Iterable[tuple[Setting, RunSources]], resources: Resources) -> None:
    """Cut for every setting what is not stored yet, all documents of all settings in one pass.

    Chunkers that embed the text, and people's own ones, cut later on this machine.
    """
    parts: list[CutPart] = []
    chunkings: dict[str, range] = {}
    session = resources.session
    for setting, sources in points:
        key = sources.chunking_key(setting.chunk)
        runs_here = setting.chunk.embed is not None or isinstance(setting.chunk, steps.CodeConfig)
        if (
            runs_here
            or key in chunkings
            or session.artifacts.path("chunks", key_of(key, CHUNKS_FORMAT)).exists()
        ):
            continue
        first, common = len(parts), (setting.chunk, setting.tokenizer, sources.tokenizer.fingerprint)
        parts += [CutPart(*common, documents) for documents in _batches(sources.corpus.documents)]
        chunkings[key] = range(first, len(parts))
    cuts: dict[int, Cut] = {}
    with session.notes.reporter.task("cut documents", len(parts)) as task:
        for part in session.engine.map(cut_part, parts, cut_part, task):
            cuts[part.index] = part.value
            task.advance()
    for key, positions in chunkings.items():
        chunks = [cuts[place] for place in positions]
        places = {doc_id: rows for placed, _ in chunks for doc_id, rows in placed.items()}
        session.artifacts.put("chunks", key_of(key, CHUNKS_FORMAT), places)
        # until they are examined
        session.prepared.lengths[key] = np.concatenate([lengths for _, lengths in chunks])


def _batches(documents: Sequence[values.Document]) -> list[list[values.Document]]:
    before = accumulate((len(document.text) for document in documents), initial=0)
    batches = values.by_key((at // _CHARACTERS, start) for at, start in zip(before, documents, strict=False))
    return list(batches.values()) or [[]]
