"""Rankings of all settings → one pool of graded spans, on which every setting is scored."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.config import BenchConfig
from harness.errors import JudgeError
from harness.judge import Graded, LabelsJudge, LlmConfig, LlmJudge, Pair, PoolConfig, Summary, pool_pairs
from harness.judge.client import Reply
from harness.judge.money import Estimate, cost_by_setting
from harness.pipeline.context import Context
from harness.pipeline.corpus import Corpus
from harness.pipeline.judges import PoolJudge, PoolJudgeConfig, make_judge, pool_judge_config
from harness.pipeline.search import Searched
from harness.report import CostRow, JudgmentRow
from harness.store.ledger import Ledger
from harness.types import Document, Judgment


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgments that all settings are scored on, and how they came about.

    ``failed`` are the queries with text that the judge could not grade; ``spent`` what this run asked and
    paid; ``rows`` also hold human labels that only stand beside a judge's.
    """

    judge: str
    fingerprint: dict[str, Any]
    judgments: tuple[Judgment, ...]
    rows: list[JudgmentRow]
    failed: frozenset[str]
    costs: list[CostRow]
    spent: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pool:
    """The pairs to judge, each once, and which of them (query id, span id) each setting uses."""

    pairs: list[Pair]
    by_setting: dict[str, list[tuple[str, str]]]


def judge_pool(searched: Sequence[Searched], corpus: Corpus, config: BenchConfig, context: Context) -> Judged:
    """Grade the union of what all settings ranked high, or hand on what people have graded.

    Raises JudgeError where the judge cannot be asked, stops at a limit, or leaves too much without a grade;
    what it has answered is in the ledger, and the next run goes on from there.
    """
    judge_config = pool_judge_config(config)
    documents = {document.doc_id: document for document in corpus.documents}
    if judge_config is None:
        return judged_by_people(corpus, config)
    pool = make_pool(searched, corpus, judge_config.pool)
    with context.timed("judge"), Ledger(context.cache.ledger) as ledger:
        judge = make_judge(judge_config, ledger, context)
        graded, summary = grade_all(judge, pool.pairs, context)
    human = [_row(label, documents, scored_on=False) for label in corpus.labels]
    return Judged(
        judge=judge.name,
        fingerprint=dict(judge.fingerprint),
        judgments=tuple(one.judgment for one in graded),
        rows=[_graded_row(one, documents) for one in graded] + human,
        failed=frozenset(one.judgment.query_id for one in graded if one.judgment.grade is None),
        costs=_costs(graded, pool),
        spent=_spent(summary),
    )


def judged_by_people(corpus: Corpus, config: BenchConfig) -> Judged:
    """The human labels as the judgments of a run."""
    documents = {document.doc_id: document for document in corpus.documents}
    names = sorted({label.judge for label in corpus.labels})
    return Judged(
        judge=", ".join(names) or LabelsJudge.name,
        fingerprint={"kind": "labels", "file": str(config.labels or getattr(config.relevance.judge, "file"))},  # noqa: B009
        judgments=corpus.labels,
        rows=[_row(label, documents, scored_on=True) for label in corpus.labels],
        failed=frozenset(label.query_id for label in corpus.labels if label.grade is None),
        costs=[],
        spent={},
    )


def make_pool(searched: Sequence[Searched], corpus: Corpus, config: PoolConfig) -> Pool:
    """The union over all stages of all settings, and the part of each setting."""
    queries = corpus.queries.queries
    documents = {document.doc_id: document for document in corpus.documents}
    chunks = {chunk.chunk_id: chunk for one in searched for chunk in one.chunking.chunks}
    rankings = {
        one.setting.name: {
            f"{one.setting.name} {stage}": {ranking.query_id: ranking for ranking in ranked}
            for stage, ranked in one.rankings.items()
        }
        for one in searched
    }
    union = {name: ranked for stages in rankings.values() for name, ranked in stages.items()}
    return Pool(
        list(pool_pairs(queries, union, chunks, documents, config)),
        {
            setting: [
                (pair.query.query_id, pair.passage.chunk_id)
                for pair in pool_pairs(queries, stages, chunks, documents, config)
            ]
            for setting, stages in rankings.items()
        },
    )


def estimate_pool(pairs: Sequence[Pair], config: PoolJudgeConfig, context: Context) -> Estimate | None:
    """What grading would take, asking nothing; None for a judge that costs nothing."""
    if not isinstance(config, LlmConfig):
        return None
    with Ledger(context.cache.ledger) as ledger:
        return LlmJudge(config, ledger).estimate(pairs)


def grade_all(judge: PoolJudge, pairs: Sequence[Pair], context: Context) -> tuple[list[Graded], Summary]:
    """Grade pairs, in their order; where the ledger has every answer, neither key nor endpoint is needed."""
    if isinstance(judge, LlmJudge):
        estimate = judge.estimate(pairs)
        context.reporter.note(f"{judge.name}: {estimate}")
        if not estimate.calls:
            judge.client = _NothingToAsk()
    found: dict[tuple[str, str], Graded] = {}

    def keep(graded: Graded) -> None:
        found[graded.pair.query.query_id, graded.pair.passage.chunk_id] = graded

    summary = judge.grade(pairs, keep, reporter=context.reporter, total=len(pairs))
    return [found[pair.query.query_id, pair.passage.chunk_id] for pair in pairs], summary


class _NothingToAsk:
    """Stands where the endpoint would, in a run whose answers are all in the ledger."""

    async def ask(self, *_: object) -> Reply:
        """Refuse; it would mean that answers have left the ledger while it was read."""
        raise JudgeError("The ledger has lost answers during the run. Run again.")

    async def close(self) -> None:
        """Nothing is open."""


def _row(judgment: Judgment, documents: Mapping[str, Document], *, scored_on: bool) -> JudgmentRow:
    document = documents[judgment.doc_id]
    return JudgmentRow(
        query_id=judgment.query_id,
        document=judgment.doc_id,
        start=judgment.start,
        end=judgment.end,
        page=document.page_of(judgment.start),
        grade=judgment.grade,
        reason="" if judgment.grade is not None else "not graded",
        judge=judgment.judge,
        scored_on=scored_on,
        samples="",
        spread=0,
        cost=None,
        text=document.text[judgment.start : judgment.end],
    )


def _graded_row(graded: Graded, documents: Mapping[str, Document]) -> JudgmentRow:
    row = _row(graded.judgment, documents, scored_on=True)
    return replace(
        row,
        reason=graded.reason,
        samples=" ".join(map(str, graded.samples)),
        spread=graded.spread,
        cost=graded.cost,
    )


def _costs(graded: Sequence[Graded], pool: Pool) -> list[CostRow]:
    """One row a setting; a single unknown cost makes those of its settings unknown."""
    unknown = float("nan")
    costs: dict[Hashable, float] = {
        (one.judgment.query_id, one.pair.passage.chunk_id): unknown if one.cost is None else one.cost
        for one in graded
    }
    return [
        CostRow(setting, len(pool.by_setting[setting]), _known(cost.alone), _known(cost.shared))
        for setting, cost in cost_by_setting(costs, pool.by_setting).items()
    ]


def _known(cost: float) -> float | None:
    return None if cost != cost else cost


def _spent(summary: Summary) -> dict[str, Any]:
    return {
        "pairs": summary.pairs,
        "calls": summary.calls,
        "from_ledger": summary.from_ledger,
        "prompt_tokens": summary.prompt_tokens,
        "completion_tokens": summary.completion_tokens,
        "cost": summary.cost,
        "unscored": dict(summary.unscored),
        "samples_disagree": summary.disagreeing,
        "served_models": sorted(summary.served_models),
    }
