"""What queries cost at endpoints: rewriting, their vectors, the scores of their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.llm import ModelConfig
from harness.running.context import Context
from harness.running.endpoints import asks_endpoints, endpoint_costs
from harness.running.rewriting import rewriting_costs
from harness.running.search import RETRIEVE, Searched
from harness.running.services import services_of
from harness.search import RetrieverConfig
from harness.types import Query


@dataclass(frozen=True, slots=True)
class QueryCost:
    """``rewriting``: what language models were paid for all queries; ``per_1000``: what a thousand cost.

    Whoever paid, in this run or before. None where a price is unknown, as that of a service of one's own is,
    and for ``per_1000`` where a language model filters, whose calls are not told apart by setting.
    """

    rewriting: float | None
    per_1000: float | None


def query_costs(
    searched: Sequence[Searched], queries: Sequence[Query], context: Context
) -> dict[tuple[str, str], QueryCost]:
    """What all queries cost, by setting and by stage: up to and with it."""
    bought = endpoint_costs(searched, queries, context)
    found: dict[tuple[str, str], QueryCost] = {}
    for one in searched:
        name = one.setting.name
        rewriting = rewriting_costs(one.setting, queries, context)
        known = not asks_endpoints(one.setting)
        unknown = bool(services_of(one.setting)) or _asks_to_filter(one.setting.finder)
        for stage in one.rankings:
            # what comes after retrieval rests on all that was asked for it
            rewritten = rewriting[stage if stage in rewriting else RETRIEVE]
            own = bought.get((name, stage))
            other = 0.0 if known else own.queries if own is not None else None
            total = None if unknown or rewritten is None or other is None else rewritten + other
            per_1000 = None if total is None or not queries else 1000 * total / len(queries)
            found[name, stage] = QueryCost(rewritten, per_1000)
    return found


def _asks_to_filter(retriever: RetrieverConfig) -> bool:
    """Whether a language model reads queries for a filter of the retriever or of its routes."""
    return isinstance(retriever.filter, ModelConfig) or any(map(_asks_to_filter, retriever.parts))
