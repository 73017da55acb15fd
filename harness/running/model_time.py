"""What models on this machine still have to compute, and the time that takes at most, by a sample of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from harness.running.compute import LocalPass, length_of
from harness.running.engine import LocalEngine, run_of, speed_of
from harness.store import Artifacts
from harness.values import counted, duration

_SAMPLE = 32
# A run takes so much longer than its models alone: it also keeps what they compute.
_SLACK = 1.25


@dataclass(frozen=True, slots=True)
class LeftOfModel:
    """What one model still has to compute: its pass, the items in words, characters, some items."""

    model: LocalPass
    items: str
    characters: float
    sample: Sequence[Any]


def texts_left(name: str, model: LocalPass, texts: Sequence[str]) -> LeftOfModel:
    """Distinct texts that an encoder still has to embed."""
    amount = f"{counted(len(texts), 'text')} to embed by {name}"
    return LeftOfModel(model, amount, sum(map(len, texts)), spread_over(texts))


@dataclass(frozen=True, slots=True)
class Remaining:
    """What models on this machine still have to compute; ``elsewhere``: endpoints or code take part too."""

    models: Sequence[LeftOfModel]
    elsewhere: bool

    def takes(self, artifacts: Artifacts, *, stored: bool = False) -> str:
        """What it is, and the time that models on this machine take for it at most.

        Each model computes a sample, which is not kept; with ``stored`` only if no earlier run here has said
        how fast it is.
        """
        if not self.models:
            return "what they take is not known, as no model on this machine computes it"
        items = ", ".join(need.items for need in self.models)
        speeds = [speed_by_model(need, artifacts, stored=stored) for need in self.models]
        if None in speeds:
            return f"{items}; how long that takes is not known, as all texts of its sample are empty"
        pairs = zip(self.models, speeds, strict=True)
        seconds = sum(need.characters / speed for need, speed in pairs if speed)
        more = "; what endpoints and code of your own take besides is not known" if self.elsewhere else ""
        return f"{items}, at most about {duration(_SLACK * seconds)}{more}"


def spread_over(texts: Sequence[Any]) -> Sequence[Any]:
    """A few of the texts, from all over."""
    return texts[:: max(1, len(texts) // _SAMPLE)][:_SAMPLE]


def speed_by_model(left: LeftOfModel, artifacts: Artifacts, *, stored: bool = False) -> float | None:
    """Characters a second: those of the slower half of a sample, or of earlier runs here if that is less.

    With ``stored`` a speed of earlier runs is enough. An item before the sample warms the model up. None
    where no text of the sample has a character and no earlier run has computed.
    """
    earlier = speed_of(left.model.path, LocalEngine().worker, artifacts) or None
    if stored and earlier is not None:
        return earlier
    run, sample = run_of(left.model.model), [item for item in left.sample if length_of(item)]
    if sample:
        list(run(sample[:1]))
    speeds = [] if earlier is None else [earlier]
    for half in filter(None, (sample[::2], sample[1::2])):
        start = perf_counter()
        list(run(half))
        speeds.append(sum(map(length_of, half)) / max(1e-6, perf_counter() - start))
    return min(speeds, default=None)
