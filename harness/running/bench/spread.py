"""What is left to compute, and how it would be spread over the workers of a cluster, in what time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.running.compute import LocalPass, ModelPass, length_of
from harness.running.config.models import BenchConfig
from harness.running.engine import Engine, EngineConfig, LocalEngine
from harness.running.note_wordings import SPREAD
from harness.running.planning import Planned
from harness.running.search import Chunked
from harness.steps import LocalModelScorer, pairs_of
from harness.values import Query, Sentence, by_key, counted, duration, worded

# What the harness measures of the stages that a cluster takes over.
_APART = ("parse", "embed", "rerank")


def wall_seconds(seconds: float | None, workers: int, batches: int | None) -> float | None:
    """The seconds until the last worker is done, if none of them waits, of those of all workers together.

    ``batches`` None: they depend on what is retrieved.
    """
    busy = workers if batches is None else max(1, min(workers, batches))
    return None if seconds is None else seconds / busy


@dataclass(frozen=True, slots=True)
class Work:
    """What a run does with its settings; ``planned`` is what is known of them, and what they still take."""

    points: Sequence[Chunked]
    planned: Planned
    queries: Sequence[Query]
    config: BenchConfig

    def texts(self) -> Iterator[tuple[str, ModelPass, dict[bytes, Any], int]]:
        """For each encoder its name, the texts that searching still embeds, and how many are embedded."""
        texts = [need for need in self.planned.left if need.whose and need.model is not None]
        for needs in by_key(
            (text.model.fingerprint, text) for text in texts if text.model is not None
        ).values():
            model, items = needs[0].model, {key: text for need in needs for key, text in need.items.items()}
            if model is not None:
                stored = frozenset[bytes]().union(*(need.stored for need in needs))
                yield needs[0].config.model_name, model, items, len(stored)

    def pairs(self) -> Iterator[tuple[str, ModelPass, int, int, list[Any]]]:
        """For each model of pairs its name, how many are left at most, their characters, and some of them."""
        by_model = by_key(
            (need.model, need) for need in self.planned.left if not need.whose and need.model is not None
        )
        for model, needs in by_model.items():
            pairs = [pair for need in needs if not need.guessed for pair in need.items.values()]
            guessed = [passages for need in needs for passages in need.lists]
            characters = sum(map(length_of, pairs))
            characters += sum(
                (len(passages) - 1) * len(passages[0]) + sum(map(len, passages[1:])) for passages in guessed
            )
            some = [*pairs, *pairs_of(guessed[:1])]
            yield needs[0].config.model_name, model, sum(need.count for need in needs), characters, some

    def spread(self, over: Engine) -> Iterator[Sentence]:
        """How what is left would be spread; none without a cluster. Documents have been read already."""
        if not over.apart:
            return
        workers, engine = over.size(), self.config.engine
        stages = [*self._embedding(over), *self._scoring(over)]
        yield worded(
            SPREAD,
            "spread.engine.gpus" if engine.gpus else "spread.engine",
            address=engine.address,
            workers=counted(workers, "worker"),
            cpus=counted(engine.threads, "CPU"),
            gpus=f"{engine.gpus:g}",
        )
        yield from (line for _, line in stages)
        if not stages:
            yield worded(SPREAD, "spread.nothing")
        if len(stages) > 1:
            seconds = [wall for wall, _ in stages if wall is not None]
            code = "spread.together" if len(seconds) == len(stages) else "spread.together.more"
            yield worded(SPREAD, code if seconds else "spread.together.unknown", time=duration(sum(seconds)))
        yield _here(self.config)

    def _stage(
        self,
        model: ModelPass,
        characters: int,
        over: Engine,
        batches: int | None,
        work: tuple[str, Mapping[str, str]],
    ) -> tuple[float | None, Sentence]:
        """The seconds until the ``work`` of one model is done, None where nothing was measured, in a line.

        ``work`` is the beginning of a code of ``SPREAD`` and values of its sentence.
        """
        measured, speed, cpus = _speed(model, self.config.engine, over.worker)
        workers = over.size()
        wall = wall_seconds(None if speed is None else characters / speed, workers, batches)
        return wall, worded(
            SPREAD,
            f"{work[0]}.{measured}",
            workers=counted(workers, "worker"),
            time="" if wall is None else duration(wall),
            speed="" if speed is None else f"{speed:,.0f}",
            cpus=counted(cpus, "CPU"),
            **work[1],
        )

    def _embedding(self, over: Engine) -> Iterator[tuple[float | None, Sentence]]:
        for name, model, items, _ in self.texts():
            if items and isinstance(model, LocalPass):
                texts: list[Any] = list(items.values())
                batches = len(model.model.batches(texts))
                work = {
                    "model": name,
                    "texts": counted(len(texts), "text"),
                    "batches": counted(batches, "batch", "batches"),
                }
                yield self._stage(model, sum(map(len, texts)), over, batches, ("spread.embed", work))

    def _scoring(self, over: Engine) -> Iterator[tuple[float | None, Sentence]]:
        """At most so many pairs, as settings share them."""
        for name, model, count, characters, _ in self.pairs():
            if count and isinstance(model, LocalPass) and isinstance(model.model, LocalModelScorer):
                work = {"model": name, "pairs": counted(count, "pair")}
                yield self._stage(model, characters, over, None, ("spread.score", work))


def _speed(
    model: ModelPass, engine: EngineConfig, worker_there: tuple[str, float, float]
) -> tuple[str, float | None, int]:
    """Where the speed of a worker was measured, in characters a second, and by how many CPUs here."""
    speed = model.speed(worker_there)
    if speed is not None:
        return "ray", speed, 0
    worker = LocalEngine().worker
    speed = model.speed(worker)
    if speed is None or engine.gpus or worker[2]:
        return "unmeasured", None, 0
    return "process", speed * engine.threads / worker[1], int(worker[1])


def _here(config: BenchConfig) -> Sentence:
    """What is done on this machine, and how long it took in the last run."""
    try:
        record = json.loads((config.results / config.name / "record.json").read_text(encoding="utf-8"))
        took, date = record["timings"], record["date"]
        seconds = took["total"] - sum(took.get(stage, 0.0) for stage in _APART)
    except (OSError, ValueError, KeyError):
        return worded(SPREAD, "spread.here.unknown", folder=config.results / config.name)
    return worded(SPREAD, "spread.here", time=duration(seconds), date=date)
