"""Where the work of a run is done: in this process, or by the workers of a Ray cluster."""

from __future__ import annotations

import os
import platform
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Literal, TypeAlias, cast

import numpy as np
from pydantic import Field

from harness.models import EncoderConfig, LocalEncoder
from harness.steps import RERANKERS, PairScorer, RerankerConfig
from harness.store import Artifacts, key_of
from harness.values import ModelError, StageConfig, Task

Job: TypeAlias = Callable[[Any], Any]
"""Work on one part. An engine may send it to another machine, so it pickles, and holds no model."""


class EngineConfig(StageConfig):
    """Where documents are read, texts embedded, pairs scored: `kind: local`, in this process, or `kind: ray`.

    Results are the same everywhere, if threads are.
    """

    kind: Literal["local", "ray"] = Field(
        "local", description="`local`: in this process. `ray`: by workers of a Ray cluster (extra `ray`)."
    )
    address: str = Field(
        "auto",
        description="The cluster: `auto` finds the one that this machine belongs to, `local` starts one here "
        "for the run, else `host:port`.",
    )
    workers: int | None = Field(
        None, ge=1, description="How many workers; empty: as many as the cluster has CPUs for."
    )
    threads: int = Field(
        1,
        ge=1,
        description="CPUs of each worker, and threads its models compute with; the last digits of a "
        "model's numbers can depend on it.",
    )
    gpus: float = Field(0, ge=0, description="GPUs of each worker; a fraction shares one.")

    def check_ready(self) -> None:
        """Raise ModelError where Ray is missing, without loading it: what is stored needs no worker."""
        if self.kind == "ray" and find_spec("ray") is None:
            raise ModelError(NO_RAY)


NO_RAY = (
    "engine: {kind: ray} needs Ray, which is not installed: pip install 'ndcg-harness[ray]'. Or omit engine: "
    "everything then runs in this process."
)


@dataclass(frozen=True, slots=True)
class Done:
    """What a job made of the part at ``index``, and the ``seconds`` that a worker took."""

    index: int
    value: Any
    seconds: float


class Engine(ABC):
    """Runs jobs over parts. The caller alone writes to disk, so workers need no cache.

    ``apart``: its workers are other processes, maybe on other machines.
    """

    apart: ClassVar[bool] = False

    @abstractmethod
    def map(self, job: Job, parts: Sequence[Any], local_job: Job, task: Task) -> Iterator[Done]:
        """What the job made of every part, in any order, each as soon as it is done.

        ``here`` does the same in this process, with models that are loaded already. The caller advances
        ``task``; the engine says beside its bar how many workers there are. Raises what the job raises.
        """

    def size(self) -> int:
        """How many workers there would be; raises ModelError if a cluster has to say it and none answers."""
        return 1

    @property
    @abstractmethod
    def worker(self) -> tuple[str, float, float]:
        """What decides the speed of one worker: the kind of engine, its CPUs, its GPUs."""

    def describe(self) -> dict[str, Any]:
        """The workers that took part, for the run record; empty for this process."""
        return {}

    def close(self) -> None:  # noqa: B027 - this process has nothing to close
        """Let the workers go."""


class LocalEngine(Engine):
    """Runs every job in this process, in the order of the parts."""

    def map(self, job: Job, parts: Sequence[Any], local_job: Job, task: Task) -> Iterator[Done]:
        """One part after the other."""
        for index, part in enumerate(parts):
            begun = perf_counter()
            value = local_job(part)
            yield Done(index, value, perf_counter() - begun)

    @property
    def worker(self) -> tuple[str, float, float]:
        """The CPUs and GPUs of this machine; GPUs are seen once torch is loaded."""
        torch = sys.modules.get("torch")
        return "local", os.cpu_count() or 1, torch.cuda.device_count() if torch is not None else 0


@dataclass(frozen=True, slots=True)
class ModelJob:
    """Batches of texts or pairs through a model, which each worker builds from its configuration.

    ``fingerprint`` is that of the model here. A worker whose files differ raises ModelError, so that no
    number of another model gets in.
    """

    config: EncoderConfig | RerankerConfig
    fingerprint: str

    def __call__(self, batch: Sequence[Any]) -> list[bytes]:
        """The value of each item of a batch, as bytes."""
        if self.fingerprint not in _built:
            config = self.config
            model = RERANKERS.make(config) if isinstance(config, RerankerConfig) else config.make()
            if model.fingerprint != self.fingerprint:
                raise ModelError(
                    f"{config.model_name}: a worker has other files of this model than the machine that runs "
                    "the harness. Give both the same files, or name the model by its hub id."
                )
            # one model at a time: weights of several may not fit
            _built.clear()
            _built[self.fingerprint] = run_of(cast("LocalEncoder | PairScorer", model))
        return [value_bytes(value) for value in _built[self.fingerprint](batch)]


_built: dict[str, Callable[[Sequence[Any]], Any]] = {}


def run_of(model: LocalEncoder | PairScorer) -> Callable[[Sequence[Any]], Iterable[Any]]:
    """What computes the values of a batch, in its order."""
    return model.encode if isinstance(model, LocalEncoder) else model.score


def value_bytes(value: Any) -> bytes:
    """A value as it is stored: bytes as they are, numbers as float32."""
    return value if isinstance(value, bytes) else np.ascontiguousarray(value, dtype=np.float32).tobytes()


def keep_rate(path: Path, characters: int, seconds: float, engine: Engine, artifacts: Artifacts) -> None:
    """Add what a run took to what earlier ones took; ``path`` is where the values of the model are kept."""
    key = _key(path, engine.worker)
    before = artifacts.get("rate", key) or {"characters": 0, "seconds": 0.0}
    after = {"characters": before["characters"] + characters, "seconds": before["seconds"] + seconds}
    if all(after.values()):
        artifacts.put("rate", key, after)


def speed_of(path: Path, worker: tuple[str, float, float], artifacts: Artifacts) -> float | None:
    """Characters a second through a model by one such worker, in all runs from this machine together.

    None if none has computed.
    """
    stored = artifacts.get("rate", _key(path, worker))
    return None if stored is None else float(stored["characters"] / stored["seconds"])


def _key(path: Path, worker: tuple[str, float, float]) -> str:
    return key_of(path.parent.name, path.name, worker, platform.node())
