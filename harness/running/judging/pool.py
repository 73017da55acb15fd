"""Rankings of all settings → one pool of passages → their grades by the judge that a configuration names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.comparison import sentence_of
from harness.data import read_queries
from harness.judge import (
    JUDGES,
    Example,
    Examples,
    GradedPairs,
    GradingForm,
    JudgeTools,
    Labelled,
    Lazy,
    LlmConfig,
    Pair,
    Pool,
    PoolConfig,
    PoolJudge,
    PoolJudgeConfig,
    ScoredJudge,
    Sink,
    Summary,
    candidates_of,
    find_injection,
    load_prompt,
    pool_of,
    together,
)
from harness.models import Estimate
from harness.report import CostRow, JudgmentRow
from harness.running.config.models import BenchConfig
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.judging.judged import Judged, judgment_row, label_rows, pool_judge_config
from harness.running.loop import Loop, Visitor
from harness.running.notes import RunNotes
from harness.running.passes import scores_of_pairs
from harness.running.planning import Planning
from harness.running.search import Searched, run_step
from harness.running.session import Session
from harness.steps import PendingCalls, Texts
from harness.store import Ledger, LedgerEntry
from harness.values import Chunk, ConfigError, JudgeError, Silent, ask, counted, finite, guide, kind_of


def make_judge(config: PoolJudgeConfig, ledger: Ledger, corpus: Corpus, visitor: Visitor) -> PoolJudge:
    """The judge, whose needs ``visitor`` meets; nothing is asked and no weights are loaded yet.

    People's labels may serve it as examples.
    """
    tools = JudgeTools(
        ledger,
        people_graded=lambda: people_graded(corpus),
        labelled=lambda: labelled_by_people(corpus),
        vectors=lambda texts, encoder: ask(Texts(encoder, texts, "queries")),
        pair_scores=scores_of_pairs,
        run=lambda step: run_step(step, visitor),
    )
    return JUDGES.make(config, tools)


def labelled_by_people(corpus: Corpus) -> list[Labelled]:
    """All pairs that people have graded, in the order of the labels; those without a grade are left out."""
    queries = {query.query_id: query for query in corpus.queries.queries}
    documents = corpus.by_id
    return [
        Labelled(
            Pair(queries[label.query_id], Chunk.of(documents[label.doc_id], label.start, label.end)), label
        )
        for label in corpus.labels
        if label.grade is not None and label.query_id in queries
    ]


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
    queries = read_queries(config.queries, config.split).queries if query is not None else ()
    texts = {one.text for one in queries if one.query_id == query}
    part = (query or "").casefold()
    if query is not None and not texts and not any(part in query.text.casefold() for query in queries):
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
    with Session.at(config.cache, Silent()) as session:
        corpus = load_corpus(config, session.document_reader)
    examples = Examples(people_graded(corpus), judge.examples)
    form = GradingForm(prompt, judge.endpoint.structured, examples)
    for query in corpus.queries.queries:
        yield form.sha_of(query.text), model


FLAGS_SHOWN = 3


def judged_by_judge(
    searched: Sequence[Searched],
    corpus: Corpus,
    judge_config: PoolJudgeConfig,
    ledger: Path,
    visitor: Visitor,
    notes: RunNotes,
) -> Judged:
    """Have a judge grade the union of the passages that all settings rank high; raises JudgeError.

    Answers of language models are kept in ``ledger``; ``visitor`` meets what the judge needs.
    """
    pool = make_pool(searched, corpus, judge_config.pool)
    graded = GradedPairs(pool.pairs)
    flagged = flag_passages(pool.pairs, notes) if judge_config.asked else {}
    with notes.timed("judge"), Ledger(ledger) as answers_kept:
        judge = make_judge(judge_config, answers_kept, corpus, visitor)
        summary = grade_all(judge, pool.pairs, len(pool.pairs), graded.keep, notes)
    return Judged(
        judge=judge.name,
        fingerprint=dict(judge.fingerprint),
        judgments=graded.judgments,
        rows=_rows(pool, graded, label_rows(corpus, scored_on=False)),
        failed=frozenset(judgment.query_id for judgment in graded.judgments if judgment.grade is None),
        costs=cost_rows(graded.costs, pool.by_setting, _paid_once(pool.pairs, graded.costs)),
        spent={**_spent(summary), "speak_to_the_judge": flagged},
    )


def _rows(pool: Pool, graded: GradedPairs, more: Sequence[JudgmentRow]) -> Sequence[JudgmentRow]:
    """The rows of the table of judgments, which hold texts, and ``more`` after them."""
    count, judgments = len(pool.pairs), graded.judgments

    def row(at: int) -> JudgmentRow:
        if at >= count:
            return more[at - count]
        samples, spread, reason, explanation = graded.sampled(at)
        return judgment_row(
            judgments[at],
            pool.pairs.documents[pool.pairs.columns[1][at]],
            scored_on=True,
            reason=reason,
            samples=" ".join(map(str, samples)),
            spread=spread,
            cost=finite(graded.costs[at]),
            explanation=explanation,
        )

    return Lazy(count + len(more), row)


def make_pool(searched: Sequence[Searched], corpus: Corpus, config: PoolConfig) -> Pool:
    """The union over all stages of all settings, and the part of each setting."""
    return pool_of(
        corpus.queries.queries,
        {
            result.setting.name: [
                {ranking.query_id: ranking for ranking in ranked} for ranked in result.rankings.values()
            ]
            for result in searched
        },
        {chunk.chunk_id: chunk for result in searched for chunk in result.chunking.chunks},
        corpus.documents,
        config,
    )


def flag_passages(pairs: Iterable[Pair], notes: RunNotes) -> dict[str, str]:
    """Warn of passages that address the judge; returns their words by the id of the passage."""
    flags: dict[str, str] = {}
    for pair in pairs:
        if pair.passage.chunk_id not in flags and (words := find_injection(pair.passage.text)):
            flags[pair.passage.chunk_id] = words
    if flags:
        shown = "; ".join(f"{name}: “{words}”" for name, words in list(flags.items())[:FLAGS_SHOWN])
        more = "; …" if len(flags) > FLAGS_SHOWN else ""
        notes.warn(sentence_of("judge.addressed", count=len(flags), passages=f"{shown}{more}"))
    return flags


def estimate_pool(
    pairs: Iterable[Pair], config: PoolJudgeConfig, ledger: Path, visitor: Visitor, corpus: Corpus
) -> Estimate | None:
    """The cost of grading, without a call; None for a judge that costs nothing."""
    if not config.asked:
        return None
    with Ledger(ledger) as answers_kept:
        estimates = make_judge(config, answers_kept, corpus, visitor).estimates(pairs)
    return together([estimate for _, estimate in estimates])


def scores_to_buy(
    pairs: Iterable[Pair], config: PoolJudgeConfig, ledger: Path, planning: Planning, corpus: Corpus
) -> tuple[PendingCalls, ...]:
    """What endpoints would be asked for by a judge by scores; nothing is computed or asked.

    ``planning`` has noted nothing yet.
    """
    if not config.served:
        return ()
    with Ledger(ledger) as answers_kept:
        judge, pool = make_judge(config, answers_kept, corpus, planning), list(pairs)
        if not pool or not isinstance(judge, ScoredJudge):
            return ()
        Loop(planning).run({"0": judge.scoring(pool, labelled_by_people(corpus))})
    return tuple(endpoint for endpoint in planning.endpoints if endpoint.estimate.calls)


def grade_all(judge: PoolJudge, pairs: Iterable[Pair], total: int, sink: Sink, notes: RunNotes) -> Summary:
    """Grade pairs (read several times), each model's estimate noted first."""
    estimates = judge.estimates(pairs)
    for name, estimate in estimates:
        notes.reporter.note(f"{name}: {estimate}")
    # what a model's calls go through changes no grade; a judge without calls warns of its grades
    reporter = notes.reporter if estimates else notes.keeping("judge")
    summary = judge.grade(pairs, sink, reporter=reporter, total=total)
    if summary.unscored_count:
        notes.warn(
            sentence_of(
                "judge.ungraded",
                ungraded=summary.unscored_count,
                passages=counted(summary.pairs, "passage"),
                judge=judge.name,
            )
        )
    return summary


def _spent(summary: Summary) -> dict[str, Any]:
    return {
        "pairs": summary.pairs,
        "calls": summary.calls,
        "from_ledger": summary.from_ledger,
        "prompt_tokens": summary.prompt_tokens,
        "completion_tokens": summary.completion_tokens,
        "cost": summary.cost,
        "maybe_billed": {"calls": summary.unseen_calls, "at_most": summary.unseen_cost},
        "faults": dict(summary.faults),
        "unscored": dict(summary.unscored),
        **({"panel": summary.panel} if summary.panel else {}),
        "samples_disagree": summary.disagreeing,
        "served_models": sorted(summary.served_models),
    }


def _paid_once(pairs: Iterable[Pair], costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """For every pair the first one with the same texts and cost: one call has graded both."""
    texts = (
        hash((pair.query.text, pair.passage.text, cost)) for pair, cost in zip(pairs, costs, strict=True)
    )
    _, first, same = np.unique(
        np.fromiter(texts, np.int64, len(costs)), return_index=True, return_inverse=True
    )
    return first[same]


def cost_rows(
    costs: NDArray[np.float64], used: Mapping[str, Sequence[int]], paid_as: NDArray[np.int64]
) -> list[CostRow]:
    """Cost per setting, from the cost of each judged pair and the numbers of the pairs that each uses.

    ``paid_as`` has for every pair the number of the one that it was paid with.

    Alone is what the setting would have cost by itself; shared, each cost split among its users, sums to the
    cost of all used pairs. Both are None for a setting that uses a pair whose cost is unknown (NaN): an
    unknown cost is not zero.
    """
    numbers = {setting: np.unique(paid_as[np.asarray(of, dtype=np.int64)]) for setting, of in used.items()}
    users = np.zeros(len(costs))
    for of in numbers.values():
        users[of] += 1
    return [
        CostRow(setting, len(used[setting]), finite(costs[of].sum()), finite((costs[of] / users[of]).sum()))
        for setting, of in numbers.items()
    ]
