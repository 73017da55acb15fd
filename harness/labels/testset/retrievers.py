"""Several different retrievers, so that the gathered passages do not favour one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.labels.testset.config import TestsetConfig
from harness.running import Setting, load_config
from harness.steps import (
    Bm25Config,
    ExactConfig,
    MinMaxConfig,
    RecursiveConfig,
    RetrieverConfig,
    SentenceConfig,
    SizedConfig,
)
from harness.values import Document, outside_latin

_TOKENIZER = "embedded:all-MiniLM-L6-v2"
# ranks kept of every ranking; more than one needs, since retrievers find the same passages
_DEPTH = 30


def retrievers(
    config: TestsetConfig, documents: Sequence[Document], also: Path | None = None
) -> list[Setting]:
    """Words, meaning and both, each over small and large chunks; and the settings of ``also``, a benchmark.

    Without an embedding model: two formulas of BM25 over three lengths of chunks.
    """
    sample = "".join(one.text[:5000] for one in documents)
    sizes = [150, 250, 400] if outside_latin(sample) > 0.3 else [300, 600, 1000]
    depth = max(_DEPTH, config.passages)
    words: RetrieverConfig = Bm25Config(top_k=depth)
    by_name: dict[str, RetrieverConfig] = {"bm25": words, "bm25+": Bm25Config(top_k=depth, method="bm25+")}
    if config.embed is not None:
        names = ("model", "query_prefix", "passage_prefix")
        dense = ExactConfig(top_k=depth, **{name: getattr(config.embed, name) for name in names})
        by_name = {"bm25": words, "dense": dense, "hybrid": MinMaxConfig(top_k=depth, routes=(dense, words))}
        sizes = [sizes[0], sizes[2]]
    tokenizer = config.embed.model if config.embed else _TOKENIZER
    chunks: list[SizedConfig] = [SentenceConfig(chunk_size=sizes[0])]
    chunks += [RecursiveConfig(chunk_size=size, chunk_overlap=size // 5) for size in sizes[1:]]
    found = [
        Setting(
            name=f"{name} {chunk.kind} {chunk.chunk_size}",
            chunk=chunk,
            tokenizer=tokenizer,
            retrieve=retriever,
        )
        for chunk in chunks
        for name, retriever in by_name.items()
    ]
    if also is not None:
        found += [
            one.model_copy(update={"name": f"{also.stem}: {one.name}"}) for one in load_config(also).settings
        ]
    return found
