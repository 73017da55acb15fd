"""Results of days or weeks in the order of time, and the changes among them that are more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np

from harness import report
from harness.comparison.change_test import Change, changes
from harness.comparison.matrix import QUERIES, ScoredOn, ScoreMatrix, differences, names_of
from harness.comparison.paired import mean_of
from harness.comparison.stats import ROUNDING, Interval
from harness.comparison.stored import Stored, common_measures, measure_to_take, read_answers_of, read_stored
from harness.measures import Floats
from harness.values import HarnessError, by_key, counted, listed

Period = Literal["result", "day", "week"]
_NOT_COMPARED = (QUERIES, "the judged spans")


@dataclass(frozen=True, slots=True)
class Look:
    """The values of one period: ``values`` [Q] of queries that have one, ``missing`` how many have none.

    ``clusters`` [Q] has a name for every value, '' for none.
    """

    name: str
    values: Floats
    clusters: tuple[str, ...]
    missing: int

    @property
    def mean(self) -> Interval:
        """The mean with its 95 % interval, by whole clusters."""
        return mean_of(self.values, self.clusters)

    @property
    def tested(self) -> Floats:
        """The value of each cluster, the mean of its queries: what is alike counts once."""
        groups = by_key(
            (cluster or f"\0{place}", value)
            for place, (cluster, value) in enumerate(zip(self.clusters, self.values.tolist(), strict=True))
        )
        # what is a rounding error above 1 is 1
        means: Floats = np.clip([np.mean(values) for values in groups.values()], 0, 1)
        return means


@dataclass(frozen=True, slots=True)
class _Valued:
    """The value of one answer, or of a query's ranking: its ``result``, which is scored as ``scoring`` is."""

    result: str
    scoring: str
    time: datetime
    cluster: str
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    """A measure over the looks, in the order of time, and its changes.

    ``level`` bounds the chance of a false alarm over all looks; None: values are not from 0 to 1, and
    nothing is tested. ``notes`` say where results were scored by other rules than the one before.
    """

    measure: str
    looks: tuple[Look, ...]
    changes: tuple[Change, ...]
    level: float | None
    notes: tuple[str, ...] = ()

    @property
    def fallen(self) -> bool:
        """Whether the latest change is a fall."""
        return bool(self.changes) and self.changes[-1].direction == "fall"

    @property
    def sentences(self) -> list[str]:
        """What has changed, a sentence for each change, or that nothing has."""
        if self.level is None:
            return [f"{self.measure}: not tested for changes, as it has values beyond 0 to 1."]
        lines = []
        for change in self.changes:
            began, shown = self.looks[change.began].name, self.looks[change.shown].name
            verb = "fallen" if change.direction == "fall" else "risen"
            lines.append(
                f"{self.measure} has {verb} by more than chance explains: {change.before:.3f} before "
                f"{began}, {change.after:.3f} from then on; shown by {shown}."
            )
        if not lines:
            over = counted(len(self.looks), "look")
            lines = [f"{self.measure}: no change that is more than chance, over {over}."]
        return lines


def find_results(paths: Sequence[Path]) -> list[Path]:
    """The folders of results among ``paths`` and, where one is none, directly below it.

    Raises HarnessError if there is none.
    """
    folders: list[Path] = []
    for path in paths:
        below = sorted(record.parent for record in path.glob(f"*/{report.RECORD}"))
        is_result = (path / report.RECORD).is_file()
        folders += [path] if is_result else [folder for folder in below if folder.name[0] != "."]
    if not folders:
        raise HarnessError(
            f"{listed([str(path) for path in paths])}: no results. Name folders that harness bench or "
            "harness score-answers --results has written, or the folder that holds them."
        )
    return list(dict.fromkeys(folders))


def read_trends(
    folders: Sequence[Path],
    names: Sequence[str] = (),
    setting: str | None = None,
    period: Period = "result",
    since: str = "",
    level: float = 0.05,
) -> list[Trend]:
    """The trend of each measure; without ``names``, of every measure of answers shared, or of the headline.

    Several trends share ``level``, so that it bounds the chance of any false alarm among them. ``since`` is a
    day or time in ISO 8601. Raises HarnessError for results that cannot be read or lack a measure.
    """
    stored = {folder: read_answers_of(folder) for folder in folders}
    shared = common_measures(list(stored.values()))
    if not (set(names) <= set(shared) if names else shared):
        if alone := [folder for folder, answers in stored.items() if not answers.result.per_query]:
            unknown = sorted(set(names) - set(shared))
            raise HarnessError(
                f"{alone[0]}: not scored by {listed(unknown) or 'what the others are'}; these results share "
                f"{listed(shared) or 'no measure'}. Score them by the same measures."
            )
        stored = {folder: read_stored(folder) for folder in folders}
        names = [measure_to_take(stored, name) for name in (names or (None,))]
    called = zip(names_of(list(stored)), stored.values(), strict=True)
    by_date = sorted(called, key=lambda pair: (str(pair[1].result.record.get("date", "")), pair[0]))
    share = level / len(names or shared)
    return [_trend(dict(by_date), name, setting, period, since, share) for name in names or shared]


def _trend(
    results: Mapping[str, Stored], measure: str, setting: str | None, period: Period, since: str, level: float
) -> Trend:
    rows: dict[tuple[str, str], _Valued] = {}
    again: dict[tuple[str, str], int] = {}
    matrices = [result.matrix(measure) for result in results.values()]
    scorings = _scorings(results, measure)
    for (name, result), matrix in zip(results.items(), matrices, strict=True):
        times = _times(result)
        for query, cluster, value in _values(result, matrix, setting):
            answered = result.result.record.get("counts", {}).get("answered_at", {}).get(query)
            # an answer that was scored again counts once, as it was scored last
            answer = query, answered or name
            if answer in rows:
                pair = rows[answer].result, name
                again[pair] = again.get(pair, 0) + 1
            rows[answer] = _Valued(name, scorings[name], times.get(query, times[""]), cluster, value)
    first = _time(since, "--since") if since else datetime.min.replace(tzinfo=UTC)
    kept = [row for row in rows.values() if row.time >= first]
    if not kept:
        raise HarnessError(f"No result has values of {measure} since {since}. Name an earlier day.")
    looks = tuple(_looks(kept, period))
    bounded = all(((look.values >= -ROUNDING) & (look.values <= 1 + ROUNDING)).all() for look in looks)
    shown = changes([look.tested for look in looks], level) if bounded else []
    notes = (*_scored_again(again), *_rule_changes(results, measure))
    return Trend(matrices[-1].measure, looks, tuple(shown), level if bounded else None, notes)


def _scorings(results: Mapping[str, Stored], measure: str) -> dict[str, str]:
    """By result the first one that was scored by the same rules: values of unlike scorings are not pooled."""
    basis = {name: _rules(replace(result.scored_on(measure), texts={})) for name, result in results.items()}
    return {
        name: next(other for other, rules in basis.items() if not differences(rules, basis[name]))
        for name in basis
    }


def _scored_again(again: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """How many answers two results share, by the pair of results."""
    for (before, after), count in again.items():
        yield (
            f"{counted(count, 'answer is', 'answers are')} in {before} and in {after}, with the same query "
            f"and time. Each counts once, as it is in {after}."
        )


def _values(result: Stored, matrix: ScoreMatrix, setting: str | None) -> Iterator[tuple[str, str, float]]:
    """(query, cluster, value) of a setting; NaN where there is no value."""
    name = setting if setting is not None or len(matrix.settings) > 1 else matrix.settings[0]
    if name is None:
        raise HarnessError(
            f"{result.folder} has several settings. Name one with --setting: {listed(matrix.settings)}."
        )
    clusters = matrix.clusters or ("",) * len(matrix.query_ids)
    yield from zip(matrix.query_ids, clusters, matrix.row(name).tolist(), strict=True)


def _times(result: Stored) -> Mapping[str, datetime]:
    """When each query was answered, where that is known; under '' when the result was made."""
    record = result.result.record
    answered = record.get("counts", {}).get("answered_at", {})
    file = result.folder / report.RECORD
    times = {query: _time(text, f"{file}: the time of query {query}") for query, text in answered.items()}
    if not record.get("date"):
        raise HarnessError(f"{result.folder} does not say when it was made. Score it again.")
    return {**times, "": _time(record["date"], f"{file}: date")}


def _time(text: str, where: str) -> datetime:
    """A time in UTC, which it is taken for where it names no zone; errors say ``where`` it was read."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise HarnessError(f"{where}: {text!r} is not a day or time. Write it as 2026-03-31.") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _looks(rows: Sequence[_Valued], period: Period) -> Iterator[Look]:
    """The periods that have values, in the order of time; results in that of their first answers.

    A day or week with results of several ways of scoring is a look for each of them.
    """
    groups = by_key(((_period(row.result, row.time, period), row.scoring), row) for row in rows)
    scorings = Counter(name for name, _ in groups)
    for (name, scoring), members in sorted(groups.items(), key=lambda item: min(row.time for row in item[1])):
        valued = [row for row in members if not np.isnan(row.value)]
        day = f"{min(row.time for row in members):%Y-%m-%d}"
        label = f"{day} {name}" if period == "result" and day not in name else name
        label += f", scored as in {scoring}" if scorings[name] > 1 else ""
        clusters = tuple(row.cluster for row in valued)
        yield Look(label, np.array([row.value for row in valued]), clusters, len(members) - len(valued))


def _period(name: str, moment: datetime, period: Period) -> str:
    if period == "result":
        return name
    year, week, _ = moment.isocalendar()
    return f"{moment:%Y-%m-%d}" if period == "day" else f"{year}-W{week:02}"


def _rule_changes(results: Mapping[str, Stored], measure: str) -> Iterator[str]:
    """Where a result was scored by other rules than the one before, whose effect a change may be."""
    basis = [replace(result.scored_on(measure), texts={}) for result in results.values()]
    for name, before, after in zip(list(results)[1:], basis, basis[1:], strict=False):
        if reasons := differences(_rules(before), _rules(after)):
            yield (
                f"{name} was scored otherwise than the result before it, so a change there may "
                f"be one of scoring: {'; '.join(reasons)}."
            )


def _rules(basis: ScoredOn) -> ScoredOn:
    return replace(basis, rules={rule: how for rule, how in basis.rules.items() if rule not in _NOT_COMPARED})
