"""Folders of results, read for a verdict: their rankings at a stage, or their measured answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import measures, report
from harness.comparison.caveats import filter_notes, left_out_notes, same_ranking_notes, warnings_of
from harness.comparison.design import design_of
from harness.comparison.factors import sensitivity_of
from harness.comparison.matrix import (
    ScoredOn,
    ScoreMatrix,
    from_rows,
    join,
    joined_names,
    on_common_questions,
)
from harness.comparison.scores import Scores, chunkings_of, options_of, tokens_of, verdict_of
from harness.comparison.verdict import Trust, Verdict
from harness.measures import headline, is_quality, less_is_better
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

    result: report.StoredResult
    # the rows of its other tables
    tables: Callable[[type[Any]], Sequence[Any]]
    stage: str
    # as they were named, prices left out
    measures: tuple[str, ...]
    # by measure, a row a value with the columns of per_query.csv
    scores: Mapping[str, Sequence[Mapping[str, Any]]]
    # the configuration of every measure of answers that has values, by name, in the order of the run
    configured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # how it was scored again, on other judgments than its tables of losses, label lengths and filters
    again: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        result: report.StoredResult,
        tables: Callable[[type[Any]], Sequence[Any]],
        stage: str = "final",
        again: tuple[str, ...] = (),
    ) -> Stored:
        """A result at a stage of its rankings, with all of its measures that are not costs."""
        rows = by_key((row["measure"], row) for row in result.per_query)
        named = tuple(name for name in rows if not less_is_better(name))
        return cls(result, tables, stage, named, rows, again=again)

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
        return ScoredOn({"queries": whole.files["queries"]}, {}, rules)

    def rows_of(self, row: type[Any]) -> Sequence[Any]:
        """The rows of a table that depends on the judgments; none if these are not those of the scores."""
        return [] if self.again else self.tables(row)

    @property
    def chunkings(self) -> dict[str, str]:
        """How each setting cuts documents; empty for answers, which are compared however that is."""
        settings = self.result.record["config"].get("settings", [])
        return {} if self.stage == ANSWER else chunkings_of(settings)

    @property
    def read(self) -> Mapping[str, Mapping[str, float]]:
        """By measure, the settings whose rankings were cut short, and the share of what is read they hold."""
        found: dict[str, dict[str, float]] = self.result.record.get("counts", {}).get("read", {})
        return {} if self.stage == ANSWER else found

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
    return Stored.of(result, partial(report.read_any, folder), stage)


def verdict_on(folder: Path) -> Verdict:
    """The verdict on one folder of results, by its headline; raises HarnessError if there is none."""
    return verdict_of(scores_of({folder.name: (folder, read_stored(folder))}))


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
    tables = partial(report.read_any, folder)
    return Stored(result, tables, ANSWER, tuple(configured), scored, configured)


def names_of(folders: Sequence[Path]) -> list[str]:
    """Names of results: as many of the last parts of their paths as tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    raise HarnessError("A folder of results is named twice." if folders else "Name the results to compare.")


def refuse_no_quality(measure: str) -> None:
    """Raise ConfigError for a measure that no setting can be chosen by."""
    if less_is_better(measure):
        raise _price(measure)
    if not is_quality(measure):
        raise ConfigError(
            f"{measure} is a bound, or says how much was judged or is unknown, not how good a ranking is. "
            "Name a measure of quality such as ndcg_exp@10."
        )


def measure_to_take(results: Mapping[Path, Stored], asked: str | None) -> str:
    """The measure that was asked for, else the headline of all these results together.

    Raises ConfigError unless it is a measure of quality that all results were scored by.
    """
    if asked is not None:
        refuse_no_quality(asked)
    for folder, one in results.items():
        if not one.measures:
            raise _price(one.result.per_query[0]["measure"])
        if asked is not None and asked not in one.measures:
            raise ConfigError(f"{folder} was not scored by {asked}; it has {', '.join(one.measures)}.")
    if asked is not None:
        return asked
    common = common_measures(list(results.values()))
    if not common:
        raise ConfigError("These results have no measure in common. Score them by the same measures.")
    chunkings = {text for one in results.values() for text in one.chunkings.values()}
    return headline(common, len(chunkings) > 1)


def common_measures(results: Sequence[Stored]) -> tuple[str, ...]:
    """The measures that all results have, in the order of the first."""
    return tuple(name for name in results[0].measures if all(name in one.measures for one in results[1:]))


def scores_of(results: Mapping[str, tuple[Path, Stored]], measure: str = "") -> Scores:
    """Results side by side, to be compared by a ``measure``, or by their headline ('').

    Other measures that they share may contradict the verdict; of answers, those that look at the answer and
    can be compared. Raises HarnessError if the results do not compare, with the reasons, or where no query
    is left.
    """
    stored = {name: one for name, (_, one) in results.items()}
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
    warnings = warnings_of({name: one.result.record for name, one in stored.items()}, names)
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
        folders={called: str(results[result][0]) for (result, _), called in names.items()},
        documents=first.result.documents,
        options=options_of(first.result.record),
        judge=first.result.record.get("judge", {}).get("kind", "labels"),
        notes=notes,
        warnings=tuple(filter(first.concerned, warnings)),
        trust=dict.fromkeys(matrices, _TRUST) if answers else {},
        chosen=next(iter(matrices)) if answers else measure,
    )
    if answers:
        return scores
    scores = _detailed(scores, stored, names)
    return replace(scores, notes=(*first.again, _NOT_AGAIN, *scores.notes)) if first.again else scores


def _detailed(scores: Scores, stored: Mapping[str, Stored], names: Mapping[tuple[str, str], str]) -> Scores:
    """Scores of rankings, with what other tables of their results say; ``names`` as for ``tokens_of``."""
    chunkings = {result: one.chunkings for result, one in stored.items()}
    lost = {result: report.lost_by(one.rows_of(report.LossRow), one.stage) for result, one in stored.items()}
    prices = {result: one.tables(report.PriceRow) for result, one in stored.items()}
    drawn = {result: one.rows_of(report.LabelSensitivityRow) for result, one in stored.items()}
    filtered = {result: one.rows_of(report.FilterRow) for result, one in stored.items()}
    left_out = (one.result.record.get("counts", {}).get("left_out", {}) for one in stored.values())
    stage = next(iter(stored.values())).stage
    words = {key: f'"{scores.design.words(name)}"' for key, name in names.items()}
    configured = {f'"{scores.design.words(name)}"': one for name, one in scores.configured.items()}
    read: dict[str, dict[str, float]] = {}
    for (result, own), name in names.items():
        for measure, shares in stored[result].read.items():
            if own in shares:
                read.setdefault(measure, {})[name] = shares[own]
    return replace(
        scores,
        read=read,
        chunkings={name: chunkings[at][own] for (at, own), name in names.items() if own in chunkings[at]},
        lost={name: lost[at][own] for (at, own), name in names.items() if own in lost[at]},
        tokens=tokens_of(prices, names, stage),
        sensitivity=sensitivity_of(drawn, names, stage),
        notes=left_out_notes(left_out) + filter_notes(filtered, words) + same_ranking_notes(configured),
    )


def _price(name: str) -> ConfigError:
    return ConfigError(
        f"{name} is a cost, where less is better. Compare by a measure of quality; costs are shown next to "
        f"it."
    )
