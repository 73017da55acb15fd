"""Folders of results, read for a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.comparison.caveats import filter_notes, left_out_notes, same_ranking_notes, warnings_of
from harness.comparison.label_sensitivity import sensitivity_of
from harness.comparison.matrix import ScoredOn, ScoreMatrix, from_table, join, joined_names
from harness.comparison.scores import Scores, chunkings_of, options_of, tokens_of
from harness.measures import headline, is_quality, less_is_better
from harness.report import (
    FilterRow,
    LabelSensitivityRow,
    StoredResult,
    cells_of,
    read_any,
    read_by_labels,
    read_result,
)
from harness.values import ConfigError, HarnessError, ResultWarning


@dataclass(frozen=True, slots=True)
class Stored:
    """One folder of results at one stage; ``measures`` as they were named, prices left out."""

    result: StoredResult
    stage: str
    measures: tuple[str, ...]

    @classmethod
    def of(cls, result: StoredResult, stage: str = "final") -> Stored:
        """A result at a stage, with all of its measures that are not costs."""
        names = dict.fromkeys(result.per_query["measure"])
        return cls(result, stage, tuple(name for name in names if not less_is_better(name)))

    def scored_on(self, measure: str) -> ScoredOn:
        """The data and rules that the result was scored with by a measure."""
        return ScoredOn.of(self.result.record, self.result.texts, self.result.judged)

    @property
    def chunkings(self) -> dict[str, str]:
        """How each setting cuts documents."""
        return chunkings_of(self.result.record["config"].get("settings", []))

    def matrix(self, measure: str) -> ScoreMatrix:
        """The scores of one measure."""
        return from_table(self.result.per_query, measure, self.stage)

    def beside(self, others: Sequence[Stored], measure: str) -> tuple[list[ScoreMatrix], tuple[str, ...]]:
        """Its scores and those of ``others`` to compare it with, and what was left out for that."""
        return [one.matrix(measure) for one in (self, *others)], ()

    def concerned(self, warning: ResultWarning) -> bool:
        """Whether a warning of the run says something about these scores, by some measure."""
        return True


def read_stored(folder: Path, stage: str = "final") -> Stored:
    """Read a folder of results; raises HarnessError for none or a damaged one, or an unknown stage."""
    result = read_result(folder)
    stages = list(dict.fromkeys(result.per_query["stage"]))
    if stage != "final" and stage not in stages:
        raise ConfigError(f"{folder} has no stage {stage}; it has {', '.join(stages)}.")
    return Stored.of(result, stage)


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
    if not is_quality(measure):
        raise ConfigError(
            f"{measure} says how much was judged, not how good a ranking is. Name "
            "a measure of quality such as ndcg_exp@10."
        )


def measure_to_take(results: Mapping[Path, Stored], asked: str | None) -> str:
    """The measure that was asked for, else the headline of all these results together.

    Raises ConfigError unless it is a measure of quality that all results were scored by.
    """
    if asked is not None and less_is_better(asked):
        raise _price(asked)
    if asked is not None:
        refuse_no_quality(asked)
    for folder, one in results.items():
        if not one.measures:
            raise _price(next(iter(one.result.per_query["measure"]), "the only measure"))
        if asked is not None and asked not in one.measures:
            raise ConfigError(f"{folder} was not scored by {asked}; it has {', '.join(one.measures)}.")
    if asked is not None:
        return asked
    common = common_measures(list(results.values()))
    if not common:
        raise ConfigError("These results have no measure in common. Score them by the same measures.")
    chunkings = {text for one in results.values() for text in one.chunkings.values()}
    return headline(common, len(chunkings) > 1)


def common_measures(results: list[Stored]) -> tuple[str, ...]:
    """The measures that all results have, in the order of the first."""
    return tuple(name for name in results[0].measures if all(name in one.measures for one in results[1:]))


def scores_of(results: Mapping[str, tuple[Path, Stored]]) -> Scores:
    """Several results side by side, by every measure they share.

    Raises HarnessError if they were not scored on the same queries and judged text.
    """
    stored = {name: one for name, (_, one) in results.items()}
    # a single result needs no check of its record
    scored_on = {name: one.scored_on("") for name, one in stored.items()} if len(stored) > 1 else None
    matrices: dict[str, ScoreMatrix] = {}
    names: dict[tuple[str, str], str] = {}
    for measure in common_measures(list(stored.values())):
        own = {name: one.matrix(measure) for name, one in stored.items()}
        # settings, and what they were scored on, are the same for every measure: once is enough
        names = names or joined_names(own)
        matrices[measure] = join(own, None if matrices else scored_on)
    prices = {name: cells_of(folder, "prices") for name, (folder, _) in results.items()}
    drawn = {name: read_any(folder, LabelSensitivityRow) for name, (folder, _) in results.items()}
    filtered = {name: read_any(folder, FilterRow) for name, (folder, _) in results.items()}
    read = {name: read_by_labels(folder) for name, (folder, _) in results.items()}
    by_labels = {name: one for name, one in read.items() if one is not None}
    any_result = next(iter(stored.values()))
    return Scores(
        matrices=matrices,
        chunkings={
            called: stored[result].chunkings[setting]
            for (result, setting), called in names.items()
            if setting in stored[result].chunkings
        },
        documents=any_result.result.documents,
        tokens=tokens_of(prices, names, any_result.stage),
        sensitivity=sensitivity_of(drawn, names, any_result.stage),
        options=options_of(any_result.result.record),
        notes=left_out_notes(
            [one.result.record.get("counts", {}).get("left_out", {}) for one in stored.values()]
        )
        + filter_notes(filtered, names)
        + same_ranking_notes(_configured(stored, names)),
        by_labels=tuple(
            f"{name}: {text}" if len(results) > 1 else text
            for name, one in by_labels.items()
            for text in one.sentences
        ),
        # labels correct the means of one result
        corrected="".join(one.headline for one in by_labels.values()) if len(results) == 1 else "",
        warnings=warnings_of({name: one.result.record for name, one in stored.items()}, names),
    )


def _configured(
    stored: Mapping[str, Stored], names: Mapping[tuple[str, str], str]
) -> dict[str, Mapping[str, Any]]:
    """The settings of the run records; each result keeps its own."""
    return {
        names[result, setting["name"]]: {**setting, "result": result}
        for result, one in stored.items()
        for setting in one.result.record["config"].get("settings", [])
        if (result, setting.get("name")) in names
    }


def _price(name: str) -> ConfigError:
    return ConfigError(
        f"{name} is a cost, where less is better. Compare by a measure of quality; costs are shown next to "
        f"it."
    )
