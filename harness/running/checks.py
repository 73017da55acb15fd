"""Checks before a run: languages that a model does not read, services that cannot be called."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.running.config.models import Setting
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.values import main_script, outside_latin

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

# A few names and quotes in another script do not make a text another language.
_WORTH_A_WARNING = 0.1
# Characters of a document that are enough to recognise its script.
_LOOKED_AT = 20_000


def reads_english_alone(name: str) -> bool:
    """Whether a model is known to; False for every name that is not known."""
    return _ENGLISH.fullmatch(re.split(r"[/:]", name.rstrip("/"))[-1]) is not None


def warn_of_languages(corpus: Corpus, settings: Sequence[Setting], context: Context) -> None:
    """Say which models are known to read English, where a tenth of the letters are of another script."""
    models = dict.fromkeys(name for setting in settings for name in setting.model_names)
    english = [name for name in models if reads_english_alone(name)]
    if not english:
        return
    english_only = set(english)
    documents = "".join(document.text[:_LOOKED_AT] for document in corpus.documents)
    queries = " ".join(query.text for query in corpus.queries.queries)
    there, asked = outside_latin(documents), outside_latin(queries)
    if max(there, asked) < _WORTH_A_WARNING:
        return
    script = main_script(documents if there >= asked else queries)
    read = "is for English only" if len(english) == 1 else "are for English only"
    context.warn(
        "language",
        f"{', '.join(english)} {read}, judging by the name, but {there:.0%} of the letters of the "
        f"documents and {asked:.0%} of those of the queries are not Latin (most are {script}). Use a "
        "multilingual model, such as intfloat/multilingual-e5-small or BAAI/bge-m3 (docs/chinese.md).",
        settings=[one.name for one in settings if not english_only.isdisjoint(one.model_names)],
    )
