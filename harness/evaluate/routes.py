"""What each route of a fusion brings: how much of the fused ranking it has, and has alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.config import BenchConfig
from harness.evaluate.prices import reading_depth
from harness.report import RouteRow, is_route
from harness.running.search import Searched
from harness.types import Ranking


def route_rows(searched: Sequence[Searched], config: BenchConfig) -> list[RouteRow]:
    """One row a route of every setting, nested ones against the fusion that they are part of."""
    k = reading_depth(config.measures)
    return [row for one in searched for row in _rows(one, k)]


def _rows(one: Searched, k: int | None) -> Iterator[RouteRow]:
    routes = [stage for stage in one.rankings if is_route(stage)]
    for stage in routes:
        fused = stage.rpartition(".")[0]
        beside = [other for other in routes if other != stage and other.rpartition(".")[0] == fused]
        shared = alone = total = 0
        for at, ranking in enumerate(one.rankings[fused]):
            first = _first(ranking, k)
            own = first & _first(one.rankings[stage][at], k)
            others = {chunk for other in beside for chunk in _first(one.rankings[other][at], k)}
            shared, alone, total = shared + len(own), alone + len(own - others), total + len(first)
        yield RouteRow(
            setting=one.setting.name,
            stage=stage,
            fused=fused,
            k=k,
            share=shared / total if total else None,
            share_alone=alone / total if total else None,
            exact_share=one.exact_shares.get(stage),
        )


def _first(ranking: Ranking, k: int | None) -> set[str]:
    return set(ranking.chunk_ids[:k])
