"""Small to search, large to read: what is read for every chunk of a setting that is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.chunk import text_lengths
from harness.config import Setting
from harness.models import ModelTokenizer
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.sources import RunSources
from harness.search import READERS
from harness.store import key_of
from harness.types import Chunk, Ranking


@dataclass(frozen=True, slots=True)
class Reading:
    """The distinct spans that are read, in the order of the text, and which of them each chunk stands for.

    ``tokens`` [spans] are their lengths, special tokens left out; ``of`` maps the ids of chunks to those of
    spans; ``key`` identifies chunking and spans.
    """

    spans: tuple[Chunk, ...]
    tokens: NDArray[np.int32]
    of: Mapping[str, str]
    key: str

    def ranking(self, found: Ranking) -> Ranking:
        """What is read for a ranking of chunks: every span once, at the rank and score of its first chunk."""
        first: dict[str, float] = {}
        for chunk_id, score in zip(found.chunk_ids, found.scores, strict=True):
            first.setdefault(self.of[chunk_id], score)
        return Ranking(found.query_id, tuple(first), tuple(first.values()))


def reading_of(
    chunks: Sequence[Chunk],
    key: str,
    setting: Setting,
    tokenizer: ModelTokenizer,
    corpus: Corpus,
    context: Context,
) -> Reading | None:
    """What is read of a setting, None where it is the chunks themselves; ``key`` is that of the chunking."""
    if setting.read is None or not chunks:
        return None
    sources = RunSources(corpus, context, tokenizer)
    spans = READERS.make(setting.read).run(chunks, sources)
    cut = sum(start > c.start or end < c.end for c, (start, end) in zip(chunks, spans, strict=True))
    if cut:
        context.reporter.warn(
            f"{setting.name}: {cut} of {len(chunks)} chunks are not whole in what is read for them. Cut the "
            "larger chunks where the small ones end, or read windows."
        )
    read: dict[str, Chunk] = {}
    of: dict[str, str] = {}
    for chunk, (start, end) in zip(chunks, spans, strict=True):
        span = Chunk.of(sources.document(chunk.doc_id), start, end)
        of[chunk.chunk_id] = read.setdefault(span.chunk_id, span).chunk_id
    place = {document.doc_id: i for i, document in enumerate(corpus.documents)}
    ordered = tuple(sorted(read.values(), key=lambda one: (place[one.doc_id], one.start, one.end)))
    own = key_of(key, "read", [one.chunk_id for one in ordered])
    stored = context.artifacts.get("read_tokens", own)
    if stored is None:
        lengths = text_lengths([one.text for one in ordered], tokenizer) - np.int32(tokenizer.special)
        stored = {"lengths": lengths.tolist()}
        context.artifacts.put("read_tokens", own, stored)
    return Reading(ordered, np.array(stored["lengths"], dtype=np.int32), of, own)
