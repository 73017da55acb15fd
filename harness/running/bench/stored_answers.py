"""The measured answers in a folder of results, as scores to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.comparison import Bools, ScoredOn, ScoreMatrix, from_scores
from harness.measures import ANSWER_MEASURES, MeasureFacts
from harness.report import AnswerScoreRow, StoredResult, read_any, read_result
from harness.running.answering.losses import UNITS
from harness.values import ConfigError, HarnessError, QueryScore

_STAGE = "answer"


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """The answers of one result; ``rows`` are those of answer_scores.csv, none if nothing was measured."""

    result: StoredResult
    rows: tuple[AnswerScoreRow, ...]

    @property
    def configured(self) -> dict[str, Mapping[str, Any]]:
        """The configuration of every measure that has values, by name, in the order of the run."""
        scored = {row.measure for row in self.rows}
        listed = self.result.record["config"].get("answer_measures", [])
        named = {one.get("name") or one["kind"]: one for one in listed}
        return {name: one for name, one in named.items() if name in scored}

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that have values."""
        return tuple(self.configured)

    def facts(self, measure: str) -> MeasureFacts:
        """The facts of a measure."""
        own = ANSWER_MEASURES.find(str(self.configured[measure]["kind"]))
        facts: MeasureFacts = own.make.facts  # type: ignore[attr-defined]
        return facts

    def matrix(self, measure: str) -> ScoreMatrix:
        """Its values by setting and query, NaN if there is none.

        If less is better, values are subtracted from 1 and the name says so, so that more is always better.
        """
        own = [row for row in self.rows if row.measure == measure]
        found = from_scores(
            [QueryScore(row.setting, _STAGE, row.query_id, measure, row.value) for row in own],
            measure,
            {row.query_id: row.split for row in own},
            clusters={row.query_id: row.cluster for row in own if row.cluster},
        )
        if not self.facts(measure).less_is_better:
            return found
        return replace(found, measure=f"1 - {measure}", values=1.0 - found.values)

    def scored_on(self, measure: str) -> ScoredOn:
        """The basis of a measure's values: questions with their golden answers, and the scorer.

        A measure of labelled evidence rests on the labels and texts too, as rankings do.
        """
        record, facts = self.result.record, self.facts(measure)
        config = record["config"]
        rules: dict[str, Any] = {f"the keys of {measure}": dict(self.configured[measure])}
        if "llm" in facts.needs:
            judge = config.get("answer_judge") or {}
            rules["the model that scores answers"] = judge.get("endpoint", {}).get("model")
            prompts = record.get("counts", {}).get("answer_prompts", {})
            rules[f"the prompts of {measure}"] = prompts.get(measure)
        if "vectors" in facts.needs:
            rules["the encoder of answers"] = (config.get("answer_embedding") or {}).get("model")
        whole = ScoredOn.of(record, self.result.texts, self.result.judged)
        if "labels" in facts.needs:
            return ScoredOn(whole.files, whole.texts, {**whole.rules, **rules})
        return ScoredOn({"queries": whole.files["queries"]}, {}, rules)


def read_answers_of(folder: Path) -> StoredAnswers:
    """The measured answers of a folder of results; raises HarnessError if it holds no results."""
    return StoredAnswers(read_result(folder), tuple(read_any(folder, AnswerScoreRow)))


def answer_headline(stored: Sequence[StoredAnswers]) -> str | None:
    """The measure to compare answers by, of those that all results have; None if they share none.

    The first of ``answer_correctness``, ``token_f1`` and ``exact_match``, which compare the whole answer with
    the golden one; else the first that looks at the answer, in the order of the configuration.
    """
    common = [m for m in stored[0].measures if all(m in one.measures for one in stored[1:])]
    kinds = {str(stored[0].configured[measure]["kind"]): measure for measure in reversed(common)}
    preferred = next((kinds[kind] for kind in UNITS if kind in kinds), None)
    looking = [measure for measure in common if "answer" in stored[0].facts(measure).needs]
    return preferred or next(iter(looking), None)


def answer_measure_to_take(stored: Mapping[Path, StoredAnswers], asked: str) -> str | None:
    """``asked`` if all results have this measure of answers; None if none has it.

    Raises ConfigError if only some results have it.
    """
    having = [folder for folder, one in stored.items() if asked in one.measures]
    if not having:
        return None
    for folder, one in stored.items():
        if asked not in one.measures:
            has = f"it has {', '.join(one.measures)}" if one.measures else "its answers are not measured"
            raise ConfigError(f"{folder}: answers were not scored by {asked}; {has}.")
    return asked


def on_common_questions(matrices: Sequence[ScoreMatrix]) -> tuple[list[ScoreMatrix], int]:
    """The matrices on the questions for which all settings of all have a value, and how many that leaves out.

    A question that no setting has a value for is not counted. Raises HarnessError if the results were
    asked different questions, or where no question is left.
    """
    first = matrices[0]
    for other in matrices[1:]:
        if alone := sorted(set(first.query_ids) ^ set(other.query_ids)):
            raise HarnessError(f"The questions differ: only one of the results has {', '.join(alone[:5])}.")
    ordered = [one.in_order_of(first.query_ids) for one in matrices]
    known = ~np.isnan(np.vstack([one.values for one in ordered]))
    whole: Bools = np.asarray(known.all(axis=0), dtype=np.bool_)
    if not whole.any():
        raise HarnessError(f"No question has a value of {first.measure} under every setting.")
    left_out = int((known.any(axis=0) & ~whole).sum())
    return [one.only(whole) for one in ordered], left_out
