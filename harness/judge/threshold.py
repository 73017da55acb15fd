"""Threshold judges: a model's score cut into grades. Cheap, and named as threshold judges in every table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from harness.judge.config import PoolConfig, PoolJudgeConfig
from harness.judge.records import JudgeTools, Pair, PairGrade, Sink, Summary
from harness.models import Estimate
from harness.values import JudgeError, Reporter, kind_of

_NONE: frozenset[str] = frozenset()


def _rising(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    if any(low >= high for low, high in pairwise(thresholds)):
        raise ValueError("thresholds rise: the scores from which grades 1, 2, 3 and 4 begin")
    return thresholds


Thresholds = Annotated[tuple[float, float, float, float], AfterValidator(_rising)]


class _ThresholdConfig(PoolJudgeConfig):
    model: str = Field(description="Hub id, local folder, or an embedded model.")
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    thresholds: Thresholds = Field(description="The scores from which grades 1, 2, 3 and 4 begin.")

    @property
    def title(self) -> str:
        """How a threshold judge is named in every table."""
        return f"threshold judge: {kind_of(self)} {self.model}"

    @property
    def runs_here(self) -> str:
        """Its model."""
        return self.model


class CosineConfig(_ThresholdConfig):
    """A threshold judge: the cosine of two embeddings, cut into grades."""

    kind: Literal["cosine"] = "cosine"
    thresholds: Thresholds = Field(
        (0.3, 0.45, 0.6, 0.75), description="The cosines from which grades 1, 2, 3 and 4 begin."
    )


class RerankerJudgeConfig(_ThresholdConfig):
    """A threshold judge: a reranker's score, cut into grades on that model's scale (here: logits)."""

    kind: Literal["reranker"] = "reranker"
    thresholds: Thresholds = Field(
        (-4.0, 0.0, 4.0, 8.0), description="The scores from which grades 1, 2, 3 and 4 begin."
    )


class ThresholdJudge:
    """A judge that cuts scores at thresholds. It measures agreement with one model, not relevance.

    ``score`` gives one for each (query, passage), higher for more relevant.
    """

    def __init__(
        self,
        config: CosineConfig | RerankerJudgeConfig,
        score: Callable[[Sequence[tuple[str, str]]], Sequence[float]],
    ) -> None:
        self.config = config
        self.name = config.title
        self._score = score

    @property
    def fingerprint(self) -> dict[str, object]:
        """The facts about the judge in a run record."""
        return {
            "kind": self.config.kind,
            "model": self.config.model,
            "thresholds": list(self.config.thresholds),
        }

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """Nothing: no language model is asked."""
        return []

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, one query at a time; same contract as LlmJudge.grade, at no cost."""
        summary = Summary(judge=self.name)
        with reporter.task(f"judging with {self.name}", total or 0) as task:
            for _, group in groupby(pairs, key=lambda pair: pair.query.query_id):
                together = list(group)
                scores = np.asarray(
                    self._score([(pair.query.text, pair.passage.text) for pair in together]), dtype=float
                )
                if scores.shape != (len(together),) or not np.isfinite(scores).all():
                    raise JudgeError(f"{self.name} gave no finite score for each of {len(together)} pairs.")
                grades = np.searchsorted(self.config.thresholds, scores, side="right")
                for pair, grade in zip(together, grades.tolist(), strict=True):
                    sink(PairGrade(pair, pair.judgment(grade, self.name, self.name), (grade,)))
                summary.pairs += len(together)
                task.advance(len(together))
        return summary


def cosine_judge(config: CosineConfig, tools: JudgeTools) -> ThresholdJudge:
    """A judge that grades by the cosine of query and passage embeddings."""

    def score(pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        queries = _unit(tools.vectors(config.model, [query for query, _ in pairs]))
        passages = _unit(tools.vectors(config.model, [passage for _, passage in pairs]))
        return [float(value) for value in (queries * passages).sum(axis=1)]

    return ThresholdJudge(config, score)


def reranker_judge(config: RerankerJudgeConfig, tools: JudgeTools) -> ThresholdJudge:
    """A judge that grades by a cross-encoder's score."""
    return ThresholdJudge(config, partial(tools.scores, config.model))


def same_model_warning(
    judge_model: str, ranker_models: Iterable[str], weights: Mapping[str, frozenset[str]] | None = None
) -> str | None:
    """A warning when the judge is also a ranker, whatever organisation prefix or case its name has.

    ``weights`` are the hashes of the weight files of those models whose files are known.
    """
    known = weights or {}
    same = [
        name
        for name in ranker_models
        if _bare(name) == _bare(judge_model) or known.get(name, _NONE) & known.get(judge_model, _NONE)
    ]
    if not same:
        return None
    other = all(_bare(name) != _bare(judge_model) for name in same)
    return (
        f"The judge {judge_model} also ranks ({', '.join(same)}{': the same weights' if other else ''}): a "
        "model that grades its own ranking agrees with itself, which measures nothing. Use another judge or "
        "human labels."
    )


def _bare(name: str) -> str:
    return name.removeprefix("embedded:").rstrip("/").rpartition("/")[2].casefold()


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths))
