"""Before a run: everything that the settings name is there, and models read the language of the texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import report, store
from harness.models import EmbeddingEndpoint, HttpConfig, HttpEndpoint, LocalEncoder, ServedEndpoint
from harness.running.config.answers import reranker_of
from harness.running.config.models import BenchConfig, Setting
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.values import ConfigError, StageConfig, guide, main_script, outside_latin


def check_ready(config: BenchConfig, context: Context) -> None:
    """Find every model, package and function; raises ModelError or ConfigError for one that is missing.

    `validate`, `bench --dry-run` and `bench` all begin with it. Models that have not been used before are
    tried on a word. No endpoint is asked.
    """
    results_folder(config)
    for part in parts_of(config):
        part.check_ready()
    check_endpoints(config, context)
    for setting in config.settings:
        context.models.tokenizer(setting.tokenizer)
        encoders = [*setting.retrieve.encoders(), setting.chunk.embed]
        encoders += setting.answer.encoders if setting.answer is not None else ()
        for encoder in filter(None, encoders):
            context.models.encoder(encoder)
        for reranker in setting.rerank:
            context.models.reranker(reranker)
    for measure in config.answer_measures:
        if "vectors" in measure.needs:
            context.models.encoder(config.answer_embedding)
        if measure.pair_model is not None:
            context.models.reranker(reranker_of(measure.pair_model))
    context.models.try_out(context.artifacts)
    warn_of_prefixes(config.settings, context)


def results_folder(config: BenchConfig) -> Path:
    """The folder of the results; raises ConfigError where something lies that no run has written."""
    folder = config.results / config.name
    empty = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not empty and not (folder / report.RECORD).exists():
        raise ConfigError(
            f"{folder} is in the place of the results, and no run has written it. Move it away, or choose "
            "another `name` or another folder of `results`."
        )
    return folder


# The authors of E5 say so on its page; its files do not.
_E5 = re.compile(r"(.*/)?(multilingual-)?e5-(small|base|large)(-v2)?", re.IGNORECASE)
_OF_E5 = {"query": "query: ", "passage": "passage: "}


def warn_of_prefixes(settings: Sequence[Setting], context: Context) -> None:
    """Say which models were trained with prefixes of texts that a retriever leaves out."""
    found: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for one in setting.retrieve.every():
            bare = getattr(one, "query_prefix", None) == getattr(one, "passage_prefix", None) == ""
            encoder = context.models.encoder(one.embed) if bare and one.embed is not None else None
            if not isinstance(encoder, LocalEncoder):
                continue
            name = encoder.config.model
            prompts = _OF_E5 if _E5.fullmatch(name.rstrip("/")) else encoder.prompts
            passage = prompts.get("passage") or prompts.get("document")
            keys = {"query_prefix": prompts.get("query"), "passage_prefix": passage}
            if given := ", ".join(f"`{key}: {json.dumps(text)}`" for key, text in keys.items() if text):
                found.setdefault((name, given), []).append(setting.name)
    for (name, given), names in found.items():
        context.warn(
            "prefixes",
            f"{name} was trained with {given}, and the retriever has no prefix. Set it, or compare both.",
            settings=names,
        )


def check_endpoints(config: BenchConfig, context: Context) -> None:
    """Warn of every endpoint that cannot be asked, such as for want of a key: all may be stored already.

    Raises ConfigError in a run that will ask one of which nothing is stored, before it computes anything.
    """
    asked = any("llm" in one.needs for one in config.answer_measures)
    answered = any(setting.answer for setting in config.settings)
    needless = None if asked and answered else config.answer_judge
    found = [part for part in parts_of(config) if isinstance(part, HttpConfig) and part.problem()]
    found = [part for part in found if needless is None or part is not needless.endpoint]
    if context.may_ask and (fatal := [part for part in found if not may_be_stored(part, config, context)]):
        raise ConfigError("\n".join(dict.fromkeys(part.problem() for part in fatal)))
    for problem in dict.fromkeys(part.problem() for part in found):
        context.reporter.warn(problem)


def may_be_stored(part: HttpConfig, config: BenchConfig, context: Context) -> bool:
    """Whether anything of an endpoint is stored; of a service only the search finds that out."""
    if isinstance(part, ServedEndpoint):
        what = "vectors" if isinstance(part, EmbeddingEndpoint) else "pairs"
        path = context.cache.served(what, part.fingerprint)
        if not path.is_file():
            return False
        with context.values(what, path) as values:
            return values.any() is not None
    if not isinstance(part, HttpEndpoint):
        return True
    if not context.cache.ledger.is_file():
        return False
    # an answerer may name another model than its endpoint
    users = [one for one in parts_of(config) if getattr(one, "endpoint", None) is part]
    models = {part.model, *filter(None, (getattr(one, "asked_model", None) for one in users))}
    with store.Ledger(context.cache.ledger) as ledger:
        return any(map(ledger.knows, models))


def parts_of(value: Any) -> Iterator[StageConfig]:
    """Every section of a configuration, however deep."""
    if isinstance(value, StageConfig):
        yield value
        inner: Any = [getattr(value, name) for name in type(value).model_fields]
    else:
        inner = value.values() if isinstance(value, Mapping) else value
        inner = inner if isinstance(value, Mapping | list | tuple) else ()
    for part in inner:
        yield from parts_of(part)


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
        "multilingual model, such as intfloat/multilingual-e5-small or BAAI/bge-m3 "
        f"({guide('chinese.md')}).",
        settings=[one.name for one in settings if not english_only.isdisjoint(one.model_names)],
    )
