"""The chunks of all settings cut side by side by the workers of an engine, and stored as if cut here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from harness import steps
from harness.models import ModelTokenizer, resolve
from harness.running.config.models import Setting
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.resources import chunking_key, places_of, stored_as
from harness.values import Document, ModelError

_CHARACTERS = 2_000_000
"""So many characters of documents go to a worker at a time."""

Cut = tuple[dict[str, list[list[Any]]], list[int]]
"""The places of the chunks of each document, and the tokens of every chunk."""


@dataclass(frozen=True, slots=True)
class CutPart:
    """Some documents to cut; ``tokenizer`` is that of a model by its name, with its ``fingerprint`` here."""

    config: steps.ChunkerConfig
    tokenizer: str
    fingerprint: str
    documents: tuple[Document, ...]


def cut_part(part: CutPart) -> Cut:
    """What a worker makes of a part; raises ModelError if its tokenizer is another one than ours."""
    tokenizer = _tokenizer(part.tokenizer)
    if tokenizer.fingerprint != part.fingerprint:
        raise ModelError(
            f"{part.tokenizer}: a worker has another tokenizer of this model than the machine that runs the "
            "harness. Give both the same files, or name the model by its hub id."
        )
    chunks = steps.chunk_documents(part.documents, part.config, tokenizer)
    return places_of(chunks), steps.token_lengths(chunks, tokenizer).tolist()


@lru_cache(maxsize=1)
def _tokenizer(name: str) -> ModelTokenizer:
    return ModelTokenizer(resolve(name))


@dataclass(slots=True)
class _Chunking:
    """One chunking that is being cut, the places of its parts among all, and what came of each."""

    key: str
    places: range
    cut: dict[int, Cut] = field(default_factory=dict)


def cut_apart(points: Iterable[tuple[Setting, Corpus]], context: Context) -> None:
    """Cut for every setting what is not stored yet, all documents of all settings in one pass.

    Chunkers that embed the text, and people's own ones, cut later on this machine.
    """
    parts: list[CutPart] = []
    chunkings: dict[str, _Chunking] = {}
    for setting, corpus in points:
        tokenizer = context.models.tokenizer(setting.tokenizer)
        key = chunking_key(corpus, setting.chunk, tokenizer, context)
        own = setting.chunk.embed is not None or setting.chunk.kind == "python"
        if own or key in chunkings or context.artifacts.path("chunks", stored_as(key)).exists():
            continue
        first = len(parts)
        parts += [
            CutPart(setting.chunk, setting.tokenizer, tokenizer.fingerprint, documents)
            for documents in _batches(corpus.documents)
        ]
        chunkings[key] = _Chunking(key, range(first, len(parts)))
    if not parts:
        return
    with context.reporter.task("cut documents", len(parts)) as task:
        for done in context.engine.map(cut_part, parts, cut_part, task):
            (chunking,) = (one for one in chunkings.values() if done.index in one.places)
            chunking.cut[done.index] = done.value
            if len(chunking.cut) == len(chunking.places):
                _store(chunking, context)
            task.advance()


def _batches(documents: Sequence[Document]) -> Iterator[tuple[Document, ...]]:
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= _CHARACTERS:
            yield tuple(batch)
            batch, characters = [], 0
    if batch:
        yield tuple(batch)


def _store(chunking: _Chunking, context: Context) -> None:
    """Keep the chunks of a chunking, and the lengths until they are examined."""
    parts = [chunking.cut.pop(place) for place in chunking.places]
    places = {doc_id: rows for found, _ in parts for doc_id, rows in found.items()}
    context.artifacts.put("chunks", stored_as(chunking.key), places)
    lengths = np.array([length for _, own in parts for length in own], dtype=np.int32)
    context.prepared.lengths[chunking.key] = lengths
