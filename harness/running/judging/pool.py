"""Rankings of all settings → one pool of graded spans, on which every setting is scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.judge import (
    PEOPLE,
    Pair,
    Pool,
    PoolConfig,
    PoolJudge,
    PoolJudgeConfig,
    Sink,
    Summary,
    find_injection,
    pool_of,
    together,
)
from harness.models import Estimate
from harness.report import CostRow, JudgmentRow
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.judging.graded import GradedPool, LazyRows, judgment_row
from harness.running.judging.judges import make_judge, pool_judge_config
from harness.running.search import Searched
from harness.store import Ledger
from harness.values import Judgment, counted

FLAGS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgments that all settings are scored on, and how they came about.

    ``failed`` are the queries with text that the judge could not grade; ``spent`` what this run asked and
    paid; ``rows`` also hold human labels that are only shown next to a judge's. A judge's judgments and rows
    are made when they are read.
    """

    judge: str
    fingerprint: dict[str, Any]
    judgments: Sequence[Judgment]
    rows: Sequence[JudgmentRow]
    failed: frozenset[str]
    costs: list[CostRow]
    spent: dict[str, Any]


def judge_pool(searched: Sequence[Searched], corpus: Corpus, config: BenchConfig, context: Context) -> Judged:
    """Grade the union of the passages that all settings rank high, or return the grades of people.

    Raises JudgeError if the judge cannot be asked, stops at a limit, or leaves too much without a grade;
    what it has answered is in the ledger, and the next run goes on from there.
    """
    judge_config = pool_judge_config(config)
    if judge_config is None:
        return judged_by_people(corpus, config)
    pool = make_pool(searched, corpus, judge_config.pool)
    graded = GradedPool(pool.pairs)
    flagged = flag_passages(pool.pairs, context) if judge_config.asked else {}
    with context.timed("judge"), Ledger(context.cache.ledger) as ledger:
        judge = make_judge(judge_config, ledger, context, corpus)
        summary = grade_all(judge, pool.pairs, len(pool.pairs), graded.keep, context)
    return Judged(
        judge=judge.name,
        fingerprint=dict(judge.fingerprint),
        judgments=graded.judgments,
        rows=_followed_by(graded.rows, _label_rows(corpus, scored_on=False)),
        failed=graded.failed,
        costs=_costs(graded, pool),
        spent={**_spent(summary), "speak_to_the_judge": flagged},
    )


def judged_by_people(corpus: Corpus, config: BenchConfig) -> Judged:
    """The human labels as the judgments of a run."""
    # a label that two people graded names both
    names = sorted({name or PEOPLE for label in corpus.labels for name in label.judge.split(", ")})
    return Judged(
        judge=", ".join(names) or PEOPLE,
        fingerprint={"kind": "labels", "file": str(config.label_file)},
        judgments=corpus.labels,
        rows=_label_rows(corpus, scored_on=True),
        failed=frozenset(label.query_id for label in corpus.labels if label.grade is None),
        costs=[],
        spent={},
    )


def make_pool(searched: Sequence[Searched], corpus: Corpus, config: PoolConfig) -> Pool:
    """The union over all stages of all settings, and the part of each setting."""
    return pool_of(
        corpus.queries.queries,
        {
            one.setting.name: [
                {ranking.query_id: ranking for ranking in ranked} for ranked in one.rankings.values()
            ]
            for one in searched
        },
        {chunk.chunk_id: chunk for one in searched for chunk in one.chunking.chunks},
        corpus.documents,
        config,
    )


def flag_passages(pairs: Iterable[Pair], context: Context) -> dict[str, str]:
    """Warn of passages that address the judge; returns their words by the id of the passage."""
    found: dict[str, str] = {}
    for pair in pairs:
        if pair.passage.chunk_id not in found and (words := find_injection(pair.passage.text)):
            found[pair.passage.chunk_id] = words
    if found:
        passages = "a passage addresses" if len(found) == 1 else f"{len(found)} passages address"
        shown = "; ".join(f"{name}: “{words}”" for name, words in list(found.items())[:FLAGS_SHOWN])
        more = "; …" if len(found) > FLAGS_SHOWN else ""
        context.warn(
            "judge",
            f"{passages} the judge ({shown}{more}). See its answers: "
            "`harness judge answers CONFIG --flagged`.",
        )
    return found


def estimate_pool(
    pairs: Iterable[Pair], config: PoolJudgeConfig, context: Context, corpus: Corpus
) -> Estimate | None:
    """The cost of grading, without a call; None for a judge that costs nothing."""
    if not config.asked:
        return None
    with Ledger(context.cache.ledger) as ledger:
        estimates = make_judge(config, ledger, context, corpus).estimates(pairs)
    return together([estimate for _, estimate in estimates])


def grade_all(judge: PoolJudge, pairs: Iterable[Pair], total: int, sink: Sink, context: Context) -> Summary:
    """Grade pairs (read several times), each model's estimate noted first."""
    estimates = judge.estimates(pairs)
    for name, estimate in estimates:
        context.reporter.note(f"{name}: {estimate}")
    # what a model's calls go through changes no grade; a judge without calls warns of its grades
    reporter = context.reporter if estimates else context.keeping("judge")
    summary = judge.grade(pairs, sink, reporter=reporter, total=total)
    if summary.unscored_count:
        left = f"{summary.unscored_count} of {counted(summary.pairs, 'passage')}"
        context.warn("judge", f"{left} have no usable grade by {judge.name} and count as unjudged")
    return summary


def _label_rows(corpus: Corpus, *, scored_on: bool) -> Sequence[JudgmentRow]:
    documents = {document.doc_id: document for document in corpus.documents}

    def row(at: int) -> JudgmentRow:
        label = corpus.labels[at]
        return judgment_row(label, documents[label.doc_id], scored_on=scored_on)

    return LazyRows(len(corpus.labels), row)


def _followed_by(first: Sequence[JudgmentRow], second: Sequence[JudgmentRow]) -> Sequence[JudgmentRow]:
    return LazyRows(
        len(first) + len(second), lambda at: first[at] if at < len(first) else second[at - len(first)]
    )


def _costs(graded: GradedPool, pool: Pool) -> list[CostRow]:
    """One row per setting; a single unknown cost makes those of its settings unknown."""
    return [
        CostRow(setting, len(pool.by_setting[setting]), _known(cost.alone), _known(cost.shared))
        for setting, cost in cost_by_setting(graded.costs, pool.by_setting).items()
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
        "maybe_billed": {"calls": summary.unseen_calls, "at_most": summary.unseen_cost},
        "faults": dict(summary.faults),
        "unscored": dict(summary.unscored),
        **({"panel": summary.panel} if summary.panel else {}),
        "samples_disagree": summary.disagreeing,
        "served_models": sorted(summary.served_models),
    }


@dataclass(frozen=True, slots=True)
class SettingCost:
    """``alone``: the cost of the judgments that a setting uses. ``shared``: each split among its users."""

    alone: float
    shared: float


def cost_by_setting(costs: NDArray[np.float64], used: Mapping[str, Sequence[int]]) -> dict[str, SettingCost]:
    """Cost per setting, from the cost of each judged pair and the numbers of the pairs that each uses.

    ``shared`` sums to the cost of all used pairs; ``alone`` is what the setting would have cost by itself.
    Both are NaN for a setting that uses a pair whose cost is unknown (NaN): an unknown cost is not zero.
    """
    numbers = {setting: np.unique(np.asarray(of, dtype=np.int64)) for setting, of in used.items()}
    users = np.zeros(len(costs))
    for of in numbers.values():
        users[of] += 1
    return {
        setting: SettingCost(float(costs[of].sum()), float((costs[of] / users[of]).sum()))
        for setting, of in numbers.items()
    }
