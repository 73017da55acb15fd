"""Breaks where neighbouring sentences differ most in meaning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import ComputingConfig, EmbedConfig
from harness.steps.chunk import Cuts, Documents, SizedConfig, Vectors
from harness.steps.chunk.sentence import SentenceConfig, Sentences
from harness.steps.chunk.sizes import measure_in, smaller_than
from harness.values import ConfigError, Tokenizer

Floats = NDArray[np.float64]


class SemanticConfig(SizedConfig, ComputingConfig):
    """Runs of similar sentences: a chunk ends where the next sentence differs most from the last."""

    versions = SentenceConfig.versions

    kind: Literal["semantic"] = "semantic"
    model: str = Field(
        "embedded:all-MiniLM-L6-v2",
        description="The bi-encoder that compares sentences: hub id, local folder, or "
        "`embedded:all-MiniLM-L6-v2` (needs no network).",
    )
    percentile: float = Field(
        90,
        ge=0,
        lt=100,
        description="A chunk ends where two neighbours differ more than this percentage of all "
        "neighbours in their document.",
    )
    min_size: Annotated[int, smaller_than("chunk_size")] = Field(
        200,
        ge=0,
        description="A shorter chunk is joined with a neighbour, in `unit`; less than `chunk_size`.",
    )
    neighbours: int = Field(
        1,
        ge=0,
        description="How many sentences on both sides a sentence is embedded with, so that short ones are "
        "not compared alone.",
    )

    @property
    def embed(self) -> EmbedConfig:
        """The bi-encoder."""
        return self.made(EmbedConfig)

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The runs of sentences of each document; raises ConfigError without ``vectors``."""
        if vectors is None:
            raise ConfigError(
                "chunk: kind semantic embeds sentences, and no model that embeds is available here."
            )
        measure = measure_in(self.unit, tokenizer)
        cut = [Sentences(document.text, self.chunk_size, measure) for document in documents]
        texts = [
            text
            for document, sentences in zip(documents, cut, strict=True)
            for text in _windows(document.text, sentences, self.neighbours)
        ]
        window_vectors = vectors(texts, self.embed)
        spans, first = [], 0
        for sentences in cut:
            count = len(sentences.spans)
            apart = distances(window_vectors[first : first + count])
            first += count
            cuts = [0, *breaks(apart, sentences, self), count]
            spans.append([sentences.span(a, b) for a, b in pairwise(cuts) if a < b])
        return spans


def distances(vectors: NDArray[np.float32]) -> Floats:
    """The cosine distance of each vector [N, D] to the next one: [N - 1]."""
    exact = vectors.astype(np.float64)
    length = np.linalg.norm(exact, axis=1, keepdims=True) if len(exact) else exact
    unit = np.divide(exact, length, out=np.zeros_like(exact), where=length > 0)
    apart: Floats = 1.0 - (unit[:-1] * unit[1:]).sum(axis=1)
    return apart


def breaks(apart: Floats, sentences: Sentences, config: SemanticConfig) -> list[int]:
    """The numbers of the sentences that begin a chunk, except for the first, from the distances between them.

    Breaks above the percentile come first; the weakest of them go where a chunk would be too short; then
    what is too long is cut where its sentences differ most.
    """
    if not len(apart):
        return []
    limit = np.percentile(apart, config.percentile)
    cuts = [0, *(np.flatnonzero(apart > limit) + 1).tolist(), len(apart) + 1]
    for cut in sorted(cuts[1:-1], key=lambda i: float(apart[i - 1])):
        at = cuts.index(cut)
        before, after = cuts[at - 1], cuts[at + 1]
        short = min(sentences.size(before, cut), sentences.size(cut, after)) < config.min_size
        if short and sentences.size(before, after) <= config.chunk_size:
            cuts.pop(at)
    starts: list[int] = []
    for first, last in pairwise(cuts):
        starts += [first] if first else []
        starts += _fitting(apart, sentences, first, last, config)
    return starts


def _fitting(apart: Floats, sentences: Sentences, first: int, last: int, config: SemanticConfig) -> list[int]:
    """Where to cut a run that is too long: at the largest distance that leaves no part too short."""
    cuts: list[int] = []
    waiting = [(first, last)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2 or sentences.size(first, last) <= config.chunk_size:
            continue
        inner = range(first + 1, last)
        long = [i for i in inner if min(sentences.size(first, i), sentences.size(i, last)) >= config.min_size]
        cut = max(long or inner, key=lambda i: (float(apart[i - 1]), -i))
        cuts.append(cut)
        waiting += [(first, cut), (cut, last)]
    return sorted(cuts)


def _windows(text: str, sentences: Sentences, neighbours: int) -> Iterator[str]:
    """Each sentence with its neighbours, as it is embedded."""
    count = len(sentences.spans)
    for i in range(count):
        yield text[slice(*sentences.span(max(0, i - neighbours), min(count, i + neighbours + 1)))]
