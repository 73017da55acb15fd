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
from time import monotonic, perf_counter
from typing import Any, ClassVar

from threadpoolctl import threadpool_limits

from harness.running.engine import NO_RAY, Done, Engine, EngineConfig, Job
from harness.running.note_wordings import RUN
from harness.values import HarnessError, ModelError, Reporter, Task, counted, processor_name, worded

# A worker has the next batch at hand while it sends the last one back.
_AHEAD = 2
# How often a part is tried that was on its way when a worker died: one that kills every worker ends the run.
_TRIES = 3
_POLL_SECONDS = 1.0
_REMEDY = "If workers run out of memory, lower batch_tokens or the number of workers."
# polls without a single worker, until that is said
_PATIENCE_POLLS = 60
# A part is late after so many times the mean seconds of those done, and after so many seconds.
_LATE_TIMES = 4
_LATE_SECONDS = 10.0
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
            "processor": processor_name(),
            "python": platform.python_version(),
        }

    def run(self, job: Job, part: Any) -> tuple[Any, float]:
        """What the job made of one part, and the seconds; torch reads the number of threads when imported."""
        begun = perf_counter()
        with threadpool_limits(self._threads):
            return job(part), perf_counter() - begun


@dataclass(slots=True, eq=False)
class _Member:
    """A worker of the pool, and how many parts it has."""

    actor: Any
    load: int = 0


@dataclass(frozen=True, slots=True)
class _Flight:
    """A part that a worker has had since ``begun``."""

    member: _Member
    index: int
    begun: float


@dataclass(slots=True)
class _Work:
    """One call of ``map``: the parts that wait, are on their way, and have ended."""

    job: Any
    parts: Sequence[Any]
    waiting: deque[int]
    flying: dict[Any, _Flight] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    tries: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    polls: int = 0

    def next_for(self, member: _Member) -> int | None:
        """A part that waits, else for an idle worker one that is late with another, else None."""
        if self.waiting:
            return self.waiting.popleft()
        if member.load or not self.ended:
            return None
        late = monotonic() - max(_LATE_SECONDS, _LATE_TIMES * self.seconds / len(self.ended))
        copies = Counter(flight.index for flight in self.flying.values())
        left = [flight for flight in self.flying.values() if flight.index not in self.ended]
        slow = [need for need in left if need.begun < late and copies[need.index] == 1]
        return min(slow, key=lambda one: one.begun).index if slow else None

    def put_back(self, index: int) -> int:
        """Let a part wait again, unless it is done or another worker has it; returns how often it failed."""
        self.tries[index] += 1
        if index not in self.ended and all(flight.index != index for flight in self.flying.values()):
            # first, as it has waited longest
            self.waiting.appendleft(index)
        return self.tries[index]


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
    _late: dict[Any, _Member] = field(default_factory=dict)
    _seen: Counter[tuple[tuple[str, str], ...]] = field(default_factory=Counter)
    _died: int = 0

    def map(self, job: Job, parts: Sequence[Any], local_job: Job, task: Task) -> Iterator[Done]:
        """Give each worker the next part as it gets free; results come as they are done.

        Once no part waits, an idle worker also does what takes another one unusually long; the first result
        counts.
        """
        if not parts:
            return
        self._connect()
        work = _Work(self._ray.put(job), parts, deque(range(len(parts))))
        try:
            while len(work.ended) < len(parts):
                self._hire(len(parts) - len(work.ended))
                # the least busy first
                for member in sorted(self._members, key=lambda one: one.load):
                    while member.load < _AHEAD and (index := work.next_for(member)) is not None:
                        member.load += 1
                        reference = member.actor.run.remote(work.job, parts[index])
                        work.flying[reference] = _Flight(member, index, monotonic())
                task.describe(self._workers())
                for reference in self._ready(work):
                    finished = self._result(reference, work)
                    if finished is not None:
                        yield finished
        finally:
            for reference, flight in work.flying.items():
                self._ray.cancel(reference)
                self._late[reference] = flight.member

    def size(self) -> int:
        """As many as are asked for, else as the cluster has room for, which is asked."""
        if self.config.workers is not None:
            return self.config.workers
        if self.config.address == "local":
            return max(1, (os.cpu_count() or 1) // self.config.threads)
        self._connect()
        return self._most()

    @property
    def worker(self) -> tuple[str, float, float]:
        """Any of the pool."""
        return "ray", self.config.threads, self.config.gpus

    def _workers(self) -> str:
        """What the bar says about the workers."""
        text = counted(len(self._members), "worker") if self._members else "waiting for workers"
        return f"{text}, {self._died} lost" if self._died else text

    def _result(self, reference: Any, work: _Work) -> Done | None:
        """What a part gave, or None if its worker died or another has done it; its death puts it back."""
        flight = work.flying.pop(reference)
        flight.member.load -= 1
        try:
            value, seconds = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise _cause(error) from error
        except self._ray.exceptions.RayError as error:
            again = 1 + sum(other.member is flight.member for other in work.flying.values())
            self._dismiss(flight.member, str(error), again)
            if work.put_back(flight.index) >= _TRIES:
                raise _lost(str(error)) from error
            return None
        if flight.index in work.ended:
            return None
        work.ended.add(flight.index)
        work.seconds += seconds
        return Done(flight.index, value, seconds)

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
        self._late.clear()
        if self._owned:
            self._ray.shutdown()
        self._ray = None

    def _connect(self) -> None:
        if self._ray is not None:
            return
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ModelError(NO_RAY) from error
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

    def _ready(self, work: _Work) -> list[Any]:
        """The references of finished parts after at most a second; workers that are up join meanwhile."""
        waited_for = [*work.flying, *self._joining, *self._late]
        ready, _ = self._ray.wait(waited_for, num_returns=1, timeout=_POLL_SECONDS)
        self._join([reference for reference in ready if reference in self._joining])
        for reference in ready:
            if member := self._late.pop(reference, None):
                member.load -= 1
        if not ready and not self._members:
            work.polls += 1
            if work.polls == _PATIENCE_POLLS:
                cpus, gpus = counted(self.config.threads, "CPU"), f"{self.config.gpus:g}"
                self.reporter.note(worded(RUN, "workers.no room", cpus=cpus, gpus=gpus))
        return [reference for reference in ready if reference in work.flying]

    def _join(self, references: Sequence[Any]) -> None:
        for reference in references:
            member = self._joining.pop(reference)
            try:
                facts = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                raise _cause(error) from error
            except self._ray.exceptions.RayError as error:
                self._count_death(f"one did not come up, {error}")
                continue
            self._members.append(member)
            self._seen[tuple(facts.items())] += 1

    def _dismiss(self, member: _Member, why: str, again: int) -> None:
        """Take a dead worker out of the pool, once: all its parts, ``again`` of them, report the death."""
        if member in self._members:
            self._members.remove(member)
            self.reporter.note(worded(RUN, "workers.lost", count=again, why=_first_line(why)))
            self._count_death(why)

    def _count_death(self, why: str) -> None:
        self._died += 1
        if self._died > _TRIES * self._most():
            raise _lost(f"workers keep dying: {why}")


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
    name = type(cause).__name__
    # Python's MemoryError, and torch's OutOfMemoryError of a GPU
    remedy = f" {_REMEDY}" if "Memory" in name else ""
    return ModelError(f"A worker of the Ray cluster failed: {name}: {str(cause)[:500]}.{remedy}")


def _lost(why: str) -> ModelError:
    return ModelError(
        f"The Ray cluster loses its workers ({_first_line(why)}). What was computed is kept; run again to go "
        f"on. {_REMEDY}"
    )


def _first_line(why: str) -> str:
    return " ".join(why.splitlines()[:1]).rstrip(".")
