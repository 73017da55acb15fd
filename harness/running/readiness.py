"""Before a run: everything that the settings name is there, and models read the language of the texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness import report, store
from harness.comparison import sentence_of
from harness.judge import ScoredConfig
from harness.models import (
    EmbeddingEndpoint,
    EncoderConfig,
    HttpConfig,
    HttpEndpoint,
    LocalEncoder,
    ServedEndpoint,
    check_screen_packages,
)
from harness.running.answering.measuring_tools import MeasuringTools
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpus import Corpus
from harness.running.frames import Unknown
from harness.running.loop import Loop, Met, Visitor, Wanted
from harness.running.notes import RunNotes
from harness.running.passes import scores_of_pairs
from harness.running.pipeline import tried, tried_on_text
from harness.running.run_models import RunModels
from harness.running.session import Session
from harness.steps import (
    AllAtOnce,
    AnswerConfig,
    Cluster,
    Fingerprints,
    Noted,
    PairScores,
    RerankerConfig,
    RetrieverConfig,
    Texts,
    Warned,
)
from harness.values import ConfigError, Reporter, Run, StageConfig, guide, main_script, outside_latin


def check_ready(config: BenchConfig, session: Session) -> None:
    """Find every model, package and function; raises ModelError or ConfigError for one that is missing.

    `validate`, `bench --dry-run` and `bench` all begin with it. Models that have not been used before are
    tried on a word. No endpoint is asked.
    """
    results_folder(config)
    if config.int8_changes:
        check_screen_packages("int8_changes")
    for part in parts_of(config):
        part.check_ready()
    stored = partial(may_be_stored, config=config, cache=session.cache, faults=session.faults)
    check_endpoints(config, stored if session.may_ask else None, session.notes.reporter)
    for setting in config.settings:
        session.models.tokenizer(setting.tokenizer)
    find_models(map(tried_on_text, config.settings), session.models)
    find_models((tried(setting, session.models.reranker) for setting in config.settings), session.models)
    tools = MeasuringTools(config.answer_scoring)
    find_models((measure.trial(tools) for measure in config.answer_measures), session.models)
    find_models([_judging(config.relevance.judge)], session.models)
    for part in parts_of(config.settings):
        # one that embeds names alone finds none in a word
        for encoder in part.encoders() if isinstance(part, RerankerConfig) else ():
            session.models.encoder(encoder)
    session.models.try_out(session.artifacts)
    warn_of_prefixes(config.settings, session.models, session.notes)


def find_models(steps: Iterable[Run[Any]], models: RunModels) -> None:
    """Find every model that steps need."""
    Loop(Finding(models)).run({str(at): step for at, step in enumerate(steps)})


def _judging(judge: StageConfig) -> Run[None]:
    """A judge with one word for a passage and for a query: its need names the model that scores."""
    word: str = "word"
    if not isinstance(judge, ScoredConfig):
        return
    if isinstance(judge.scorer, EncoderConfig):
        yield Texts(judge.scorer, [word], "queries")
    else:
        yield from scores_of_pairs([(word, word)], judge.scorer)


@dataclass(frozen=True, slots=True)
class Finding(Visitor):
    """Finds every model that a need names; nothing is computed, read or asked, so that all is guessed."""

    models: RunModels

    def give(self, wanted: Wanted) -> Any:
        """Nothing that takes work."""
        match wanted.need:
            case Fingerprints():
                return lambda encoder: self.models.encoder(encoder).fingerprint
            case Warned() | Noted() | Cluster():
                return None
            case AllAtOnce() if not wanted.need.runs:
                return None
        self._declared(wanted)
        return Unknown()

    def _declared(self, wanted: Wanted) -> None:
        """Find the models that a retriever declares: what it needs after this is not seen."""
        parts = [frame.part for frame in wanted.frame.around() if frame.part is not None]
        for config in [part.config for part in parts if isinstance(part.config, RetrieverConfig)][:1]:
            for encoder in config.encoders():
                self.models.encoder(encoder)

    def meet(self, wanted: Sequence[Wanted]) -> Sequence[Met | Unknown]:
        """Models are found, and nothing is known of what they would give."""
        for one in wanted:
            self.mention(one)
        return [Unknown()] * len(wanted)

    def mention(self, wanted: Wanted) -> None:
        """Find the model of a need."""
        match wanted.need:
            case Texts():
                self.models.encoder(wanted.need.encoder)
            case PairScores():
                self.models.reranker(wanted.need.reranker)


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


def warn_of_prefixes(settings: Sequence[Setting], models: RunModels, notes: RunNotes) -> None:
    """Say which models were trained with prefixes of texts that a retriever leaves out."""
    without_prefix: dict[tuple[str, str], list[str]] = {}
    for setting in settings:
        for one in parts_of(setting):
            bare = getattr(one, "query_prefix", None) == getattr(one, "passage_prefix", None) == ""
            embed = getattr(one, "embed", None) if bare else None
            encoder = models.encoder(embed) if embed is not None else None
            if not isinstance(encoder, LocalEncoder):
                continue
            name = encoder.config.model
            prompts = _OF_E5 if _E5.fullmatch(name.rstrip("/")) else encoder.prompts
            passage = prompts.get("passage") or prompts.get("document")
            keys = {"query_prefix": prompts.get("query"), "passage_prefix": passage}
            if prefixes := ", ".join(f"`{key}: {json.dumps(text)}`" for key, text in keys.items() if text):
                without_prefix.setdefault((name, prefixes), []).append(setting.name)
    for (name, prefixes), names in without_prefix.items():
        notes.warn(sentence_of("prefixes.unset", model=name, prefixes=prefixes), settings=names)


def check_endpoints(
    config: BenchConfig, stored: Callable[[HttpConfig], bool] | None, reporter: Reporter
) -> None:
    """Warn of every endpoint that cannot be asked, such as for want of a key: all may be stored already.

    Raises ConfigError in a run that will ask one of which nothing is ``stored``, before it computes anything;
    None: no endpoint will be asked.
    """
    needs_llm = any("llm" in answer_measure.needs for answer_measure in config.answer_measures)
    answered = any(isinstance(part, AnswerConfig) for part in parts_of(config.settings))
    compared = any("vectors" in answer_measure.needs for answer_measure in config.answer_measures)
    needless: list[HttpConfig] = []
    if config.answer_judge is not None and not (needs_llm and answered):
        needless.append(config.answer_judge.endpoint)
    if config.answer_embedding.endpoint is not None and not (compared and answered):
        needless.append(config.answer_embedding.endpoint)
    incomplete = [part for part in parts_of(config) if isinstance(part, HttpConfig) and part.problem()]
    incomplete = [part for part in incomplete if not any(part is part_left_out for part_left_out in needless)]
    if stored is not None and (fatal := [part for part in incomplete if not stored(part)]):
        raise ConfigError("\n".join(dict.fromkeys(part.problem() for part in fatal)))
    for problem in dict.fromkeys(part.problem() for part in incomplete):
        reporter.warn(problem)


def may_be_stored(
    part: HttpConfig, config: BenchConfig, cache: store.CacheLayout, faults: store.Faults
) -> bool:
    """Whether anything of an endpoint is stored; of a service only the search finds that out."""
    if isinstance(part, ServedEndpoint):
        what = "vectors" if isinstance(part, EmbeddingEndpoint) else "pairs"
        path = cache.served(what, part.fingerprint)
        if not path.is_file():
            return False
        with store.KeyValue(path, faults, what) as values:
            return values.any() is not None
    if not isinstance(part, HttpEndpoint):
        return True
    if not cache.ledger.is_file():
        return False
    # an answerer may name another model than its endpoint
    users = [user for user in parts_of(config) if getattr(user, "endpoint", None) is part]
    models = {part.model, *filter(None, (getattr(user, "asked_model", None) for user in users))}
    with store.Ledger(cache.ledger) as ledger:
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


def warn_of_languages(corpus: Corpus, settings: Sequence[Setting], notes: RunNotes) -> None:
    """Say which models are known to read English, where a tenth of the letters are of another script."""
    models = dict.fromkeys(name for setting in settings for name in setting.model_names)
    english = [name for name in models if reads_english_alone(name)]
    if not english:
        return
    english_only = set(english)
    documents = "".join(document.text[:_LOOKED_AT] for document in corpus.documents)
    queries = " ".join(query.text for query in corpus.queries.queries)
    there, of_queries = outside_latin(documents), outside_latin(queries)
    if max(there, of_queries) < _WORTH_A_WARNING:
        return
    script = main_script(documents if there >= of_queries else queries)
    notes.warn(
        sentence_of(
            "language.english",
            count=len(english),
            models=", ".join(english),
            documents=f"{there:.0%}",
            queries=f"{of_queries:.0%}",
            script=script,
            guide=guide("chinese.md"),
        ),
        settings=[setting.name for setting in settings if not english_only.isdisjoint(setting.model_names)],
    )
