"""Which services of the user's own the settings ask, and which of them a plan would have to ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.config import Setting
from harness.own.service import ServiceConfig
from harness.progress import Reporter
from harness.running.context import Context
from harness.running.search import Point, is_searched
from harness.search import RetrieverConfig
from harness.types import Query


@dataclass(frozen=True, slots=True)
class Unasked:
    """A service that would be asked, by so many ``settings``; ``problem`` is what keeps it from that."""

    url: str
    settings: int
    problem: str


def services_of(setting: Setting) -> list[ServiceConfig]:
    """The services that a setting asks, each once."""
    steps = [setting.rewrite, *setting.rerank, *_retrieving(setting.retrieve)]
    found = {step.model_dump_json(): step for step in steps if isinstance(step, ServiceConfig)}
    return list(found.values())


def _retrieving(retriever: RetrieverConfig) -> Iterator[object]:
    yield from (retriever, retriever.rewrite)
    for part in retriever.parts:
        yield from _retrieving(part)


def warn_of_services(settings: Sequence[Setting], reporter: Reporter) -> None:
    """Tell, before anything takes time, what will keep a service from being asked."""
    problems = [service.problem() for setting in settings for service in services_of(setting)]
    for problem in dict.fromkeys(filter(None, problems)):
        reporter.warn(problem)


def unasked(points: Sequence[Point], queries: Sequence[Query], context: Context) -> tuple[Unasked, ...]:
    """The services that searching would ask, because not all of their answers are kept; asks nothing."""
    found: dict[str, Unasked] = {}
    for point in points:
        services = services_of(point.setting)
        if not services or is_searched(point.setting, point.chunking, queries, context):
            continue
        for service in services:
            before = found.get(service.url, Unasked(service.url, 0, service.problem()))
            found[service.url] = Unasked(service.url, before.settings + 1, before.problem)
    return tuple(found.values())
