"""Search among the documents that a filter leaves: any retriever, and every fusion of retrievers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from harness.search import (
    Found,
    Identity,
    Narrowed,
    NotAsked,
    NotAskedError,
    Passages,
    RetrieverConfig,
    StepOutput,
)
from harness.search.depth import Depth
from harness.store import key_of
from harness.types import Query, Ranking

if TYPE_CHECKING:
    from harness.running.tools import RunTools

T = TypeVar("T")

# ranks held at once where all chunks are ranked
_CELLS = 4_000_000


def search_filtered(
    name: str, retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query], tools: RunTools
) -> Found:
    """The rankings of a retriever that has a filter; ``asked`` are the queries as it puts them.

    Restricted, a query is searched among the chunks of its documents as if there were no others, to the full
    depth. So what a retriever counts over all chunks, such as how rare a word is, it counts over those.
    """
    if retriever.filter is None:
        raise ValueError(f"{name} has no filter")
    narrowed = tools.narrowed(retriever.filter, _documents(passages), asked)
    bare = _bare(retriever)
    if retriever.filter.boost is not None:
        more = _boost_facts(retriever.filter.boost, narrowed)
        known = tools.known(bare, passages, asked, more)
        if known is None:
            known = _boosted(name, bare, passages, asked, narrowed, retriever.filter.boost, tools)
            tools.keep_found(bare, passages, asked, known, more)
        return replace(known, filtered=narrowed)
    rows = [at for at, _ in _groups(narrowed)]
    outputs = [
        tools.search(name, bare, only(passages, documents), [asked[i] for i in at])
        for at, documents in _groups(narrowed)
    ]
    merged = _merged(outputs, rows, len(asked))
    return Found(merged.rankings, merged.exact_share, merged.routes, narrowed, merged.asked)


def is_known_filtered(
    retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query], tools: RunTools
) -> bool:
    """Whether searching by a retriever that has a filter would find everything in the cache."""
    if retriever.filter is None:
        raise ValueError("there is no filter")
    narrowed = tools.narrowed(retriever.filter, _documents(passages), asked)
    bare = _bare(retriever)
    if retriever.filter.boost is not None:
        if bare.parts:
            return tools.is_known(bare, passages, asked)
        more = _boost_facts(retriever.filter.boost, narrowed)
        return tools.known(bare, passages, asked, more) is not None
    return all(
        tools.is_known(bare, only(passages, documents), [asked[i] for i in at])
        for at, documents in _groups(narrowed)
    )


def narrow_all(
    retriever: RetrieverConfig, documents: Sequence[str], queries: Sequence[Query], tools: RunTools
) -> dict[str, NotAsked]:
    """Run the filters of a retriever and its routes; raises what they raise.

    What a language model would have to be asked, and may not be, is returned by its key.
    """
    missing: dict[str, NotAsked] = {}
    if retriever.filter is not None:
        try:
            tools.narrowed(retriever.filter, documents, queries)
        except NotAskedError as error:
            missing |= {one.key: one for one in error.missing}
    for part in retriever.parts:
        missing |= narrow_all(part, documents, queries, tools)
    return missing


def _documents(passages: Passages) -> list[str]:
    return list(dict.fromkeys(passages.documents))


def _bare(retriever: RetrieverConfig) -> RetrieverConfig:
    return retriever.model_copy(update={"filter": None, "rewrite": None})


def _groups(narrowed: Sequence[Narrowed]) -> Iterator[tuple[list[int], frozenset[str] | None]]:
    """The places of the queries that are searched in the same documents, and these documents."""
    groups: dict[frozenset[str] | None, list[int]] = {}
    for at, one in enumerate(narrowed):
        groups.setdefault(one.documents, []).append(at)
    for documents, places in groups.items():
        yield places, documents


def only(passages: Passages, documents: frozenset[str] | None) -> Passages:
    """The passages of some documents; all for None."""
    if documents is None:
        return passages
    kept = [i for i, document in enumerate(passages.documents) if document in documents]
    return Passages(
        tuple(passages.ids[i] for i in kept),
        tuple(passages.texts[i] for i in kept),
        tuple(passages.lengths[i] for i in kept),
        key_of(passages.key, "documents", sorted(documents)),
    )


def _merged(outputs: Sequence[StepOutput], rows: Sequence[Sequence[int]], count: int) -> StepOutput:
    """What was found for parts of the queries, put together; ``rows`` are the places of each part's."""
    if not outputs:
        return StepOutput("", [], ())
    shares = [(one.exact_share, len(at)) for one, at in zip(outputs, rows, strict=True)]
    known = [(share, weight) for share, weight in shares if share is not None]
    total = sum(weight for _, weight in known)
    filtered = [one.filtered for one in outputs]
    return replace(
        outputs[0],
        rankings=_in_place([one.rankings for one in outputs], rows, count),
        asked=tuple(_in_place([one.asked for one in outputs], rows, count)),
        effort=sum((one.effort for one in outputs[1:]), outputs[0].effort),
        exact_share=sum(share * weight for share, weight in known) / total if total else None,
        routes=tuple(
            _merged(routes, rows, count) for routes in zip(*(one.routes for one in outputs), strict=True)
        ),
        filtered=tuple(_in_place(filtered, rows, count)) if all(filtered) else (),
    )


def _in_place(parts: Sequence[Sequence[T]], rows: Sequence[Sequence[int]], count: int) -> list[T]:
    placed = {
        at: one for part, own in zip(parts, rows, strict=True) for at, one in zip(own, part, strict=True)
    }
    return [placed[at] for at in range(count)]


def _boosted(
    name: str,
    bare: RetrieverConfig,
    passages: Passages,
    asked: Sequence[Query],
    narrowed: Sequence[Narrowed],
    weight: float,
    tools: RunTools,
) -> Found:
    """All chunks that the retriever can score, those of the documents named with ``weight`` added.

    A fusion scores what its routes have found.
    """
    deep = to_the_end(bare, passages)
    boost = Boost.of(bare, passages, weight)
    step = max(1, _CELLS // max(1, len(passages.ids)))
    outputs = []
    rows = [range(begin, min(begin + step, len(asked))) for begin in range(0, len(asked), step)]
    for at in rows:
        found = tools.found(deep, passages, [asked[i] for i in at])
        cut = [boost(ranking, narrowed[i].documents) for i, ranking in zip(at, found.rankings, strict=True)]
        part = found.asked or tuple(asked[i] for i in at)
        outputs.append(StepOutput(name, cut, part, exact_share=found.exact_share, routes=found.routes))
    merged = _merged(outputs, rows, len(asked))
    return Found(merged.rankings, merged.exact_share, merged.routes, asked=merged.asked)


def to_the_end(retriever: RetrieverConfig, passages: Passages) -> RetrieverConfig:
    """The same retriever, to rank all chunks that it can score."""
    return retriever.model_copy(update={"top_k": max(1, len(passages.ids)), "top_chars": None})


@dataclass(frozen=True, slots=True)
class Boost:
    """Adds ``weight`` to the scores of chunks of the documents named, and cuts as ``config`` asks for.

    ``document`` and ``length``, in characters, are those of each chunk by its id.
    """

    config: RetrieverConfig
    weight: float
    document: Mapping[str, str]
    length: Mapping[str, int]

    @classmethod
    def of(cls, config: RetrieverConfig, passages: Passages, weight: float) -> Boost:
        """For rankings of these passages."""
        document = dict(zip(passages.ids, passages.documents, strict=True))
        return cls(config, weight, document, dict(zip(passages.ids, passages.lengths, strict=True)))

    def __call__(self, ranking: Ranking, documents: frozenset[str] | None) -> Ranking:
        """A ranking of all chunks with the documents raised; None: no document is named."""
        if documents is not None:
            scores = [
                score + self.weight * (self.document[chunk_id] in documents)
                for chunk_id, score in zip(ranking.chunk_ids, ranking.scores, strict=True)
            ]
            ranking = Ranking.by_score(ranking.query_id, ranking.chunk_ids, scores)
        lengths = np.array([self.length[chunk_id] for chunk_id in ranking.chunk_ids], dtype=np.int64)
        end = Depth(self.config.top_k, self.config.top_chars, lengths).of_ranked(lengths)
        return Ranking(ranking.query_id, ranking.chunk_ids[:end], ranking.scores[:end])


def _boost_facts(weight: float, narrowed: Sequence[Narrowed]) -> Identity:
    """What decides a boosted ranking besides passages, queries and retriever."""
    documents = [None if one.documents is None else sorted(one.documents) for one in narrowed]
    return ["boost", weight, documents]
