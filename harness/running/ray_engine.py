"""Jobs on the workers of a Ray cluster. Needs the extra ``ray``."""

from __future__ import annotations

import os
import platform
import signal
import socket
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from threadpoolctl import threadpool_limits

from harness.running.engine import Engine, EngineConfig, Job
from harness.values import HarnessError, ModelError, Reporter, counted

# A worker has the next batch at hand while it sends the last one back.
_AHEAD = 2
# How often a part is tried that was on its way when a worker died: one that kills every worker ends the run.
_TRIES = 3
_POLL_SECONDS = 1.0
_PATIENCE_SECONDS = 60
_REACH_SECONDS = 5


class _Worker:
    """Runs in a process of its own, on any machine of the cluster."""

    def __init__(self, threads: int) -> None:
        # before torch and numpy's libraries are imported, which read them once
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ[name] = str(threads)
        self._threads = threads

    def ready(self) -> dict[str, str]:
        """What it runs on, once it is up."""
        return {
            "machine": platform.machine(),
            "system": platform.system(),
            "processor": _processor(),
            "python": platform.python_version(),
        }

    def run(self, job: Job, part: Any) -> Any:
        """The job on one part; torch reads the number of threads above when a job imports it."""
        with threadpool_limits(self._threads):
            return job(part)


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


@dataclass(slots=True, eq=False)
class _Member:
    """A worker of the pool, and how many parts it has."""

    actor: Any
    load: int = 0


@dataclass(slots=True)
class RayEngine(Engine):
    """One pool of workers for the whole run, begun with the first job.

    A worker that dies is replaced, and what it had is done again, each part at most three times. A worker
    that the cluster has no room for yet joins when there is.
    """

    apart: ClassVar[bool] = True
    config: EngineConfig
    reporter: Reporter
    _ray: Any = None
    _owned: bool = False
    _members: list[_Member] = field(default_factory=list)
    _joining: dict[Any, _Member] = field(default_factory=dict)
    _seen: Counter[tuple[tuple[str, str], ...]] = field(default_factory=Counter)
    _died: int = 0

    def map(self, job: Job, parts: Sequence[Any], here: Job) -> Iterator[tuple[int, Any]]:
        """Give each worker the next part as it gets free; results come as they are done."""
        if not parts:
            return
        self._connect()
        shared = self._ray.put(job)
        waiting, tries = deque(range(len(parts))), Counter[int]()
        flying: dict[Any, tuple[_Member, int]] = {}
        try:
            while waiting or flying:
                self._hire(len(waiting) + len(flying))
                for member in self._free():
                    while waiting and member.load < _AHEAD:
                        index = waiting.popleft()
                        member.load += 1
                        flying[member.actor.run.remote(shared, parts[index])] = (member, index)
                for reference in self._done(flying):
                    member, index = flying.pop(reference)
                    member.load -= 1
                    try:
                        yield index, self._ray.get(reference)
                    except self._ray.exceptions.RayTaskError as error:
                        raise _cause(error) from error
                    except self._ray.exceptions.RayError as error:
                        self._dismiss(member)
                        tries[index] += 1
                        if tries[index] >= _TRIES:
                            raise _lost(str(error)) from error
                        # first, as it has waited longest
                        waiting.appendleft(index)
        finally:
            for reference in flying:
                self._ray.cancel(reference)

    def describe(self) -> dict[str, Any]:
        """The address, threads, and how many workers of each kind of machine took part."""
        machines = [dict(facts) | {"workers": count} for facts, count in self._seen.items()]
        return {
            "kind": "ray",
            "address": self.config.address,
            "threads": self.config.threads,
            "machines": machines,
            "workers_lost": self._died,
        }

    def close(self) -> None:
        """Let the workers go; a cluster that was started for the run ends."""
        if self._ray is None:
            return
        for member in [*self._members, *self._joining.values()]:
            self._ray.kill(member.actor)
        self._members.clear()
        self._joining.clear()
        if self._owned:
            self._ray.shutdown()
        self._ray = None

    def _connect(self) -> None:
        if self._ray is not None:
            return
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ModelError(
                "engine: {kind: ray} needs Ray, which is not installed: pip install 'ndcg-harness[ray]'. Or "
                "omit engine: everything then runs in this process."
            ) from error
        if not ray.is_initialized():
            address = self.config.address
            ends = signal.getsignal(signal.SIGTERM)
            try:
                _reach(address)
                ray.init(
                    address=None if address == "local" else address,
                    include_dashboard=False if address == "local" else None,
                    log_to_driver=False,
                    logging_level="ERROR",
                )
            except (OSError, ValueError, RuntimeError) as error:
                raise ModelError(
                    f"No Ray cluster answers at {self.config.address} ({str(error)[:200]}). Start one with "
                    "`ray start --head`, name its address, or use address: local, which starts one here for "
                    "the run."
                ) from error
            finally:
                # Ray puts its own in place, which ends with another exit code
                if ends is not None and threading.current_thread() is threading.main_thread():
                    signal.signal(signal.SIGTERM, ends)
            self._owned = True
        self._ray = ray

    def _most(self) -> int:
        if self.config.workers is not None:
            return self.config.workers
        resources = self._ray.cluster_resources()
        most = int(resources.get("CPU", 0) // self.config.threads)
        if self.config.gpus:
            most = min(most, int(resources.get("GPU", 0) / self.config.gpus))
        return max(1, most)

    def _hire(self, parts: int) -> None:
        """Ask for workers up to the number wanted; each joins when it is up."""
        wanted = min(self._most(), parts)
        make = self._ray.remote(num_cpus=self.config.threads, num_gpus=self.config.gpus)(_Worker)
        while len(self._members) + len(self._joining) < wanted:
            member = _Member(make.remote(self.config.threads))
            self._joining[member.actor.ready.remote()] = member

    def _free(self) -> list[_Member]:
        """The workers that can take a part, the least busy first."""
        return sorted((one for one in self._members if one.load < _AHEAD), key=lambda one: one.load)

    def _done(self, flying: dict[Any, tuple[_Member, int]]) -> list[Any]:
        """The references of finished parts; workers that are up join meanwhile."""
        waited = 0.0
        while True:
            ready, _ = self._ray.wait([*flying, *self._joining], num_returns=1, timeout=_POLL_SECONDS)
            if any(reference in self._joining for reference in ready):
                self._join([reference for reference in ready if reference in self._joining])
                return [reference for reference in ready if reference in flying]
            if ready:
                return list(ready)
            if not self._members:
                waited += _POLL_SECONDS
                if waited == _PATIENCE_SECONDS:
                    self.reporter.note(
                        f"The cluster has no room for {counted(self.config.threads, 'CPU')} and "
                        f"{self.config.gpus:g} GPUs a worker yet; waiting for it."
                    )

    def _join(self, references: Sequence[Any]) -> None:
        for reference in references:
            member = self._joining.pop(reference)
            try:
                facts = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                raise _cause(error) from error
            except self._ray.exceptions.RayError as error:
                self._count_death(str(error))
                continue
            self._members.append(member)
            self._seen[tuple(facts.items())] += 1

    def _dismiss(self, member: _Member) -> None:
        """Take a dead worker out of the pool, once: all its parts report the death."""
        if member in self._members:
            self._members.remove(member)
            self._count_death("workers keep dying")

    def _count_death(self, why: str) -> None:
        self._died += 1
        if self._died > _TRIES * self._most():
            raise _lost(why)


def _reach(address: str) -> None:
    """Raise OSError at once where nothing listens: Ray itself waits for a minute."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), _REACH_SECONDS).close()


def _cause(error: Any) -> BaseException:
    """What the job raised, where it is an error of ours; else a HarnessError that names it."""
    cause = error.cause
    if isinstance(cause, HarnessError):
        return cause
    return ModelError(f"A worker of the Ray cluster failed: {type(cause).__name__}: {str(cause)[:500]}")


def _lost(why: str) -> ModelError:
    why = " ".join(why.splitlines()[:1]).rstrip(".")
    return ModelError(
        f"The Ray cluster loses its workers ({why}). What was computed is kept; run again to go on. If "
        "they run out of memory, lower batch_tokens or the number of workers."
    )
