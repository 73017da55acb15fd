"""How well top scores tell the queries that the documents answer from those they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.measures import separation, thresholds
from harness.report import AnswerabilityRow, ThresholdRow
from harness.running.config.models import BenchConfig
from harness.values import FEWEST_FOR_INTERVAL, NOT_SCORED, Ranking, counted


def answerability(
    setting: str,
    stage: str,
    rankings: Sequence[Ranking],
    answerable: Mapping[str, bool],
    config: BenchConfig,
) -> tuple[list[AnswerabilityRow], list[ThresholdRow]]:
    """The AUROC of the top scores of one stage, and the effect of every threshold on them.

    Both are empty if all queries are answerable or none is. A query without a ranking has no top score
    and takes no part, nor has one whose ranks came without scores.
    """
    tops = [
        (ranking.scores[0], answerable[ranking.query_id])
        for ranking in rankings
        if ranking.scores and ranking.scores[0] != NOT_SCORED
    ]
    yes = np.array([score for score, has_answer in tops if has_answer])
    no = np.array([score for score, has_answer in tops if not has_answer])
    bootstrap = config.bootstrap
    found = separation(yes, no, bootstrap.seed, bootstrap.resamples, bootstrap.level)
    if found is None:
        return [], []
    head = AnswerabilityRow(
        setting,
        stage,
        found.auroc,
        found.low,
        found.high,
        found.n_answerable,
        found.n_unanswerable,
        _remark(found.n_answerable, found.n_unanswerable),
    )
    table = thresholds(yes, no)
    rows = [
        ThresholdRow(setting, stage, float(threshold), float(kept), float(refused))
        for threshold, kept, refused in zip(
            table.threshold, table.answerable_kept, table.unanswerable_refused, strict=True
        )
    ]
    return [head], rows


def _remark(answerable: int, unanswerable: int) -> str:
    """A remark on a figure from too few queries for an interval."""
    sides = {"answerable query": answerable, "unanswerable query": unanswerable}
    few = [counted(n, one, f"{one[:-1]}ies") for one, n in sides.items() if n < FEWEST_FOR_INTERVAL]
    return f"from only {' and '.join(few)}" if few else ""
