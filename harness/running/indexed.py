"""What is indexed of a chunking: every chunk, and the context of the setting around it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.chunk import text_lengths
from harness.config import Setting
from harness.models import ModelTokenizer
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.sources import RunSources
from harness.search import CONTEXTS, NotAskedError
from harness.search.context import Around, nested
from harness.store import key_of
from harness.types import Chunk


@dataclass(frozen=True, slots=True)
class Indexed:
    """The texts in the order of the chunks, and their lengths in ``tokens``, special tokens left out.

    ``window`` is what the encoder reads at most, ``special`` tokens included (0: unknown). ``key`` identifies
    chunking and texts.
    """

    texts: tuple[str, ...]
    tokens: NDArray[np.int32]
    window: int
    special: int
    key: str

    @property
    def overlong(self) -> int:
        """How many texts are longer than the encoder reads."""
        return int((self.tokens + self.special > self.window).sum()) if self.window else 0

    @property
    def index_tokens(self) -> int:
        """What the encoder reads of all texts, each up to its window."""
        lengths = self.tokens.astype(np.int64) + self.special
        return int((np.minimum(lengths, self.window) if self.window else lengths).sum())


def with_context(
    chunks: Sequence[Chunk],
    key: str,
    setting: Setting,
    tokenizer: ModelTokenizer,
    corpus: Corpus,
    context: Context,
) -> Indexed | None:
    """The texts that are indexed for a setting, None where that is the chunks alone.

    ``key`` is that of the chunking. Warns of a context that no chunk has, and of texts that are longer than
    the encoder reads. None too in a plan, where a language model would have to be asked for a context.
    """
    if not setting.context or not chunks:
        return None
    sources = RunSources(corpus, context, tokenizer)
    around = [Around()] * len(chunks)
    for config in setting.context:
        try:
            own = CONTEXTS.make(config).run(chunks, sources)
        except NotAskedError as error:
            # a plan goes on and says what it would take
            context.unwritten |= {one.key: one for one in error.missing}
            return None
        if not any(one.before or one.after for one in own):
            context.reporter.warn(
                f"{setting.name}: context {config.kind} finds nothing to add to any chunk, so it "
                "changes nothing. Use another kind, or omit it."
            )
        around = nested(around, own)
    texts = tuple(one(chunk.text) for one, chunk in zip(around, chunks, strict=True))
    indexed_key = key_of(key, "context", _digest(around))
    stored = context.artifacts.get("indexed_tokens", indexed_key)
    if stored is None:
        stored = {"lengths": (text_lengths(texts, tokenizer) - np.int32(tokenizer.special)).tolist()}
        context.artifacts.put("indexed_tokens", indexed_key, stored)
    tokens = np.array(stored["lengths"], dtype=np.int32)
    indexed = Indexed(texts, tokens, tokenizer.window, tokenizer.special, indexed_key)
    if indexed.overlong and any(one.runs_here for one in setting.retrieve.encoders()):
        context.reporter.warn(
            f"{setting.name}: {indexed.overlong} of {len(chunks)} chunks are longer with their context than "
            f"the {tokenizer.window} tokens that {tokenizer.name} reads; the rest of each chunk is not "
            f"searched. "
            "Use smaller chunks, a shorter context or a model with a longer window."
        )
    return indexed


def _digest(around: Sequence[Around]) -> str:
    """The contexts are cheap to make, so what was made identifies them, not how."""
    found = hashlib.sha256()
    for one in around:
        for text in (one.before, one.after):
            raw = text.encode("utf-8", "surrogatepass")
            found.update(len(raw).to_bytes(8, "big") + raw)
    return found.hexdigest()
