"""The judge that a configuration names, with its dependencies, and its answers so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
)
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.judging.judged import pool_judge_config
from harness.store import Ledger, LedgerEntry
from harness.values import ConfigError, JudgeError, Silent, guide, kind_of


def make_judge(config: PoolJudgeConfig, ledger: Ledger, context: Context, corpus: Corpus) -> PoolJudge:
    """The judge; nothing is asked and no weights are loaded yet. People's labels may serve it as examples."""
    return JUDGES.make(config, JudgeTools(ledger, lambda: people_graded(corpus)))


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
        f"{guide('judge.md')} describes it."
    )


def answers(
    ledger: Ledger,
    judges: Iterable[LlmConfig],
    config: BenchConfig,
    query: str | None = None,
    *,
    failed: bool = False,
    flagged: bool = False,
) -> Iterator[LedgerEntry]:
    """The answers of ``judges``, by model and prompt, oldest first; including tries that were repeated.

    ``query`` is an id of the query file, or a part of a query's text: JudgeError where no query has it.
    ``failed`` are those without grades alone, ``flagged`` those to passages that address the judge.
    """
    whose = {pair for judge in judges for pair in _prompts(judge, config)}
    known = read_queries(config.queries, config.split).queries if query is not None else ()
    texts = {one.text for one in known if one.query_id == query}
    part = (query or "").casefold()
    if query is not None and not texts and not any(part in one.text.casefold() for one in known):
        raise JudgeError(f"{config.queries} has no query with the id {query!r} or with it in its text.")
    for entry in ledger.entries():
        if (
            (entry.prompt_sha, entry.model) in whose
            and (entry.query in texts if texts else part in entry.query.casefold())
            and not (failed and entry.grades is not None)
            and (not flagged or any(map(find_injection, entry.passages)))
        ):
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
