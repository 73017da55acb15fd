"""Folders of results, read for a verdict: their rankings at a stage, or their measured answers.

And which of the two is meant, the measure to compare by, and the verdict on answers in short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import measures, report
from harness.comparison import caveats
from harness.comparison.design import design_of
from harness.comparison.factors import sensitivity_of
from harness.comparison.matrix import (
    QUERIES,
    ScoredOn,
    ScoreMatrix,
    from_rows,
    join,
    joined_names,
    on_common_questions,
)
from harness.comparison.scores import (
    Scores,
    chunkings_of,
    options_of,
    refuse_no_quality,
    tokens_of,
    verdict_of,
)
from harness.comparison.verdict import LABELS, Trust, Verdict
from harness.comparison.words import lines_of
from harness.measures import headline, less_is_better
from harness.values import ANSWER, ConfigError, HarnessError, ResultWarning, by_key, counted

if TYPE_CHECKING:
    from harness.measures import AnswerMeasure

_TRUST = Trust("each for what it says of an answer")
# Labels and depths say nothing of an answer; what was read and what it says do.
_BEAR_ON_ANSWERS = ("text", "questions", "language", "model calls", "cache", "precision")
# The lines on answers that follow the verdict on rankings; `harness compare` has the rest.
_BRIEF = ("decision", "margin", "caveat")
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
    # by measure, a row a value with the columns of per_query.csv
    scores: Mapping[str, Sequence[Mapping[str, Any]]]
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
        rows = by_key((row["measure"], row) for row in result.per_query)
        return cls(folder, result, tables, stage, rows, again=again)

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
            rules["the encoder of answers"] = (config.get("answer_embedding") or {}).get("model")
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
        found: dict[str, dict[str, float]] = self.result.record.get("counts", {}).get("read", {})
        return {} if self.stage == ANSWER else found.get(measure, {})

    def matrix(self, measure: str) -> ScoreMatrix:
        """The scores of one measure by setting and query, NaN if there is none.

        If less is better, answers have their values subtracted from 1 and the name says so, so that more is
        always better.
        """
        matrix = from_rows(self.scores.get(measure, ()), measure, self.stage)
        if self.stage != ANSWER or not self.measured_by(measure).facts.less_is_better:
            return matrix
        return replace(matrix, measure=f"1 - {measure}", values=1.0 - matrix.values)

    def beside(self, others: Sequence[Stored], measure: str) -> tuple[list[ScoreMatrix], tuple[str, ...]]:
        """Its scores and those of ``others`` to compare it with, and what was left out for that.

        Answers are compared on the queries for which all settings of all results have a value.
        """
        matrices = [one.matrix(measure) for one in (self, *others)]
        if self.stage != ANSWER:
            return matrices, ()
        kept, left_out = on_common_questions(matrices)
        note = (
            f"{counted(left_out, 'query', 'queries')} left out, as only some settings have a value of "
            f"{measure} for them; replies.csv and answer_scores.csv say why."
        )
        return kept, (note,) if left_out else ()

    def concerned(self, warning: ResultWarning) -> bool:
        """Whether a warning of the run says something about these scores, by some measure."""
        return self.stage != ANSWER or warning.kind in _BEAR_ON_ANSWERS


def _model_of(value: Any) -> Any:
    """The name of the model in place of its endpoint, whose limits and prices do not decide scores."""
    if isinstance(value, list | tuple):
        return [_model_of(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return value["model"] if "model" in value else _model_of(value.get("endpoint"))


def read_stored(folder: Path, stage: str = "final") -> Stored:
    """Read a folder of results; raises HarnessError for none or a damaged one, or an unknown stage."""
    result = report.read_result(folder)
    stages = list(dict.fromkeys(row["stage"] for row in result.per_query))
    if stage != "final" and stage not in stages:
        raise ConfigError(f"{folder} has no stage {stage}; it has {', '.join(stages)}.")
    return Stored.of(folder, result, partial(report.read_any, folder), stage)


def verdict_on(folder: Path) -> Verdict:
    """The verdict on one folder of results, by its headline; raises HarnessError if there is none."""
    return verdict_of(scores_of({folder.name: read_stored(folder)}))


def read_answers_of(folder: Path) -> Stored:
    """The measured answers of a folder of results; raises HarnessError if it holds no results."""
    result = report.read_result(folder)
    rows = [
        {**asdict(row), "stage": ANSWER, "value": "" if row.value is None else repr(row.value)}
        for row in report.read_any(folder, report.AnswerScoreRow)
    ]
    scored = by_key((row["measure"], row) for row in rows)
    named = {
        one.get("name") or one["kind"]: one for one in result.record["config"].get("answer_measures", [])
    }
    configured = {name: one for name, one in named.items() if name in scored}
    return Stored(folder, result, partial(report.read_any, folder), ANSWER, scored, configured)


def measure_to_take(results: Mapping[Path, Stored], asked: str | None) -> str:
    """The measure that was asked for, else the headline of all these results together.

    Raises ConfigError unless it is a measure of quality that all results were scored by.
    """
    if asked is not None:
        refuse_no_quality(asked)
    for folder, one in results.items():
        if not one.measures:
            refuse_no_quality(next(iter(one.scores)))
        if asked is not None and asked not in one.measures:
            raise ConfigError(f"{folder} was not scored by {asked}; it has {', '.join(one.measures)}.")
    common = common_measures(list(results.values()))
    if not asked and not common:
        raise ConfigError("These results have no measure in common. Score them by the same measures.")
    chunkings = {text for one in results.values() for text in one.chunkings.values()}
    return asked or headline(common, len(chunkings) > 1)


def common_measures(results: Sequence[Stored]) -> tuple[str, ...]:
    """The measures that all results have, in the order of the first."""
    return tuple(name for name in results[0].measures if all(name in one.measures for one in results[1:]))


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
            basis = {result: one.scored_on(name) for result, one in stored.items()} if checked else None
            joined = join(named, basis)
        except HarnessError:
            if not answers or name == measure:
                raise
            continue
        if not matrices:
            names, notes = joined_names(named), left_out
        matrices[joined.measure] = joined
    warnings = caveats.warnings_of({name: one.result.record for name, one in stored.items()}, names)
    configured = {
        names[result, setting["name"]]: {**setting, "result": result}
        for result, one in stored.items()
        for setting in one.result.record["config"].get("settings", [])
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
        notes=notes,
        warnings=tuple(filter(first.concerned, warnings)),
        trust=dict.fromkeys(matrices, _TRUST) if answers else {},
        chosen=next(iter(matrices)) if answers else measure,
    )
    return scores if answers else _detailed(scores, stored, names)


def _detailed(scores: Scores, stored: Mapping[str, Stored], names: Mapping[tuple[str, str], str]) -> Scores:
    """Scores of rankings, with what other tables of their results say; ``names`` as of `joined_names`."""

    def by_name(own: Callable[[Stored], Mapping[str, Any]]) -> dict[str, Any]:
        """What results say of their settings."""
        found = {result: own(one) for result, one in stored.items()}
        return {name: found[at][setting] for (at, setting), name in names.items() if setting in found[at]}

    def rows(of: Callable[[Stored], Iterable[Any]]) -> Iterator[tuple[str, Any]]:
        """The rows of a table at the stage, in the order of the stages, and the setting of each."""
        for result, one in stored.items():
            for row in of(one):
                name = names.get((result, row.setting))
                if name is not None and one.stage in ("final", row.stage):
                    yield name, row

    again = next(iter(stored.values())).again
    filtered = {result: one.rows_of(report.FilterRow) for result, one in stored.items()}
    left_out = (one.result.record.get("counts", {}).get("left_out", {}) for one in stored.values())
    words = {key: f'"{scores.design.words(name)}"' for key, name in names.items()}
    configured = {f'"{scores.design.words(name)}"': one for name, one in scores.configured.items()}
    return replace(
        scores,
        read={measure: by_name(partial(Stored.read, measure=measure)) for measure in scores.matrices},
        chunkings=by_name(lambda one: one.chunkings),
        lost=by_name(lambda one: report.lost_by(one.rows_of(report.LossRow), one.stage)),
        tokens=tokens_of(rows(lambda one: one.tables(report.PriceRow))),
        sensitivity=sensitivity_of(rows(lambda one: one.rows_of(report.LabelSensitivityRow)), names.values()),
        notes=(
            *((*again, _NOT_AGAIN) if again else ()),
            *caveats.left_out_notes(left_out),
            *caveats.filter_notes(filtered, words),
            *caveats.same_ranking_notes(configured),
        ),
    )


def answers_to_take(folders: Sequence[Path], asked: str | None) -> tuple[dict[Path, Stored], str] | None:
    """The answers of results and the measure to compare them by; None if their rankings are meant.

    Answers are meant where ``asked`` is a measure of answers, and, without it, where the settings of one
    result differ only in how they answer. Raises ConfigError if only some results have the measure.
    """
    if not any(map(_has_answers, folders)):
        return None
    stored = {folder: read_answers_of(folder) for folder in folders}
    if asked is None:
        differing = len(stored) == 1 and all(map(_only_answers_differ, stored.values()))
        measure = answer_headline(list(stored.values())) if differing else None
        return None if measure is None else (stored, measure)
    having = [one for one in stored.values() if asked in one.measures]
    if not having or any(row["measure"] == asked for one in stored.values() for row in one.result.per_query):
        return None
    for folder, one in stored.items():
        if asked not in one.measures:
            has = ", ".join(one.measures) or "no measure of answers"
            raise ConfigError(f"{folder}: answers were not scored by {asked}; it has {has}.")
    return stored, asked


def common_answer_measure(folders: Sequence[Path]) -> str | None:
    """The measure that the answers of these results can be compared by; None if there is none."""
    return answer_headline(list(map(read_answers_of, folders))) if all(map(_has_answers, folders)) else None


def answer_headline(stored: Sequence[Stored]) -> str | None:
    """The measure to compare answers by, of those that all results have; None if they share none.

    The first that compares the whole answer with the golden one; else the first that looks at the answer, in
    the order of the configuration.
    """
    common, first = common_measures(stored), stored[0]
    kinds = {str(first.configured[measure]["kind"]): measure for measure in reversed(common)}
    preferred = next((kinds[kind] for kind in measures.AGAINST_GOLDEN if kind in kinds), None)
    return preferred or next((one for one in common if "answer" in first.measured_by(one).facts.needs), None)


def answer_lines(folder: Path) -> list[dict[str, str]]:
    """The verdict on answers in short: ``label`` and ``text`` of each line, the first with its measure.

    None of them if answers are not measured, or there is one setting. Raises HarnessError if the folder holds
    no results.
    """
    measure = common_answer_measure([folder])
    if measure is None:
        return []
    try:
        verdict = verdict_of(scores_of({folder.name: read_answers_of(folder)}, measure))
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
    return report.spec_of(report.AnswerScoreRow).path_in(folder).exists()


def _only_answers_differ(stored: Stored) -> bool:
    settings = {one["name"]: one for one in stored.result.record["config"].get("settings", [])}
    return len(settings) > 1 and len(caveats.ranked_alike(settings)) == 1
