"""Rankings of all settings → one pool of passages → their grades by a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from harness.comparison import number
from harness.judge import (
    Pair,
    PairGrade,
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
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.judging.judged import Judged, judgment_row, label_rows
from harness.running.judging.judges import make_judge
from harness.running.search import Searched
from harness.store import Ledger
from harness.values import Document, Judgment, counted

FLAGS_SHOWN = 3


def judged_by_judge(
    searched: Sequence[Searched], corpus: Corpus, judge_config: PoolJudgeConfig, context: Context
) -> Judged:
    """Have a judge grade the union of the passages that all settings rank high; raises JudgeError."""
    pool = make_pool(searched, corpus, judge_config.pool)
    found: dict[int, _Graded] = {}

    def keep(one: PairGrade) -> None:
        # without the pair, which holds a text
        found[one.pair.number] = one.judgment, one.samples, one.spread, one.reason, one.cost

    flagged = flag_passages(pool.pairs, context) if judge_config.asked else {}
    with context.timed("judge"), Ledger(context.cache.ledger) as ledger:
        judge = make_judge(judge_config, ledger, context, corpus)
        summary = grade_all(judge, pool.pairs, len(pool.pairs), keep, context)
    if missing := len(pool.pairs) - len(found):
        raise RuntimeError(f"the judge has returned nothing for {counted(missing, 'pair')}")
    graded = [found[number] for number in range(len(pool.pairs))]
    judgments = [judgment for judgment, *_ in graded]
    costs = np.array([np.nan if cost is None else cost for *_, cost in graded], dtype=np.float64)
    return Judged(
        judge=judge.name,
        fingerprint=dict(judge.fingerprint),
        judgments=judgments,
        rows=GradedRows(graded, corpus.documents, label_rows(corpus, scored_on=False)),
        failed=frozenset(judgment.query_id for judgment in judgments if judgment.grade is None),
        costs=cost_rows(costs, pool.by_setting),
        spent={**_spent(summary), "speak_to_the_judge": flagged},
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


def cost_rows(costs: NDArray[np.float64], used: Mapping[str, Sequence[int]]) -> list[CostRow]:
    """Cost per setting, from the cost of each judged pair and the numbers of the pairs that each uses.

    Alone is what the setting would have cost by itself; shared, each cost split among its users, sums to the
    cost of all used pairs. Both are None for a setting that uses a pair whose cost is unknown (NaN): an
    unknown cost is not zero.
    """
    numbers = {setting: np.unique(np.asarray(of, dtype=np.int64)) for setting, of in used.items()}
    users = np.zeros(len(costs))
    for of in numbers.values():
        users[of] += 1
    return [
        CostRow(setting, len(used[setting]), number(costs[of].sum()), number((costs[of] / users[of]).sum()))
        for setting, of in numbers.items()
    ]


_Graded = tuple[Judgment, tuple[int, ...], int, str, float | None]
"""A judgment with its samples, their spread, the reason for no grade, and the cost."""


class GradedRows(Sequence[JudgmentRow]):
    """The rows of the table of judgments: those of a pool in its order, and ``more`` after them.

    A row holds its text, so it is made when it is read, and not kept.
    """

    def __init__(
        self, graded: Sequence[_Graded], documents: Sequence[Document], more: Sequence[JudgmentRow]
    ) -> None:
        self._documents = {document.doc_id: document for document in documents}
        self._graded, self._more = graded, more

    def __len__(self) -> int:
        return len(self._graded) + len(self._more)

    @overload
    def __getitem__(self, at: int) -> JudgmentRow: ...
    @overload
    def __getitem__(self, at: slice) -> list[JudgmentRow]: ...
    def __getitem__(self, at: int | slice) -> JudgmentRow | list[JudgmentRow]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        number = range(len(self))[at]
        if number >= len(self._graded):
            return self._more[number - len(self._graded)]
        judgment, samples, spread, reason, cost = self._graded[number]
        return judgment_row(
            judgment,
            self._documents[judgment.doc_id],
            scored_on=True,
            reason=reason,
            samples=" ".join(map(str, samples)),
            spread=spread,
            cost=cost,
        )
