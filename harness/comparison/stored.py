"""Folders of results, read for a verdict: their rankings at a stage, or their measured answers.

And the measure to compare them by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import measures, report
from harness.comparison import caveats
from harness.comparison.design import design_of
from harness.comparison.doubted_judge import JudgeDoubt, judge_doubt
from harness.comparison.indexing_again import indexing_costs
from harness.comparison.label_sensitivity import sensitivity_of
from harness.comparison.matrix import (
    QUERIES,
    ScoredOn,
    ScoreMatrix,
    from_rows,
    join,
    joined_names,
    on_common_questions,
)
from harness.comparison.reading_depths import readings_of
from harness.comparison.scores import Scores, chunkings_of, options_of, refuse_no_quality, tokens_of
from harness.comparison.verdict_parts import Trust
from harness.comparison.what_ranks import alters
from harness.measures import headline, less_is_better
from harness.values import ANSWER, ConfigError, HarnessError, ResultWarning, by_key, counted

if TYPE_CHECKING:
    from harness.measures import AnswerMeasure

_TRUST = Trust("each for what it says of an answer")
# Labels and depths say nothing of an answer; what was read and what it says do.
_BEAR_ON_ANSWERS = ("text", "questions", "language", "model calls", "cache", "precision")
_NOT_AGAIN = (
    "Losses, other label lengths and wrong filters are not known for the judgments of all results: for them, "
    "run the settings in one benchmark."
)


@dataclass(frozen=True, slots=True)
class Stored:
    """The scores of one folder of results at one stage, which may be ``answer``."""

    folder: Path
    result: report.StoredResult
    # the rows of its other tables
    tables: Callable[[type[Any]], Sequence[Any]]
    stage: str
    # by measure, a row a value
    scores: Mapping[str, Sequence[report.ScoreRow]]
    # the configuration of every measure of answers that has values, by name, in the order of the run
    configured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # how it was scored again, on other judgments than its tables of losses, label lengths and filters
    again: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        folder: Path,
        result: report.StoredResult,
        tables: Callable[[type[Any]], Sequence[Any]],
        stage: str = "final",
        again: tuple[str, ...] = (),
    ) -> Stored:
        """A result at a stage of its rankings."""
        rows = by_key((row.measure, row) for row in result.per_query)
        return cls(folder, result, tables, stage, rows, again=again)

    @classmethod
    def of_answers(
        cls, folder: Path, result: report.StoredResult, tables: Callable[[type[Any]], Sequence[Any]]
    ) -> Stored:
        """A result at its measured answers."""
        rows: Iterable[report.AnswerScoreRow] = tables(report.AnswerScoreRow)
        scored = by_key((row.measure, _of_rankings(row)) for row in rows)
        configured = result.record["config"].get("answer_measures", [])
        named = {measure.get("name") or measure["kind"]: measure for measure in configured}
        kept = {name: measure for name, measure in named.items() if name in scored}
        return cls(folder, result, tables, ANSWER, scored, kept)

    @property
    def measures(self) -> tuple[str, ...]:
        """Those to compare by, as they were named: no costs, and none of answers without a configuration."""
        scored = (name for name in self.scores if not less_is_better(name))
        return tuple(self.configured if self.stage == ANSWER else scored)

    def measured_by(self, measure: str) -> AnswerMeasure:
        """A measure of answers, under its configuration."""
        configured = self.configured[measure]
        kind = measures.ANSWER_MEASURES.find(str(configured["kind"])).config
        measured: AnswerMeasure = kind.model_construct(**configured)
        return measured

    def scored_on(self, measure: str) -> ScoredOn:
        """The data and rules that the result was scored with by a measure.

        Answers rest on the queries with their golden answers, and on the scorer; on labels and texts, as
        rankings do, only by a measure of labelled evidence.
        """
        whole = ScoredOn.of(self.result.record, self.result.texts, self.result.judged)
        if self.stage != ANSWER:
            return whole
        record, needs = self.result.record, self.measured_by(measure).needs
        config = record["config"]
        keys = {name: _model_of(value) for name, value in self.configured[measure].items()}
        prompts = record.get("counts", {}).get("answer_prompts", {})
        rules: dict[str, Any] = {
            f"the keys of {measure}": keys,
            f"the prompts of {measure}": prompts.get(measure),
        }
        if "llm" in needs:
            rules["the model that scores answers"] = _model_of(config.get("answer_judge"))
        if "vectors" in needs:
            rules["the encoder of answers"] = _encoder_of(config.get("answer_embedding") or {})
        if "labels" in needs:
            return replace(whole, rules={**whole.rules, **rules})
        return ScoredOn({}, {QUERIES: whole.rules[QUERIES], **rules})

    def rows_of(self, row: type[Any]) -> Sequence[Any]:
        """The rows of a table that depends on the judgments; none if these are not those of the scores."""
        return [] if self.again else self.tables(row)

    @property
    def chunkings(self) -> dict[str, str]:
        """How each setting cuts documents; empty for answers, which are compared however that is."""
        settings = self.result.record["config"].get("settings", [])
        return {} if self.stage == ANSWER else chunkings_of(settings)

    def read(self, measure: str) -> Mapping[str, float]:
        """By setting whose rankings were cut short, the share that they hold of what a measure reads."""
        shares: dict[str, dict[str, float]] = self.result.record.get("counts", {}).get("read", {})
        return {} if self.stage == ANSWER else shares.get(measure, {})

    @property
    def labels(self) -> str:
        """What labels hold, as the run took them: ``answers`` or a ``pool``, which older results are."""
        return str(self.result.record.get("judge", {}).get("labels", "pool"))

    @property
    def labels_assumed(self) -> bool:
        """Whether no configuration says what labels hold."""
        return bool(self.result.record.get("judge", {}).get("labels_assumed"))

    def judged(self) -> Mapping[str, Mapping[str, float]]:
        """By setting and depth the share of the first ranks that is judged; empty where it is not known."""
        if self.stage == ANSWER:
            return {}
        counts = self.result.record.get("counts", {})
        by_setting: dict[str, dict[str, dict[str, float]]] = counts.get("judged", {})
        at_stage = {
            name: stages.get(list(stages)[-1] if self.stage == "final" else self.stage, {})
            for name, stages in by_setting.items()
            if stages
        }
        return {name: shares for name, shares in at_stage.items() if shares}

    def elsewhere(self) -> Mapping[str, float]:
        """By setting whose hits another pipeline returned, the share of them that are in no document."""
        settings = self.result.record["config"].get("settings", [])
        kinds = {(setting.get("retrieve") or {}).get("kind") for setting in settings}
        if self.stage == ANSWER or "returned" not in kinds:
            return {}
        hits: Iterable[report.HitRow] = self.tables(report.HitRow)
        lost = by_key((row.setting, not row.document) for row in hits)
        return {name: sum(rows) / len(rows) for name, rows in lost.items()}

    def matrix(self, measure: str) -> ScoreMatrix:
        """The scores of one measure by setting and query, NaN if there is none.

        If less is better, answers have their values subtracted from 1 and the name says so, so that more is
        always better.
        """
        matrix = from_rows(self.scores.get(measure, ()), measure, self.stage)
        if self.stage != ANSWER or not self.measured_by(measure).less_is_better:
            return matrix
        return replace(matrix, measure=f"1 - {measure}", values=1.0 - matrix.values)

    def beside(self, others: Sequence[Stored], measure: str) -> tuple[list[ScoreMatrix], tuple[str, ...]]:
        """Its scores and those of ``others`` to compare it with, and what was left out for that.

        Answers are compared on the queries for which all settings of all results have a value.
        """
        matrices = [stored.matrix(measure) for stored in (self, *others)]
        if self.stage != ANSWER:
            return matrices, ()
        kept, left_out = on_common_questions(matrices)
        counts = [
            pair for matrix in matrices for pair in zip(matrix.defined_counts, matrix.settings, strict=True)
        ]
        count, fewest = min(counts)
        note = (
            f"{counted(left_out, 'query', 'queries')} left out, as only some settings have a value of "
            f"{measure} for them; replies.csv and answer_scores.csv say why. {fewest} has the fewest, "
            f"{count}: all settings are compared on no more than these."
        )
        return kept, (note,) if left_out else ()

    def concerned(self, warning: ResultWarning) -> bool:
        """Whether a warning of the run says something about these scores, by some measure."""
        return self.stage != ANSWER or warning.kind in _BEAR_ON_ANSWERS


def _of_rankings(row: report.AnswerScoreRow) -> report.ScoreRow:
    """The value of an answer in the form of one of rankings, at a stage of its name."""
    return report.ScoreRow(
        setting=row.setting,
        stage=ANSWER,
        query_id=row.query_id,
        split=row.split,
        cluster=row.cluster,
        measure=row.measure,
        value=row.value,
    )


def _model_of(value: Any) -> Any:
    """The name of the model in place of its endpoint, whose limits and prices do not decide scores."""
    if isinstance(value, list | tuple):
        return [_model_of(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    return value["model"] if "model" in value else _model_of(value.get("endpoint"))


def _encoder_of(config: Mapping[str, Any]) -> Any:
    """The name of an encoder; of one behind an endpoint, also what is sent with the texts."""
    endpoint = config.get("endpoint") or {}
    sent = {name: endpoint[name] for name in ("dimensions", "extra_body") if endpoint.get(name)}
    return [config.get("model"), sent] if sent else config.get("model")


def read_stored(folder: Path, stage: str = "final") -> Stored:
    """Read a folder of results; raises HarnessError for none or a damaged one, or an unknown stage."""
    result = report.read_result(folder)
    stages = list(dict.fromkeys(row.stage for row in result.per_query))
    if stage != "final" and stage not in stages:
        raise ConfigError(f"{folder} has no stage {stage}; it has {', '.join(stages)}.")
    return Stored.of(folder, result, partial(report.read_any, folder), stage)


def read_answers_of(folder: Path) -> Stored:
    """The measured answers of a folder of results; raises HarnessError if it holds no results."""
    return Stored.of_answers(folder, report.read_result(folder), partial(report.read_any, folder))


def measure_to_take(results: Mapping[Path, Stored], measure: str | None) -> str:
    """The measure that was asked for, else the headline of all these results together.

    Raises ConfigError unless it is a measure of quality that all results were scored by.
    """
    if measure is not None:
        refuse_no_quality(measure)
    for folder, stored in results.items():
        if not stored.measures:
            refuse_no_quality(next(iter(stored.scores)))
        if measure is not None and measure not in stored.measures:
            raise ConfigError(f"{folder} was not scored by {measure}; it has {', '.join(stored.measures)}.")
    common = common_measures(list(results.values()))
    if not measure and not common:
        raise ConfigError("These results have no measure in common. Score them by the same measures.")
    chunkings = {text for stored in results.values() for text in stored.chunkings.values()}
    return measure or headline(common, len(chunkings) > 1)


def common_measures(results: Sequence[Stored]) -> tuple[str, ...]:
    """The measures that all results have, in the order of the first."""
    return tuple(
        name for name in results[0].measures if all(name in result.measures for result in results[1:])
    )


def scores_of(stored: Mapping[str, Stored], measure: str = "") -> Scores:
    """Results side by side, to be compared by a ``measure``, or by their headline ('').

    Other measures that they share may contradict the verdict; of answers, those that look at the answer and
    can be compared. Raises HarnessError if the results do not compare, with the reasons, or where no query
    is left.
    """
    first, *others = stored.values()
    answers = first.stage == ANSWER
    shared = common_measures([first, *others])
    if answers:
        looking = [name for name in shared if "answer" in first.measured_by(name).facts.needs]
        shared = tuple(dict.fromkeys((measure, *looking)))
    matrices: dict[str, ScoreMatrix] = {}
    names: dict[tuple[str, str], str] = {}
    notes: tuple[str, ...] = ()
    for name in shared:
        # what rankings were scored on is the same for every measure, and a single result needs no check
        checked = bool(others) and (answers or not matrices)
        try:
            kept, left_out = first.beside(others, name)
            named = dict(zip(stored, kept, strict=True))
            basis = {result: source.scored_on(name) for result, source in stored.items()} if checked else None
            joined = join(named, basis)
        except HarnessError:
            if not answers or name == measure:
                raise
            continue
        if not matrices:
            names, notes = joined_names(named), left_out
        matrices[joined.measure] = joined
    warnings = caveats.warnings_of({name: source.result.record for name, source in stored.items()}, names)
    configured = {
        names[result, setting["name"]]: {**setting, "result": result}
        for result, source in stored.items()
        for setting in source.result.record["config"].get("settings", [])
        if (result, setting.get("name")) in names
    }
    scores = Scores(
        matrices=matrices,
        design=design_of(configured),
        configured=configured,
        folders={called: str(stored[result].folder) for (result, _), called in names.items()},
        documents=first.result.documents,
        options=options_of(first.result.record),
        judge=first.result.record.get("judge", {}).get("kind", "labels"),
        doubt=JudgeDoubt() if answers else judge_doubt(source.result.record for source in stored.values()),
        complete=not answers and all(source.labels == "answers" for source in stored.values()),
        assumed=any(source.labels_assumed for source in stored.values()),
        notes=notes,
        warnings=tuple(filter(first.concerned, warnings)),
        trust=dict.fromkeys(matrices, _TRUST) if answers else {},
        altered=answers and any(map(alters, configured.values())),
        chosen=next(iter(matrices)) if answers else measure,
    )
    return scores if answers else _detailed(scores, stored, names)


def _detailed(scores: Scores, stored: Mapping[str, Stored], names: Mapping[tuple[str, str], str]) -> Scores:
    """Scores of rankings, with what other tables of their results say; ``names`` as of `joined_names`."""

    def by_name(of: Callable[[Stored], Mapping[str, Any]]) -> dict[str, Any]:
        """What results say of their settings."""
        values = {result: of(source) for result, source in stored.items()}
        return {name: values[at][setting] for (at, setting), name in names.items() if setting in values[at]}

    def rows(of: Callable[[Stored], Iterable[Any]]) -> Iterator[tuple[str, Any]]:
        """The rows of a table at the stage, in the order of the stages, and the setting of each."""
        for result, source in stored.items():
            for row in of(source):
                name = names.get((result, row.setting))
                if name is not None and source.stage in ("final", row.stage):
                    yield name, row

    again = next(iter(stored.values())).again
    filtered = {result: source.rows_of(report.FilterRow) for result, source in stored.items()}
    left_out = (source.result.record.get("counts", {}).get("left_out", {}) for source in stored.values())
    words = {key: f'"{scores.design.words(name)}"' for key, name in names.items()}
    configured = {f'"{scores.design.words(name)}"': setting for name, setting in scores.configured.items()}
    return replace(
        scores,
        judged=_by_depth(by_name(Stored.judged)),
        read={measure: by_name(partial(Stored.read, measure=measure)) for measure in scores.matrices},
        chunkings=by_name(lambda source: source.chunkings),
        elsewhere=by_name(Stored.elsewhere),
        lost=by_name(lambda source: report.lost_by(source.rows_of(report.LossRow), source.stage)),
        tokens=tokens_of(rows(lambda source: source.tables(report.PriceRow))),
        indexing=indexing_costs(
            rows(lambda source: source.tables(report.PriceRow)),
            by_name(lambda source: source.result.record.get("counts", {}).get("settings", {})),
        ),
        sensitivity=sensitivity_of(
            rows(lambda source: source.rows_of(report.LabelSensitivityRow)), names.values()
        ),
        reading=readings_of(rows(lambda source: source.rows_of(report.ReadingRow)), names.values()),
        notes=(
            *((*again, _NOT_AGAIN) if again else ()),
            *caveats.left_out_notes(left_out),
            *caveats.filter_notes(filtered, words),
            *caveats.same_ranking_notes(configured),
        ),
    )


def _by_depth(shares: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Shares that are by setting and depth, by depth and setting."""
    depths = dict.fromkeys(depth for by_depth in shares.values() for depth in by_depth)
    return {
        depth: {name: by_depth[depth] for name, by_depth in shares.items() if depth in by_depth}
        for depth in depths
    }
