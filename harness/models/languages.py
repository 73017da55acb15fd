"""Models that are known to be for English only, by name: their makers say so, no measurement does."""

from __future__ import annotations

import re

# The last part of a name, of a hub id or a folder. Multilingual kin have other names:
# `paraphrase-multilingual-…`, `multilingual-e5-…`, `bge-m3`, `…-v3`.
_ENGLISH = re.compile(
    r"""
      (all|paraphrase|multi-qa|msmarco|nli|stsb|gtr-t5|sentence-t5)-(?!.*(multilingual|xlm)).*
    | maxsim
    | ms-marco-(?!multilingual).*
    | bge-(small|base|large)-en.*  | bge-reranker-(base-en|large-en).*
    | e5-(small|base|large)(-v2|-unsupervised)?
    | gte-(small|base|large|tiny)(-en.*)?
    | nomic-embed-text-v1(\.5)?
    | mxbai-(embed|rerank|colbert)-(xsmall|base|large)-v1
    | snowflake-arctic-embed-(xs|s|m|l)(-v1\.5|-long)?
    | jina-embeddings-v2-(small|base)-en | jina-colbert-v1-en | jina-reranker-v1-.*-en
    | colbertv?2(\.0)? | answerai-colbert-.*
    | splade-.* | opensearch-neural-sparse-encoding-(?!multilingual).*
    """,
    re.VERBOSE | re.IGNORECASE,
)


def reads_english_alone(name: str) -> bool:
    """Whether a model is known to; False for every name that is not known."""
    return _ENGLISH.fullmatch(re.split(r"[/:]", name.rstrip("/"))[-1]) is not None
