"""The measured answers in folders of results, as scores to compare; the verdict on them in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.comparison.caveats import ranked_alike, warnings_of
from harness.comparison.matrix import ScoredOn, ScoreMatrix, from_scores, join, joined_names
from harness.comparison.scores import Scores, options_of, verdict_of
from harness.comparison.stored import Stored, scores_of
from harness.comparison.verdict import LABELS, Trust
from harness.comparison.words import lines_of
from harness.measures import AGAINST_GOLDEN, ANSWER_MEASURES, Bools, MeasureFacts
from harness.report import AnswerScoreRow, read_any, read_result, spec_of
from harness.values import ANSWER, ConfigError, HarnessError, QueryScore, ResultWarning, counted

# The lines on answers that follow the verdict on rankings; `harness compare` has the rest.
_BRIEF = ("decision", "margin", "caveat")
_TRUST = Trust("each for what it says of an answer")
# Labels and depths say nothing of an answer; what was read and what it says do.
_BEAR_ON_ANSWERS = ("text", "questions", "language", "model calls", "cache")


@dataclass(frozen=True, slots=True)
class StoredAnswers(Stored):
    """The answers of one result; ``rows`` are those of answer_scores.csv.

    ``configured`` is the configuration of every measure that has values, by name, in the order of the run.
    """

    rows: tuple[AnswerScoreRow, ...] = ()
    configured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def chunkings(self) -> dict[str, str]:
        """None: answers are compared however documents were cut."""
        return {}

    def facts(self, measure: str) -> MeasureFacts:
        """The facts of a measure."""
        kind = ANSWER_MEASURES.find(str(self.configured[measure]["kind"]))
        facts: MeasureFacts = kind.config.facts
        return facts

    def matrix(self, measure: str) -> ScoreMatrix:
        """Its values by setting and query, NaN if there is none.

        If less is better, values are subtracted from 1 and the name says so, so that more is always better.
        """
        own = [row for row in self.rows if row.measure == measure]
        found = from_scores(
            [QueryScore(row.setting, ANSWER, row.query_id, measure, row.value) for row in own],
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
        whole = Stored.scored_on(self, measure)
        if "labels" in facts.needs:
            return ScoredOn(whole.files, whole.texts, {**whole.rules, **rules})
        return ScoredOn({"queries": whole.files["queries"]}, {}, rules)

    def beside(self, others: Sequence[Stored], measure: str) -> tuple[list[ScoreMatrix], tuple[str, ...]]:
        """The scores on the questions for which all settings of all results have a value."""
        kept, left_out = on_common_questions([one.matrix(measure) for one in (self, *others)])
        note = (
            f"{counted(left_out, 'question')} left out, as only some settings have a value of {measure} "
            "for them; replies.csv and answer_scores.csv say why."
        )
        return kept, (note,) if left_out else ()

    def concerned(self, warning: ResultWarning) -> bool:
        """Whether a warning of the run says something about answers."""
        return warning.kind in _BEAR_ON_ANSWERS


def read_answers_of(folder: Path) -> StoredAnswers:
    """The measured answers of a folder of results; raises HarnessError if it holds no results."""
    result, rows = read_result(folder), tuple(read_any(folder, AnswerScoreRow))
    scored = {row.measure for row in rows}
    listed = {
        one.get("name") or one["kind"]: one for one in result.record["config"].get("answer_measures", [])
    }
    configured = {name: one for name, one in listed.items() if name in scored}
    return StoredAnswers(result, ANSWER, tuple(configured), rows, configured)


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


def answers_to_take(folders: Sequence[Path], asked: str | None) -> tuple[dict[Path, Stored], str] | None:
    """The answers of results and the measure to compare them by; None if their rankings are meant.

    Answers are meant where ``asked`` is a measure of answers, and, without it, where the settings of one
    result differ only in how they answer. Raises ConfigError if only some results have the measure.
    """
    if not any(map(_has_answers, folders)):
        return None
    stored = {folder: read_answers_of(folder) for folder in folders}
    if asked is None:
        measure = answer_headline(list(stored.values())) if _only_answers_differ(stored) else None
        return None if measure is None else ({**stored}, measure)
    having = [one for one in stored.values() if asked in one.measures]
    if not having or any(asked in set(one.result.per_query["measure"]) for one in stored.values()):
        return None
    for folder, one in stored.items():
        if asked not in one.measures:
            has = f"it has {', '.join(one.measures)}" if one.measures else "its answers are not measured"
            raise ConfigError(f"{folder}: answers were not scored by {asked}; {has}.")
    return {**stored}, asked


def common_answer_measure(folders: Sequence[Path]) -> str | None:
    """The measure that the answers of these results can be compared by; None if there is none."""
    if not all(map(_has_answers, folders)):
        return None
    return answer_headline([read_answers_of(folder) for folder in folders])


def answer_headline(stored: Sequence[StoredAnswers]) -> str | None:
    """The measure to compare answers by, of those that all results have; None if they share none.

    The first that compares the whole answer with the golden one; else the first that looks at the answer, in
    the order of the configuration.
    """
    common = [m for m in stored[0].measures if all(m in one.measures for one in stored[1:])]
    kinds = {str(stored[0].configured[measure]["kind"]): measure for measure in reversed(common)}
    preferred = next((kinds[kind] for kind in AGAINST_GOLDEN if kind in kinds), None)
    looking = [measure for measure in common if "answer" in stored[0].facts(measure).needs]
    return preferred or next(iter(looking), None)


def scores_by(results: Mapping[str, tuple[Path, Stored]], measure: str) -> Scores:
    """Results side by side, to be compared by a measure: of rankings, or of answers.

    Raises HarnessError if they do not compare, with the reasons, or where no question is left.
    """
    answers = {name: one for name, (_, one) in results.items() if isinstance(one, StoredAnswers)}
    return _of_answers(answers, measure) if answers else replace(scores_of(results), chosen=measure)


def _of_answers(named: Mapping[str, StoredAnswers], measure: str) -> Scores:
    """On the questions that all have a value for; other measures of answers may contradict the verdict."""
    chosen, notes = _joined(named, measure)
    matrices = {chosen.measure: chosen}
    first = next(iter(named.values()))
    for other in first.measures:
        shared = other != measure and all(other in one.measures for one in named.values())
        if shared and "answer" in first.facts(other).needs:
            try:
                matrix, _ = _joined(named, other)
            except HarnessError:
                # a measure that cannot be compared says nothing about this one
                continue
            matrices[matrix.measure] = matrix
    names = joined_names({name: one.matrix(measure) for name, one in named.items()})
    warnings = warnings_of({name: one.result.record for name, one in named.items()}, names)
    return Scores(
        matrices=matrices,
        documents=first.result.documents,
        options=options_of(first.result.record),
        notes=notes,
        warnings=tuple(filter(first.concerned, warnings)),
        trust=dict.fromkeys(matrices, _TRUST),
        chosen=chosen.measure,
    )


def _joined(named: Mapping[str, StoredAnswers], measure: str) -> tuple[ScoreMatrix, tuple[str, ...]]:
    first, *others = named.values()
    kept, notes = first.beside(others, measure)
    scored_on = {name: one.scored_on(measure) for name, one in named.items()} if others else None
    return join(dict(zip(named, kept, strict=True)), scored_on), notes


def answer_lines(folder: Path) -> list[dict[str, str]]:
    """The verdict on answers in short: ``label`` and ``text`` of each line, the first with its measure.

    None if answers are not measured, or there is one setting. Raises HarnessError if the folder holds
    no results.
    """
    measure = common_answer_measure([folder])
    if measure is None:
        return []
    try:
        verdict = verdict_of(scores_by({folder.name: (folder, read_answers_of(folder))}, measure))
    except HarnessError as error:
        return [{"label": LABELS["decision"], "text": f"There is none on answers. {error}"}]
    if verdict.decision == "single":
        return []
    lines = [line for line in lines_of(verdict) if line.role in _BRIEF]
    more = {"label": LABELS["next"], "text": f"All differences: harness compare … --measure {measure}"}
    return [*({"label": LABELS[line.role], "text": line.text} for line in lines), more]


def brief_verdict(folder: Path) -> tuple[str, ...]:
    """The same in sentences."""
    lines = (f"Answers, {one['label'].lower()}: {one['text']}" for one in answer_lines(folder))
    return tuple(line.replace("compare …", f"compare {folder}") for line in lines)


def _has_answers(folder: Path) -> bool:
    return (folder / spec_of(AnswerScoreRow).file).exists()


def _only_answers_differ(stored: Mapping[Path, StoredAnswers]) -> bool:
    if len(stored) > 1:
        return False
    (one,) = stored.values()
    settings = {setting["name"]: setting for setting in one.result.record["config"].get("settings", [])}
    return len(settings) > 1 and len(ranked_alike(settings)) == 1
