"""A retriever of the user's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, Literal

import numpy as np
from pydantic import Field

from harness.search.depth import Depth
from harness.search.own_code import Arguments, Call, Version, ask, wrong
from harness.search.step import Found, Identity, Passages, Retriever, RetrieverConfig
from harness.search.tools import Tools
from harness.types import Query, Ranking


class PythonConfig(RetrieverConfig):
    """Your own function ranks the chunks."""

    kind: Literal["python"] = "python"
    call: Call
    version: Version
    arguments: Arguments = Field(default_factory=dict)


class PythonRetriever(Retriever[PythonConfig]):
    """Calls ``function(queries, passages, k, **arguments)`` once, with texts.

    It returns for every query the places of passages in rank order, best first: whole numbers from 0, or
    pairs of place and score. At most ``k`` of each list count; ``k`` is all of them where ``top_chars`` cuts.
    """

    def identity(self, tools: Tools) -> Identity:
        """What the user states."""
        c = self.config
        return ["python", c.call, c.version, c.arguments, c.top_k, c.top_chars]

    def run(self, passages: Passages, queries: Sequence[Query], tools: Tools) -> Found:
        """Call it and check what it returns."""
        if not passages.ids or not queries:
            return Found([Ranking(query.query_id, (), ()) for query in queries])
        c = self.config
        k = len(passages.ids) if c.top_chars is not None else min(c.top_k, len(passages.ids))
        with tools.timed("retrieve"):
            given = ask(c.call, [q.text for q in queries], list(passages.texts), k, **c.arguments)
        answers = list(given) if isinstance(given, Sequence | np.ndarray) else None
        if answers is None or len(answers) != len(queries):
            count = "no list" if answers is None else f"{len(answers)} lists"
            raise wrong(c.call, f"returned {count} for {len(queries)} queries")
        return Found(
            [self._ranking(query, answer, passages) for query, answer in zip(queries, answers, strict=True)]
        )

    def _ranking(self, query: Query, answer: Any, passages: Passages) -> Ranking:
        places, scores = [], []
        for rank, hit in enumerate(answer):
            place, score = hit if isinstance(hit, tuple | list) and len(hit) == 2 else (hit, -float(rank))
            if not isinstance(place, int | np.integer) or not 0 <= place < len(passages.ids):
                raise wrong(
                    self.config.call,
                    f"returned {place!r} for query {query.query_id}: places go from 0 to "
                    f"{len(passages.ids) - 1}",
                )
            if not isinstance(score, Real) or math.isnan(score):
                raise wrong(self.config.call, f"returned the score {score!r} for query {query.query_id}")
            places.append(int(place))
            scores.append(float(score))
        if len(set(places)) < len(places):
            raise wrong(self.config.call, f"ranked a passage twice for query {query.query_id}")
        if any(later > earlier for earlier, later in pairwise(scores)):
            raise wrong(self.config.call, f"returned scores that rise for query {query.query_id}")
        lengths = np.array([passages.lengths[place] for place in places], dtype=np.int64)
        end = Depth.of(self.config, passages).of_ranked(lengths)
        return Ranking(query.query_id, tuple(passages.ids[i] for i in places[:end]), tuple(scores[:end]))
