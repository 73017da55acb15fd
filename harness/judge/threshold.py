"""Threshold judges: a model's score cut into grades. Cheap, and named as what they are in every table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal

import numpy as np
from pydantic import Field, field_validator

from harness.errors import JudgeError
from harness.judge.config import PoolConfig, PoolJudgeConfig
from harness.judge.records import Graded, Pair, Sink, Summary
from harness.judge.tools import JudgeTools
from harness.kinds import kind_of
from harness.llm.money import Estimate
from harness.progress import Reporter
from harness.types import Judgment

Thresholds = tuple[float, float, float, float]
_NONE: frozenset[str] = frozenset()


class _ThresholdConfig(PoolJudgeConfig):
    model: str = Field(description="Hub id, local folder, or an embedded model.")
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    thresholds: Thresholds = Field(description="The scores from which grades 1, 2, 3 and 4 begin.")

    @field_validator("thresholds")
    @classmethod
    def _rising(cls, thresholds: Thresholds) -> Thresholds:
        if any(low >= high for low, high in pairwise(thresholds)):
            raise ValueError("thresholds rise: the scores from which grades 1, 2, 3 and 4 begin")
        return thresholds

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


class RerankerConfig(_ThresholdConfig):
    """A threshold judge: a reranker's score, cut into grades on that model's scale (here: logits)."""

    kind: Literal["reranker"] = "reranker"
    thresholds: Thresholds = Field(
        (-4.0, 0.0, 4.0, 8.0), description="The scores from which grades 1, 2, 3 and 4 begin."
    )


class ThresholdJudge:
    """A judge that cuts scores at thresholds. It measures agreement with one model, not relevance."""

    def __init__(
        self,
        config: CosineConfig | RerankerConfig,
        score: Callable[[Sequence[tuple[str, str]]], Sequence[float]],
    ) -> None:
        self.config = config
        self._score = score

    @property
    def name(self) -> str:
        """How the judge is named in every table."""
        return self.config.title

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a run record keeps of the judge."""
        return {
            "kind": self.config.kind,
            "model": self.config.model,
            "thresholds": list(self.config.thresholds),
        }

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """Nothing: no language model is asked."""
        return []

    def grade(
        self,
        pairs: Iterable[Pair],
        sink: Sink,
        *,
        reporter: Reporter,
        total: int | None = None,
    ) -> Summary:
        """Grade the pairs, one query at a time; same contract as LlmJudge.grade, at no cost."""
        summary = Summary(judge=self.name)
        with reporter.task(f"judging with {self.name}", total or 0) as task:
            for _, group in groupby(pairs, key=lambda pair: pair.query.query_id):
                together = list(group)
                for graded in self._graded(together):
                    sink(graded)
                summary.pairs += len(together)
                task.advance(len(together))
        return summary

    def _graded(self, pairs: Sequence[Pair]) -> Iterator[Graded]:
        scores = np.asarray(
            self._score([(pair.query.text, pair.passage.text) for pair in pairs]), dtype=float
        )
        if scores.shape != (len(pairs),) or not np.isfinite(scores).all():
            raise JudgeError(f"{self.name} gave no finite score for each of {len(pairs)} pairs.")
        grades = np.searchsorted(self.config.thresholds, scores, side="right")
        for pair, grade in zip(pairs, grades.tolist(), strict=True):
            span = pair.passage
            judgment = Judgment(
                pair.query.query_id,
                span.doc_id,
                span.start,
                span.end,
                grade,
                source=self.name,
                judge=self.name,
            )
            yield Graded(pair, judgment, (grade,))


def cosine_judge(config: CosineConfig, tools: JudgeTools) -> ThresholdJudge:
    """A judge that grades by the cosine of query and passage embeddings."""
    encoder = tools.encoder(config.model)

    def score(pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        queries = _unit(encoder.encode([query for query, _ in pairs]))
        passages = _unit(encoder.encode([passage for _, passage in pairs]))
        return [float(value) for value in (queries * passages).sum(axis=1)]

    return ThresholdJudge(config, score)


def reranker_judge(config: RerankerConfig, tools: JudgeTools) -> ThresholdJudge:
    """A judge that grades by a cross-encoder's score."""
    return ThresholdJudge(config, tools.scorer(config.model).score)


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
