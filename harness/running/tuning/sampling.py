"""The first stage of a tuning whose settings are proposed: in rounds, each by the scores of earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.comparison import SeenStage
from harness.models import CalibrationTexts
from harness.running.config.models import BenchConfig
from harness.running.config.space import Space, Values
from harness.running.config.tune_keys import PartConfig
from harness.running.judging.judged import pool_judge_config
from harness.running.note_wordings import TUNE
from harness.running.tuning.sampler import STARTUP, propose
from harness.running.tuning.screen import Screened, screen
from harness.values import HarnessError, Reporter, Sentence, counted, number, worded


@dataclass(slots=True)
class Sampled:
    """The proposals so far, in order, with their scores on the part; ``exhausted``: there are no others."""

    proposals: list[Values] = field(default_factory=list)
    screened: Screened | None = None
    exhausted: bool = False

    @property
    def scores(self) -> list[float]:
        """The mean of each proposal."""
        return [] if self.screened is None else self.screened.seen.matrix.defined().means.tolist()

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        screened = None if self.screened is None else self.screened.to_json()
        return {"proposals": self.proposals, "screened": screened, "exhausted": self.exhausted}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Sampled:
        """What ``to_json`` gave."""
        screened = value["screened"]
        return cls(
            list(map(dict, value["proposals"])),
            None if screened is None else Screened.from_json(screened),
            value["exhausted"],
        )


def round_size(count: int) -> int:
    """How many are proposed at a time after the first round: a tenth of all."""
    return max(1, count // 10)


def sample(
    config: BenchConfig,
    space: Space,
    sampled: Sampled,
    part: PartConfig,
    measure: str,
    reporters: tuple[Reporter, Reporter],
    keep: Callable[[], None],
    calibration: CalibrationTexts | None = None,
) -> BenchConfig:
    """The configuration with what was proposed as its settings: as many as it has, or all that there are.

    ``keep`` is called after each round. The first of the ``reporters`` hears how far it is, the second one
    is for the searches. With ``calibration`` bi-encoders compute in int8.
    """
    count = len(config.settings)
    while len(sampled.proposals) < count and not sampled.exhausted:
        before = len(sampled.proposals)
        wanted = min(count - before, round_size(count) if before else STARTUP)
        fresh = propose(space, sampled.proposals, sampled.scores, wanted, config.tune.seed)
        if fresh:
            _see(config, space, sampled, fresh, part, measure, reporters[1], calibration)
        sampled.exhausted = len(fresh) < wanted
        keep()
        reporters[0].note(_line(sampled, count))
    if not sampled.proposals:
        raise HarnessError(
            "No proposal made a setting: the numbers of the ranges hardly ever go together. Narrow the "
            "ranges, such as by a chunk_overlap that ends below the least chunk_size."
        )
    return config.model_copy(update={"settings": tuple(space.settings(sampled.proposals))})


def _see(
    config: BenchConfig,
    space: Space,
    sampled: Sampled,
    fresh: Sequence[Values],
    part: PartConfig,
    measure: str,
    quiet: Reporter,
    calibration: CalibrationTexts | None,
) -> None:
    """Search and score the fresh proposals; all of them again where grades depend on a common pool."""
    proposals = [*sampled.proposals, *fresh]
    settings = space.settings(proposals)
    seen = None if pool_judge_config(config) is not None else sampled.screened
    new = settings if seen is None else settings[len(sampled.proposals) :]
    chosen = config.model_copy(update={"settings": tuple(new), "part": part})
    screened = screen(chosen, measure, quiet, calibration=calibration)
    names = tuple(setting.name for setting in settings)
    if seen is not None:
        values = np.concatenate([seen.seen.matrix.values, screened.seen.matrix.values])
        # names say what differs, and so change with each proposal
        matrix = replace(seen.seen.matrix, settings=names, values=values)
        before = [*seen.seen.matrix.settings, *screened.seen.matrix.settings]
        shares = {**seen.seen.read, **screened.seen.read}
        read = {name: shares[old] for name, old in zip(names, before, strict=True) if old in shares}
        screened = replace(screened, seen=SeenStage(matrix, screened.seen.basis, read=read))
    spent = 0.0 if sampled.screened is None else sampled.screened.cpu_seconds
    sampled.screened = replace(screened, cpu_seconds=spent + screened.cpu_seconds)
    sampled.proposals = proposals


def _line(sampled: Sampled, count: int) -> Sentence:
    """How many were tried, and which is the best."""
    tried = {"tried": str(len(sampled.proposals)), "proposals": counted(count, "proposal")}
    if sampled.screened is None:
        return worded(TUNE, "tune.tried", **tried)
    scores = sampled.scores
    best = scores.index(max(scores))
    code = "tune.tried.last" if sampled.exhausted else "tune.tried.best"
    name = sampled.screened.seen.matrix.settings[best]
    return worded(TUNE, code, setting=name, score=number(scores[best]), **tried)
