"""The table that fills while a sweep runs: one row per setting, with its score as soon as it is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.report import SummaryRow, is_route
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Scorers, headline_means
from harness.running.evaluate.verdict import run_headline
from harness.running.judging.judges import pool_judge_config
from harness.running.judging.pool import judged_by_people
from harness.running.search import RETRIEVE, Searched, reranker_names
from harness.values import Board, number


@dataclass(frozen=True, slots=True)
class LiveTable:
    """Fills the board of a run. With human labels, scores appear immediately; else after judging."""

    board: Board
    config: BenchConfig
    context: Context

    def searched(self, corpus: Corpus, one: Searched) -> None:
        """A setting has its rankings."""
        if not self.board.live:
            return
        cells = {
            "chunks": f"{len(one.chunking.chunks):,}",
            "seconds": f"{one.notes['seconds'][one.steps[-1]]:.1f}",
        }
        if pool_judge_config(self.config) is None:
            judgments = judged_by_people(corpus, self.config).judgments
            scorer = Scorers(judgments, corpus, self.config, self.context).of(one)
            means = headline_means(one, scorer, self.config)
            cells |= {stage: number(mean) for stage, mean in means.items() if not is_route(stage)}
        self.board.put(one.setting.name, cells)

    def scored(self, summary: Sequence[SummaryRow]) -> None:
        """A setting has its scores."""
        for row in summary:
            if row.split == "all" and row.measure == run_headline(self.config) and not is_route(row.stage):
                self.board.put(row.setting, {row.stage: number(row.mean)})


@contextmanager
def live_table(config: BenchConfig, context: Context) -> Iterator[LiveTable]:
    """Show the board during the with block."""
    rerankers = max((reranker_names(setting) for setting in config.settings), key=len)
    columns = (f"mean {run_headline(config)}", "chunks", "seconds", RETRIEVE, *rerankers)
    with context.reporter.board(columns) as board:
        yield LiveTable(board, config, context)
