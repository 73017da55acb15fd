"""The judgments of a run: the labels of people, or the grades of the judge that its configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.judging.judged import Judged, judged_by_people, pool_judge_config
from harness.running.loop import Visitor
from harness.running.notes import RunNotes
from harness.running.search import Searched


def judge_pool(
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    ledger: Path,
    visitor: Visitor,
    notes: RunNotes,
) -> Judged:
    """Grade the union of the passages that all settings rank high, or return the grades of people.

    Raises JudgeError if the judge cannot be asked, stops at a limit, or leaves too much without a grade;
    what it has answered is in ``ledger``, and the next run goes on from there. ``visitor`` meets what it
    needs.
    """
    judge_config = pool_judge_config(config)
    if judge_config is None:
        return judged_by_people(corpus, config)
    # what grades is loaded only where it is asked
    from harness.running.judging.pool import judged_by_judge

    return judged_by_judge(searched, corpus, judge_config, ledger, visitor, notes)
