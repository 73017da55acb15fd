"""Queries as they are asked: what was made of them, and what making it would take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.config import Setting
from harness.llm import ModelConfig
from harness.report import AskedRow
from harness.running.context import Context
from harness.running.filtering import narrow_all
from harness.running.search import RETRIEVE, Searched
from harness.running.tools import RunTools
from harness.search import NotAsked, NotAskedError, RetrieverConfig, RewriterConfig
from harness.search.fuse import route_names
from harness.types import Query

_Paid = dict[int, float | None]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of queries as they are asked: their texts before the rewritings ``upon`` them."""

    queries: Sequence[Query]
    upon: str = ""


def missing_answers(
    settings: Sequence[Setting], documents: Sequence[str], queries: Sequence[Query], context: Context
) -> tuple[NotAsked, ...]:
    """What language models would be asked before anything is retrieved; asks nothing.

    These are contexts of chunks, as far as these have been cut, filters and rewritings. Filters that ask no
    model are run, so that their tables are checked.
    """
    tools = RunTools(context)
    missing = dict(context.unwritten)
    for setting in settings:
        missing |= narrow_all(setting.finder, documents, queries, tools)
    return (*missing.values(), *missing_rewritings(settings, queries, context))


def missing_rewritings(
    settings: Sequence[Setting], queries: Sequence[Query], context: Context
) -> tuple[NotAsked, ...]:
    """What language models would be asked to rewrite the queries of all settings; asks nothing.

    Where one rewriting is of another that is missing, it is estimated by the queries as they are.
    """
    tools = RunTools(context)
    missing: dict[str, NotAsked] = {}
    for setting in settings:
        # a plan runs no rewriter that it need not run, such as code of the user's
        if any(isinstance(one, ModelConfig) for one in _rewriters(setting)):
            asked = _as_far_as_known(setting.rewrite, Known(queries), tools, missing)
            _look_below(setting.retrieve, asked, tools, missing)
    return tuple(missing.values())


def _rewriters(setting: Setting) -> Iterator[RewriterConfig | None]:
    yield setting.rewrite
    below = [setting.retrieve]
    while below:
        retriever = below.pop()
        yield retriever.rewrite
        below += retriever.parts


def _look_below(
    retriever: RetrieverConfig, queries: Known, tools: RunTools, missing: dict[str, NotAsked]
) -> None:
    asked = _as_far_as_known(retriever.rewrite, queries, tools, missing)
    for part in retriever.parts:
        _look_below(part, asked, tools, missing)


def _as_far_as_known(
    rewrite: RewriterConfig | None, known: Known, tools: RunTools, missing: dict[str, NotAsked]
) -> Known:
    if known.upon and not isinstance(rewrite, ModelConfig):
        # of texts that are not known yet: code of the user's is not run on others
        return known
    try:
        return Known(tools.rewritten(rewrite, known.queries), known.upon)
    except NotAskedError as error:
        upon: str = known.upon
        for one in error.missing:
            upon += one.key
            missing[upon] = one
        return Known(known.queries, upon)


def rewriting_costs(setting: Setting, queries: Sequence[Query], context: Context) -> dict[str, float | None]:
    """What rewriting all queries has cost, by ``retrieve`` and its routes, whoever paid for the answers.

    A rewriting that several routes share is paid once. None where a price is unknown; 0 without a model.
    """
    found: dict[str, float | None] = {}
    tools = RunTools(context)

    def go(retriever: RetrieverConfig, name: str, asked: Sequence[Query], paid: _Paid) -> _Paid:
        asked, paid = _through(retriever.rewrite, asked, paid, tools)
        for part, route in zip(retriever.parts, route_names(retriever.parts), strict=True):
            paid = paid | go(part, f"{name}.{route}", asked, paid)
        found[name] = None if None in paid.values() else math.fsum(cost for cost in paid.values() if cost)
        return paid

    go(setting.retrieve, RETRIEVE, *_through(setting.rewrite, queries, {}, tools))
    return found


def _through(
    rewrite: RewriterConfig | None, queries: Sequence[Query], paid: _Paid, tools: RunTools
) -> tuple[Sequence[Query], _Paid]:
    if rewrite is None:
        return queries, paid
    phrased = tools.phrased(rewrite, queries)
    # the same object for the same rewriting of the same queries
    return phrased.queries, paid | {id(phrased): phrased.cost}


def rewriting_facts(context: Context) -> dict[str, Any]:
    """For the run record: the calls of language models before retrieval, by prompt and model."""
    return {
        name: {
            "purpose": context.purposes.get(name, "rewriting"),
            "calls": spent.calls,
            "from_ledger": spent.from_ledger,
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
            "cost": spent.cost,
            "maybe_billed": {"calls": spent.unseen_calls, "at_most": spent.unseen_cost},
            "faults": dict(spent.faults),
            "served_models": sorted(spent.served_models),
        }
        for name, spent in context.spent.items()
    }


def asked_rows(searched: Iterable[Searched]) -> Iterator[AskedRow]:
    """Every query as each step of each setting asked it, where that is not as it stands."""
    for one in searched:
        for step, queries in one.asked.items():
            said: Counter[str] = Counter()
            for query in queries:
                said[query.query_id] += 1
                yield AskedRow(one.setting.name, step, query.query_id, said[query.query_id], query.text)
