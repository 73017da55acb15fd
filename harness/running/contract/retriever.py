"""The contract of a retriever."""

from __future__ import annotations

from collections.abc import Sequence

from harness.running.contract.check import (
    QUESTIONS,
    TEXTS,
    BrokenError,
    Check,
    Remark,
    fresh_tools,
    passages,
    queries,
)
from harness.steps import RETRIEVERS, Passages, RetrieverConfig
from harness.values import Query, Ranking


def retriever_checks(config: RetrieverConfig) -> list[Check]:
    """The checks of a retriever, the most telling first."""
    few = config.model_copy(update={"top_k": 3, "top_chars": None, "rewrite": None})
    many = few.model_copy(update={"top_k": 10 * len(TEXTS)})

    def ranks(
        config: RetrieverConfig = few, read: Sequence[str] = TEXTS, asked: Sequence[str] = QUESTIONS
    ) -> list[Ranking]:
        return _ranked(config, passages(tuple(read)), queries(tuple(asked)))

    def repeats() -> None:
        first, second = (ranks() for _ in range(2))
        _same(first, second, "The same call gives two different rankings")

    def alone() -> None:
        together = ranks()
        one_by_one = [_ranked(few, passages(), [query])[0] for query in queries()]
        _same(together, one_by_one, "A query has a different ranking alone than among others")

    def forgets() -> None:
        before = [ranks(read=TEXTS[:3]) for _ in range(2)][-1]
        ranks(read=TEXTS[3:])
        after = ranks(read=TEXTS[:3])
        _same(before, after, "After a search of other passages, the first ones have a different ranking")

    def finds() -> None:
        asked = [Query(f"q{i}", text, "train") for i, text in enumerate(TEXTS[:3])]
        found = _ranked(few, passages(TEXTS[:3]), asked)
        missed = [
            one for one, own in zip(found, passages().ids, strict=False) if own not in one.chunk_ids[:1]
        ]
        if missed:
            raise Remark(
                f"{len(missed)} of {len(found)} passages, given verbatim as queries, are not ranked first. "
                "Are scores distances, or are positions counted from 1?"
            )

    return [
        ("ranks known passages for every query, best first, none twice", ranks),
        ("gives the same rankings when called again", repeats),
        ("gives a query the same ranking alone and among others", alone),
        ("accepts a k that is larger than the number of passages", lambda: ranks(many)),
        ("accepts a single passage", lambda: ranks(many, TEXTS[:1])),
        ("accepts an empty query", lambda: ranks(asked=("",))),
        ("accepts a very long query", lambda: ranks(asked=(" ".join(QUESTIONS) * 200,))),
        ("keeps no passages of another search", forgets),
        ("ranks a passage first if the query is its exact text", finds),
    ]


def _ranked(config: RetrieverConfig, given: Passages, asked: Sequence[Query]) -> list[Ranking]:
    """Its rankings, with nothing known of earlier ones; raises HarnessError if they break the contract."""
    with fresh_tools() as tools:
        return RETRIEVERS.make(config).run(given, asked, tools).rankings


def _same(first: Sequence[Ranking], second: Sequence[Ranking], otherwise: str) -> None:
    for one, other in zip(first, second, strict=True):
        if one.chunk_ids != other.chunk_ids:
            raise BrokenError(
                f"{otherwise}: for query {one.query_id} {_places(one)} and {_places(other)}. Fix its seed, "
                "and break ties by position."
            )


def _places(ranking: Ranking) -> list[str]:
    return [chunk_id.partition(":")[0].removeprefix("d") for chunk_id in ranking.chunk_ids]
