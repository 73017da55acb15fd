"""How fast workers have computed in earlier runs of a cache."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.running.context import Context
from harness.store import key_of


@dataclass(frozen=True, slots=True)
class Rate:
    """The characters that went through a model, and the seconds that all its workers took together."""

    characters: int
    seconds: float

    @property
    def speed(self) -> float:
        """Characters a second by one worker."""
        return self.characters / self.seconds


def keep_rate(path: Path, characters: int, seconds: float, context: Context) -> None:
    """Add what a run took to what earlier ones took; ``path`` is where the values of the model are kept."""
    before = rate_of(path, context.engine.worker, context) or Rate(0, 0.0)
    after = Rate(before.characters + characters, before.seconds + seconds)
    if after.characters and after.seconds:
        context.artifacts.put("rate", _key(path, context.engine.worker), asdict(after))


def rate_of(path: Path, worker: tuple[str, float, float], context: Context) -> Rate | None:
    """The rate of such a worker, in all runs from this machine together; None if none has computed."""
    stored = context.artifacts.get("rate", _key(path, worker))
    return None if stored is None else Rate(**stored)


def _key(path: Path, worker: tuple[str, float, float]) -> str:
    return key_of(path.parent.name, path.name, worker, platform.node())
