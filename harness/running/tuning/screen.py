"""What one stage sees: settings searched and scored on a part, by the measure that decides."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from harness.comparison import ScoreMatrix, SeenStage
from harness.models import CalibrationTexts
from harness.running.bench.flow import shared_cache
from harness.running.bench.preparing import prepare
from harness.running.config.models import BenchConfig, Setting
from harness.running.evaluate.evaluating import Scorers, clusters_of
from harness.running.evaluate.warnings import shares_read
from harness.running.judging.judged import GradedQueries, pool_judge_config
from harness.running.judging.judgments import judge_pool
from harness.running.meeting import Running
from harness.running.pipeline import reranker_names
from harness.running.search import search_settings
from harness.running.session import Session
from harness.running.tuning.calibrating import calibrate
from harness.values import Reporter


@dataclass(frozen=True, slots=True)
class Screened:
    """What a stage saw, how many documents and characters, and what it took.

    ``cpu_seconds`` are those of this process with its threads.
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
            "held": sorted(self.seen.held),
            "read": dict(self.seen.read),
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
        seen = SeenStage(
            ScoreMatrix(measure=matrix["measure"], values=values, **texts),
            value["basis"],
            frozenset(value["held"]),
            dict(value["read"]),
        )
        return cls(seen, value["documents"], value["characters"], value["cpu_seconds"])


def _plain(matrix: ScoreMatrix) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in matrix.values.tolist()]


def retriever_of(setting: Setting) -> str:
    """What a setting is without its name, rerankers and answers, as text."""
    return setting.model_copy(update={"name": "", "rerank": (), "answer": None}).model_dump_json()


def without_rerankers(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """The distinct settings that are left without rerankers, each named as the first that is like it."""
    distinct: dict[str, Setting] = {}
    for setting in settings:
        distinct.setdefault(retriever_of(setting), setting.model_copy(update={"rerank": ()}))
    return tuple(distinct.values())


def screen(
    config: BenchConfig,
    measure: str,
    reporter: Reporter,
    *,
    held: bool = False,
    calibration: CalibrationTexts | None = None,
) -> Screened:
    """Search and score the settings of a configuration on its part. Answers are left to the last stage.

    ``held``: rerankers are held back, and a setting has the scores of what it retrieves. With
    ``calibration`` bi-encoders compute in int8.
    """
    named = config.settings
    settings = tuple(
        setting.model_copy(update={"answer": None})
        for setting in (without_rerankers(named) if held else named)
    )
    config = config.model_copy(update={"settings": settings, "answer_measures": ()})
    begun = time.process_time()
    precision = config.precision if calibration is None else "exact"
    with (
        Session.at(config.cache, reporter, precision=precision, engine=config.engine) as session,
        shared_cache(config, session.cache, session.faults, session.notes.reporter),
    ):
        if calibration is not None:
            calibrate(session.models, calibration, session.artifacts)
        corpora, points = prepare(config, session)
        corpus = corpora.united
        queries = corpus.queries.queries
        searched = [corpora.in_united(each) for each in search_settings(points, queries, session)]
        judged = judge_pool(
            *(searched, corpus, config, session.cache.ledger), Running(session), session.notes
        )
        graded = GradedQueries(queries, judged.judgments, config.relevance)
        clusters = clusters_of(graded, corpus, config, session.notes)
        scorers = Scorers(graded, corpus, session.models)
        rows = [
            scorers.of(each).score(each.rankings[each.steps[-1]], [measure]).values[:, 0] for each in searched
        ]
        short = shares_read(searched, [measure]).get(measure, {})
    # with rerankers held back, one search stands for all settings that retrieve alike
    place = {retriever_of(setting): at for at, setting in enumerate(settings)}
    seen_as = [place[retriever_of(setting)] for setting in named] if held else [*range(len(named))]
    matrix = ScoreMatrix(
        measure,
        tuple(setting.name for setting in named),
        tuple(query.query_id for query in queries),
        np.array([rows[at] for at in seen_as]),
        tuple(query.split for query in queries),
        tuple(clusters[query.query_id] for query in queries),
    )
    unranked = frozenset(setting.name for setting in named if held and reranker_names(setting))
    shares = {setting.name: short.get(settings[at].name) for setting, at in zip(named, seen_as, strict=True)}
    read = {name: share for name, share in shares.items() if share is not None}
    seen = SeenStage(matrix, _basis(config, quantised=calibration is not None), unranked, read)
    characters = sum(len(document.text) for document in corpus.documents)
    return Screened(seen, len(corpus.documents), characters, time.process_time() - begun)


def _basis(config: BenchConfig, *, quantised: bool) -> str:
    """What the scores of a stage rest on: scores stand beside each other only where it is the same."""
    part = config.part
    text = "whole" if part.text == 1 else f"{part.text}"
    # scores of vectors in int8 do not stand beside exact ones
    text += ", int8" if quantised else ""
    # a pool of other settings has other grades
    return text if pool_judge_config(config) is None else f"{text}, {len(config.settings)} settings"
