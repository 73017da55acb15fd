"""The answers of a judge so far: the rows of its ledger, one query or the failures only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.data import read_queries
from harness.judge import Examples, GradingForm, LlmConfig, find_injection, load_prompt
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import load_corpus
from harness.running.judging.judges import people_graded
from harness.store import Ledger, LedgerEntry
from harness.values import JudgeError, Silent


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
