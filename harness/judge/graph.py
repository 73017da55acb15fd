"""A stand-in judge: passages that other passages agree with. It asks nobody and loads no model, and is weak.

Of all passages of a question it makes a graph: an edge leads from one passage to another as far as the second
holds the words of the first (overlap in the direction of an entailment) and both are alike (cosine). A random
walk that restarts at passages with words of the question gives each its weight, and the weight its grade:
biased LexRank (Otterbacher, Erkan and Radev, EMNLP 2005). What many passages repeat is taken for relevant,
which is wrong wherever one passage alone answers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from harness.judge.config import PoolConfig, PoolJudgeConfig
from harness.judge.records import Graded, Pair, Sink, Summary
from harness.judge.tools import JudgeTools
from harness.llm.money import Estimate
from harness.progress import Reporter
from harness.text.characters import WIDE
from harness.types import Judgment

Floats = NDArray[np.float64]
_TOKEN = re.compile(rf"[{WIDE}]+|\w+")
_WIDE = re.compile(rf"[{WIDE}]")
_STEPS = 100
_CLOSE_ENOUGH = 1e-10
# Why a passage has no grade: nothing can agree with it.
ALONE = "no_other_passage"


class GraphConfig(PoolJudgeConfig):
    """A stand-in that grades by agreement between the passages of a question; weak, and named so."""

    kind: Literal["graph"] = "graph"
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    restart: float = Field(
        0.5, gt=0, le=1, description="The weight of the question's words relative to other passages."
    )
    thresholds: tuple[float, float, float, float] = Field(
        (0.25, 0.45, 0.65, 0.85),
        description="The fractions of a question's highest weight at which grades 1, 2, 3 and 4 begin.",
    )

    @field_validator("thresholds")
    @classmethod
    def _rising(cls, thresholds: tuple[float, ...]) -> tuple[float, ...]:
        if any(low >= high for low, high in pairwise(thresholds)):
            raise ValueError("thresholds rise: the parts from which grades 1, 2, 3 and 4 begin")
        return thresholds

    @property
    def title(self) -> str:
        """How it is named in every table."""
        return "weak stand-in: graph of passages"


class GraphJudge:
    """Grades all passages of a question together; what it says of one depends on the others."""

    def __init__(self, config: GraphConfig) -> None:
        self.config = config

    @property
    def name(self) -> str:
        """How the judge is named in every table."""
        return self.config.title

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """What a run record keeps of the judge."""
        c = self.config
        return {"kind": c.kind, "restart": c.restart, "thresholds": list(c.thresholds)}

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """Nothing: nobody is asked."""
        return []

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, one query at a time, at no cost; a query's only passage has no grade."""
        summary = Summary(judge=self.name)
        reporter.warn(
            f"{self.name}: grades come from agreement between passages, not from reading. Check them against "
            "people: harness judge agreement."
        )
        with reporter.task(f"judging with {self.name}", total or 0) as task:
            for _, group in groupby(pairs, key=lambda pair: pair.query.query_id):
                together = list(group)
                for graded in self._graded(together):
                    if graded.judgment.grade is None:
                        summary.unscored[graded.reason] = summary.unscored.get(graded.reason, 0) + 1
                    sink(graded)
                summary.pairs += len(together)
                task.advance(len(together))
        return summary

    def _graded(self, pairs: Sequence[Pair]) -> list[Graded]:
        weights = centrality(pairs[0].query.text, [p.passage.text for p in pairs], self.config.restart)
        highest = weights.max()
        shares = weights / highest if highest > 0 else weights
        grades = np.searchsorted(self.config.thresholds, shares, side="right").tolist()
        alone = len(pairs) < 2
        return [self._one(pair, None if alone else grade) for pair, grade in zip(pairs, grades, strict=True)]

    def _one(self, pair: Pair, grade: int | None) -> Graded:
        span = pair.passage
        judgment = Judgment(
            pair.query.query_id, span.doc_id, span.start, span.end, grade, source=self.name, judge=self.name
        )
        return Graded(
            pair, judgment, () if grade is None else (grade,), reason="" if grade is not None else ALONE
        )


def graph_judge(config: GraphConfig, tools: JudgeTools) -> GraphJudge:
    """The judge of a run; it needs nothing of it."""
    return GraphJudge(config)


def centrality(query: str, passages: Sequence[str], restart: float) -> Floats:
    """The weight of each passage [passages] in a walk over those that agree; 0 for all without a shared word.

    With probability ``restart`` the walk goes to a passage by its cosine with the query, else from
    a passage to one that holds its words and is alike. Words count by their rarity among the passages.
    """
    terms = [Counter(terms_of(text)) for text in passages]
    rarity = _rarity(terms)
    vectors = [{term: count * rarity[term] for term, count in one.items()} for one in terms]
    asked = {term: rarity[term] for term in set(terms_of(query)) if term in rarity}
    # the cosine, so that a long passage does not win by its length
    bias = np.array([_cosine(asked, one) for one in vectors])
    if not bias.any():
        return np.zeros(len(passages))
    bias = bias / bias.sum()
    edges = np.array(
        [[0.0 if i == j else _agreement(a, b) for j, b in enumerate(vectors)] for i, a in enumerate(vectors)]
    )
    out = edges.sum(axis=1, keepdims=True)
    # a passage that agrees with none passes its weight on by the query
    steps = np.where(out > 0, edges / np.where(out > 0, out, 1.0), bias[None, :])
    weights = bias
    for _ in range(_STEPS):
        following = restart * bias + (1 - restart) * weights @ steps
        if np.abs(following - weights).sum() < _CLOSE_ENOUGH:
            return np.asarray(following)
        weights = following
    return np.asarray(weights)


def terms_of(text: str) -> list[str]:
    """Lower-case words; of Chinese and Japanese every two neighbouring characters."""
    found: list[str] = []
    for run in _TOKEN.findall(text.casefold()):
        if _WIDE.match(run) and len(run) > 1:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            found.append(run)
    return found


def _rarity(terms: Sequence[Counter[str]]) -> dict[str, float]:
    """How much a term tells the passages apart: log((1 + n) / (0.5 + passages with it))."""
    holding = Counter(term for one in terms for term in one)
    return {term: math.log((1 + len(terms)) / (0.5 + count)) for term, count in holding.items()}


def _agreement(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """How far ``other`` says what ``one`` says: the geometric mean of overlap and cosine."""
    shared = one.keys() & other.keys()
    if not shared:
        return 0.0
    overlap = sum(one[t] for t in shared) / sum(one.values())
    return math.sqrt(overlap * _cosine(one, other))


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    shared = one.keys() & other.keys()
    if not shared:
        return 0.0
    norms = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return sum(one[t] * other[t] for t in shared) / norms
