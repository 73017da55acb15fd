"""The judge that a configuration names, with its dependencies, and its answers so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.data import read_queries
from harness.judge import (
    JUDGES,
    Example,
    Examples,
    GradingForm,
    JudgeTools,
    LlmConfig,
    PoolJudge,
    PoolJudgeConfig,
    candidates_of,
    find_injection,
    load_prompt,
    same_model_warning,
)
from harness.models import EMBEDDED, EmbedConfig, resolve
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus, load_corpus
from harness.running.passes import score_for_all, vectors
from harness.steps import CrossEncoderConfig, LateInteractionConfig, LocalModelConfig
from harness.store import Ledger, LedgerEntry
from harness.values import ConfigError, JudgeError, Silent, kind_of


def pool_judge_config(config: BenchConfig) -> PoolJudgeConfig | None:
    """The judge's configuration, or None if people have judged."""
    judge = config.relevance.judge
    return judge if isinstance(judge, PoolJudgeConfig) else None


def make_judge(config: PoolJudgeConfig, ledger: Ledger, context: Context, corpus: Corpus) -> PoolJudge:
    """The judge; nothing is asked and no weights are loaded yet. People's labels may serve it as examples."""
    tools = JudgeTools(
        ledger,
        people_graded=lambda: people_graded(corpus),
        vectors=lambda model, texts: vectors(texts, EmbedConfig(model=model), context),
        scores=lambda model, pairs: score_for_all([(_reranker(model), pairs)], context)[0].scores,
    )
    return JUDGES.make(config, tools)


def people_graded(corpus: Corpus) -> tuple[Example, ...]:
    """People's grades for train queries, to be shown to a judge."""
    documents = {document.doc_id: document for document in corpus.documents}
    return candidates_of(corpus.labels, corpus.queries.queries, documents)


def llm_configs(config: BenchConfig) -> tuple[LlmConfig, ...]:
    """The language models that judge; raises ConfigError if another judge is configured."""
    judge = pool_judge_config(config)
    if judge is not None and judge.asked:
        return judge.asked
    kind = kind_of(config.relevance.judge)
    raise ConfigError(
        f"{config.name}: the judge is {kind}, not a language model. Configure relevance: {{judge: llm, …}}; "
        "docs/judge.md describes it."
    )


def warn_of_same_model(config: BenchConfig, context: Context) -> None:
    """Warn if the judge is also a ranker: by its name, or, where it runs here, by its weights."""
    judge = pool_judge_config(config)
    if judge is None:
        return
    rankers = sorted(
        {
            name
            for setting in config.settings
            for name in (
                *(encoder.model_name for encoder in setting.retrieve.encoders()),
                *(reranker.model_name for reranker in setting.rerank),
            )
        }
    )
    warnings = [same_model_warning(one.endpoint.model, rankers) for one in judge.asked]
    if judge.runs_here:
        # the weights behind an endpoint or the user's own code are not available
        weights = {name: resolve(name).weights() for name in (judge.runs_here, *_models_here(config))}
        warnings.append(same_model_warning(judge.runs_here, rankers, weights))
    for warning in filter(None, warnings):
        context.warn("judge", warning)


def _models_here(config: BenchConfig) -> Iterator[str]:
    """The rankers whose weights are on this machine."""
    for setting in config.settings:
        yield from (one.model_name for one in setting.retrieve.encoders() if one.runs_here)
        yield from (one.model_name for one in setting.rerank if isinstance(one, LocalModelConfig))


def _reranker(model: str) -> LateInteractionConfig | CrossEncoderConfig:
    return LateInteractionConfig(model=model) if model in EMBEDDED else CrossEncoderConfig(model=model)


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which answers to show: ``query`` is an id of the query file, or a part of a query's text."""

    query: str | None = None
    failed: bool = False
    flagged: bool = False


def answers(
    ledger: Ledger, judges: Iterable[LlmConfig], config: BenchConfig, wanted: AnswerFilter
) -> Iterator[LedgerEntry]:
    """The answers of ``judges``, by model and prompt, oldest first; including tries that were repeated."""
    whose = {pair for judge in judges for pair in _prompts(judge, config)}
    texts, part = _query(config, wanted.query)
    for entry in ledger.entries():
        if (entry.prompt_sha, entry.model) not in whose:
            continue
        if texts and entry.query not in texts:
            continue
        if part and part not in entry.query.casefold():
            continue
        if wanted.failed and entry.grades is not None:
            continue
        if wanted.flagged and not any(map(find_injection, entry.passages)):
            continue
        yield entry


def _prompts(judge: LlmConfig, config: BenchConfig) -> Iterator[tuple[str, str]]:
    """The hash of what a judge is shown and its model: one for all queries, or, with examples, for each."""
    prompt, model = load_prompt(judge.prompt), judge.endpoint.model
    if not judge.examples:
        yield prompt.sha256, model
        return
    with Context.at(config.cache, Silent()) as context:
        corpus = load_corpus(config, context)
    examples = Examples(people_graded(corpus), judge.examples)
    form = GradingForm(prompt, judge.endpoint.structured, examples)
    for query in corpus.queries.queries:
        yield form.sha_of(query.text), model


def _query(config: BenchConfig, query: str | None) -> tuple[set[str], str]:
    """The text of the query with that id, else a part of a text; JudgeError where no query has it."""
    if query is None:
        return set(), ""
    known = read_queries(config.queries, config.split).queries
    texts = {one.text for one in known if one.query_id == query}
    if texts:
        return texts, ""
    if not any(query.casefold() in one.text.casefold() for one in known):
        raise JudgeError(f"{config.queries} has no query with the id {query!r} or with it in its text.")
    return set(), query.casefold()
