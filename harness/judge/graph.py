"""A stand-in judge by agreement between passages. It needs no model and is weak.

The passages of a question form a graph: an edge leads from one passage to another as far as the second holds
the words and figures of the first (overlap in the direction of an entailment) and both are alike. A random
walk that restarts at passages with words of the question gives each its weight: biased LexRank (Otterbacher,
Erkan and Radev, EMNLP 2005). What many passages repeat is taken for relevant, which is wrong wherever one
passage alone answers. A question whose best passage has few of its words gets no high grade.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.judge.config import PoolConfig, PoolJudgeConfig
from harness.judge.free import FreeJudge, Thresholds
from harness.judge.records import Pair, PairGrade, Sink, Summary
from harness.judge.tools import JudgeTools
from harness.values import WIDE, Reporter

Floats = NDArray[np.float64]
_TOKEN = re.compile(rf"[{WIDE}]+|\w+")
_WIDE = re.compile(rf"[{WIDE}]")
_STEPS = 100
_CLOSE_ENOUGH = 1e-10
# Why a passage has no grade: nothing can agree with it.
ALONE = "no_other_passage"


class GraphConfig(PoolJudgeConfig):
    """A weak stand-in judge that grades by agreement between the passages of a question."""

    kind: Literal["graph"] = "graph"
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    restart: float = Field(
        0.8,
        gt=0,
        le=1,
        description="The weight of the question's words relative to other passages; 1: its words alone.",
    )
    thresholds: Thresholds = Field(
        (0.155, 0.17, 0.19, 0.205),
        description="The scores at which grades 1, 2, 3 and 4 begin: a passage's share of the highest weight "
        "among the question's passages, times the cosine of the one that has most of the question's words.",
    )

    @property
    def title(self) -> str:
        """How it is named in every table."""
        return "weak stand-in: graph of passages"


class GraphJudge(FreeJudge[GraphConfig]):
    """Grades all passages of a question together; the grade of one depends on the others."""

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """The facts about the judge in a run record."""
        c = self.config
        return {"kind": c.kind, "restart": c.restart, "thresholds": list(c.thresholds)}

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, one query at a time, at no cost; a query's only passage has no grade.

        Reads the pairs twice: words count by their rarity among all passages.
        """
        # an iterator can be read only once
        pairs = list(pairs) if iter(pairs) is pairs else pairs
        self._rarity = rarity_in({pair.passage.chunk_id: pair.passage.text for pair in pairs}.values())
        reporter.warn(
            f"{self.name}: grades come from agreement between passages, not from reading. Check them against "
            "people: harness judge agreement."
        )
        return super().grade(pairs, sink, reporter=reporter, total=total)

    def graded(self, pairs: Sequence[Pair]) -> list[PairGrade]:
        """The passages of one query; an only one has no grade."""
        texts = [pair.passage.text for pair in pairs]
        found = strength(pairs[0].query.text, texts, self.config.restart, self._rarity)
        if len(pairs) < 2:
            return [self.one(pair, None, ALONE) for pair in pairs]
        grades = np.searchsorted(self.config.thresholds, found, side="right").tolist()
        return [self.one(pair, grade) for pair, grade in zip(pairs, grades, strict=True)]


def graph_judge(config: GraphConfig, tools: JudgeTools) -> GraphJudge:
    """The judge of a run; it needs nothing of it."""
    return GraphJudge(config)


@dataclass(frozen=True, slots=True)
class Rarity:
    """How many of ``passages`` hold each term."""

    passages: int
    holding: Mapping[str, int]

    def of(self, term: str) -> float:
        """How much a term tells passages apart: log(1 + passages / (0.5 + those with it)), never 0."""
        return math.log(1 + self.passages / (0.5 + self.holding.get(term, 0)))


def rarity_in(passages: Iterable[str]) -> Rarity:
    """The rarity of terms among passages."""
    holding: Counter[str] = Counter()
    count = 0
    for text in passages:
        holding.update(set(terms_of(text)))
        count += 1
    return Rarity(count, holding)


def strength(query: str, passages: Sequence[str], restart: float, rarity: Rarity) -> Floats:
    """The score of each passage [P], 0 to 1: its share of the highest weight times the highest cosine.

    The cosine is that of the query with the passage that has most of its words. Without it every
    question would have a passage of the highest grade. With ``restart`` 1 it is the cosine of each passage.
    """
    vectors, asked = _vectors(query, passages, rarity)
    bias = _cosines(vectors, asked[None, :])[:, 0]
    weights = _walk(vectors, bias, restart)
    highest = weights.max(initial=0.0)
    return np.asarray(weights / highest * bias.max()) if highest > 0 else weights


def _walk(vectors: Floats, bias: Floats, restart: float) -> Floats:
    """Personalised PageRank over passages of terms ``vectors`` [P, T]: their weights; all 0 without a bias.

    With probability ``restart`` the walk goes to a passage by its ``bias`` [P], the cosine with the query,
    else from a passage to one that holds its words and is alike.
    """
    if not bias.any():
        return np.zeros(len(bias))
    bias = bias / bias.sum()
    edges = _edges(vectors)
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


def _vectors(query: str, passages: Sequence[str], rarity: Rarity) -> tuple[Floats, Floats]:
    """Passages [P, T], each term as often as it is there, and the query [T]; all by rarity."""
    terms = [Counter(terms_of(text)) for text in passages]
    asked = set(terms_of(query))
    column = {term: at for at, term in enumerate(sorted(asked.union(*terms)))}
    rare = np.array([rarity.of(term) for term in column])
    vectors = np.zeros((len(passages), len(column)))
    for row, counts in enumerate(terms):
        vectors[row, [column[term] for term in counts]] = list(counts.values())
    wanted = np.zeros(len(column))
    wanted[[column[term] for term in asked]] = 1.0
    return vectors * rare, wanted * rare


def _edges(vectors: Floats) -> Floats:
    """How far one passage [P, .] is repeated by another [., P]: the geometric mean of overlap and cosine."""
    totals = vectors.sum(axis=1, keepdims=True)
    overlap = vectors @ (vectors > 0).T / np.where(totals > 0, totals, 1.0)
    edges = np.sqrt(overlap * _cosines(vectors, vectors))
    np.fill_diagonal(edges, 0.0)
    return np.asarray(edges)


def _cosines(one: Floats, other: Floats) -> Floats:
    """The cosines of rows [A, T] with rows [B, T]; 0 for a row without terms."""
    first, second = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
    return np.asarray((one / np.where(first > 0, first, 1.0)) @ (other / np.where(second > 0, second, 1.0)).T)
