"""What one stage sees: settings searched and scored on a part, by the measure that decides."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from harness.comparison import ScoreMatrix, SeenStage
from harness.running.bench.flow import shared_cache
from harness.running.bench.preparing import prepare
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.evaluate.evaluating import Scorers, clusters_of
from harness.running.judging.judged import GradedQueries, pool_judge_config
from harness.running.judging.judgments import judge_pool
from harness.running.search import search_settings
from harness.values import Reporter


@dataclass(frozen=True, slots=True)
class Screened:
    """What a stage saw, how many documents and characters, and what it took.

    ``cpu_seconds`` are those of this process with its threads; ``calls`` and ``spent`` of language models.
    """

    seen: SeenStage
    documents: int
    characters: int
    cpu_seconds: float

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        matrix = {**asdict(self.seen.matrix), "values": _plain(self.seen.matrix)}
        return {
            "matrix": matrix,
            "basis": self.seen.basis,
            "documents": self.documents,
            "characters": self.characters,
            "cpu_seconds": self.cpu_seconds,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Screened:
        """The stage that was written."""
        matrix = value["matrix"]
        values = np.array([[np.nan if cell is None else cell for cell in row] for row in matrix["values"]])
        texts = {key: tuple(matrix[key]) for key in ("settings", "query_ids", "splits", "clusters")}
        seen = SeenStage(ScoreMatrix(measure=matrix["measure"], values=values, **texts), value["basis"])
        return cls(seen, value["documents"], value["characters"], value["cpu_seconds"])


def _plain(matrix: ScoreMatrix) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in matrix.values.tolist()]


def screen(config: BenchConfig, measure: str, reporter: Reporter) -> Screened:
    """Search and score the settings of a configuration on its part. Answers are left to the last stage."""
    settings = tuple(setting.model_copy(update={"answer": None}) for setting in config.settings)
    config = config.model_copy(update={"settings": settings, "answer_measures": ()})
    begun = time.process_time()
    with (
        Context.at(config.cache, reporter, precision=config.precision, engine=config.engine) as context,
        shared_cache(config, context),
    ):
        corpora, points = prepare(config, context)
        corpus = corpora.united
        queries = corpus.queries.queries
        searched = [corpora.in_united(each) for each in search_settings(points, queries, context)]
        judged = judge_pool(searched, corpus, config, context)
        graded = GradedQueries(queries, judged.judgments, config.relevance)
        clusters = clusters_of(graded, corpus, config, context)
        scorers = Scorers(graded, corpus, context)
        rows = [
            scorers.of(each).score(each.rankings[each.steps[-1]], [measure]).values[:, 0] for each in searched
        ]
    matrix = ScoreMatrix(
        measure,
        tuple(setting.name for setting in settings),
        tuple(query.query_id for query in queries),
        np.array(rows),
        tuple(query.split for query in queries),
        tuple(clusters[query.query_id] for query in queries),
    )
    part = config.part
    text = "whole" if part.text == 1 else f"{part.text}"
    # a pool of other settings has other grades
    basis = text if pool_judge_config(config) is None else f"{text}, {len(settings)} settings"
    characters = sum(len(document.text) for document in corpus.documents)
    return Screened(SeenStage(matrix, basis), len(corpus.documents), characters, time.process_time() - begun)
