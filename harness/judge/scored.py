"""Judges by the scores of an encoder or a reranker: their settings, and how scores become grades."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from pydantic import Field, field_validator

from harness.comparison import sentence_of
from harness.judge.calibration import Calibration, Cuts, Floats, calibrate
from harness.judge.config import PoolConfig, PoolJudgeConfig
from harness.judge.pair_grades import JudgeTools, Labelled, Pair, PairGrade, PairModel, Sink, Summary
from harness.judge.rater_agreement import Agreement, match_judgments, measure_agreement
from harness.models import EncoderConfig, Estimate
from harness.values import MAX_GRADE, JudgeError, Reporter, Run, Sentence, counted, kind_of


class ScoredConfig(PoolJudgeConfig, ABC):
    """Base of the settings of judges by scores.

    ``usual_cuts`` serve where none are named and no fit can be made; None where scores have no usual scale.
    """

    usual_cuts: ClassVar[Cuts | None] = None

    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    cuts: tuple[float, float, float, float] | None = Field(
        None,
        description="The scores above which grades 1, 2, 3 and 4 begin. If you set none, they are fitted to "
        "the grades of other train queries in `labels`, if there are at least 30 and some of them are 0, "
        "whichever query is graded.",
    )

    @property
    @abstractmethod
    def scorer(self) -> EncoderConfig | PairModel:
        """The model that gives the scores: of vectors, or of pairs of texts."""

    @field_validator("cuts")
    @classmethod
    def _cuts_rise(cls, cuts: Cuts | None) -> Cuts | None:
        if cuts is not None and any(low >= high for low, high in pairwise(cuts)):
            raise ValueError("cuts rise: they are the scores above which grades 1, 2, 3 and 4 begin")
        return cuts


Configured = TypeVar("Configured", bound=ScoredConfig)


class ScoredJudge(ABC, Generic[Configured]):
    """Scores all pairs in one pass of a model, then turns scores into grades.

    What people have graded is scored too: train queries to fit the cuts, all to say how far the judge agrees
    with them. No grade depends on what people gave for the same query, or for the same text of it.
    """

    def __init__(self, config: Configured, tools: JudgeTools) -> None:
        self.config, self.tools = config, tools
        self.name = config.title
        self._found: dict[str, object] = {}

    @property
    def fingerprint(self) -> dict[str, object]:
        """The facts about the judge in a run record; once it has graded, its cuts and its agreement too."""
        keys = self.config.model_dump(mode="json", exclude={"pool", "cuts"})
        return {**keys, "kind": kind_of(self.config), **self._found}

    @abstractmethod
    def scores(self, pairs: Sequence[Pair], labels: Sequence[Labelled]) -> Run[Floats]:
        """The score of every pair, higher for more relevant, float64 [pairs], as a step.

        ``labels`` are what people have graded; their pairs are among ``pairs``.
        """

    def scoring(self, pairs: Iterable[Pair], labels: Sequence[Labelled]) -> Run[dict[tuple[str, str], float]]:
        """The score of every pair and of what people have graded, by its key, as a step.

        Raises JudgeError for a score that is no finite number.
        """
        items = {pair.key: pair for pair in chain(pairs, (label.pair for label in labels))}
        scores = np.asarray((yield from self.scores(list(items.values()), labels)), dtype=np.float64)
        if scores.shape != (len(items),) or not np.isfinite(scores).all():
            raise JudgeError(f"{self.name} gave no finite score for each of {counted(len(items), 'pair')}.")
        return dict(zip(items, scores.tolist(), strict=True))

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """Nothing: no language model is asked."""
        return []

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, all at once; warns of what the grades are worth.

        Raises JudgeError for a score that is no finite number, or where no cuts are known.
        """
        pool, labels = list(pairs), self.tools.labelled()
        summary = Summary(judge=self.name)
        if not pool:
            return summary
        of = self.tools.run(self.scoring(pool, labels))
        calibration = self._calibration(labels, of)
        cost = None if self.config.served else 0.0
        for pair in pool:
            grade = calibration.grade(pair.query.query_id, of[pair.key])
            graded = PairGrade(pair, pair.judgment(grade, self.name, self.name), (grade,), cost=cost)
            summary.note(graded)
            sink(graded)
        agreement = self._agreement(labels, of, calibration)
        self._note_facts(calibration, np.array([of[pair.key] for pair in pool]), agreement)
        reporter.warn(self._worth(calibration, agreement))
        return summary

    def _calibration(self, labels: Sequence[Labelled], scores: dict[tuple[str, str], float]) -> Calibration:
        """Cuts that are named, else those of a fit, else the usual ones."""
        if self.config.cuts is not None:
            return Calibration(self.config.cuts)
        train = [label for label in labels if label.pair.query.split == "train"]
        fitted = calibrate(
            [label.pair.query.query_id for label in train],
            np.array([scores[label.pair.key] for label in train]),
            np.array([label.grade for label in train], dtype=np.float64),
        )
        if fitted is not None:
            return fitted
        if self.config.usual_cuts is None:
            raise JudgeError(
                f"{self.name}: its scores have no scale that is known, and without the query that is graded "
                "there are not always 30 grades of train queries, some of them 0, to fit one to. State the "
                "scores above which grades 1 to 4 begin, for logits such as relevance: "
                "{cuts: [-4, 0, 4, 8]}, or label more."
            )
        return Calibration(self.config.usual_cuts)

    def _agreement(
        self, labels: Sequence[Labelled], scores: dict[tuple[str, str], float], calibration: Calibration
    ) -> Agreement | None:
        """How far the judge agrees with people; None without labels."""
        if not labels:
            return None
        judged = (
            label.pair.judgment(
                calibration.grade(label.pair.query.query_id, scores[label.pair.key]), self.name, self.name
            )
            for label in labels
        )
        matched = match_judgments((label.judgment for label in labels), judged)
        return measure_agreement(self.name, matched, MAX_GRADE)

    def _note_facts(self, calibration: Calibration, scores: Floats, agreement: Agreement | None) -> None:
        shares = (0.05, 0.25, 0.5, 0.75, 0.95)
        quantiles = np.quantile(scores, shares).round(4).tolist()
        self._found = {
            "cuts": [round(cut, 6) if np.isfinite(cut) else None for cut in calibration.cuts],
            "fitted_to": calibration.labels,
            "score_quantiles": dict(zip(map(str, shares), quantiles, strict=True)),
        }
        if agreement is not None:
            self._found["agreement"] = {
                "passages": agreement.pairs,
                "queries": agreement.queries,
                **_bounds("kappa", agreement.kappa),
                **_bounds("kappa_quadratic", agreement.kappa_quadratic),
            }

    def _worth(self, calibration: Calibration, agreement: Agreement | None) -> Sentence:
        """What judged, how far it agrees with people, and whom it favours."""
        code = "judge.fitted" if calibration.labels else "judge.stated"
        about = {"judge": self.name, "grades": counted(calibration.labels, "grade")}
        if agreement is None:
            return sentence_of(code, **about)
        about |= {
            "passages": counted(agreement.pairs, "passage"),
            "queries": counted(agreement.queries, "query", "queries"),
            "compared": agreement.in_words,
        }
        if not np.isfinite(agreement.kappa_quadratic.value):
            return sentence_of(f"{code}.one grade", **about)
        kappas = {"kappa": str(agreement.kappa_quadratic), "plain": str(agreement.kappa)}
        return sentence_of(f"{code}.kappa", **about, **kappas)


def _bounds(name: str, interval: Any) -> dict[str, float | None]:
    value = interval.value if np.isfinite(interval.value) else None
    return {name: value, f"{name}_low": interval.low, f"{name}_high": interval.high}
