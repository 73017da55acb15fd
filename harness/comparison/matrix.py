"""Scores of one measure as a matrix: settings × queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.comparison.stats.arrays import Bools, Floats
from harness.values import HarnessError, QueryScore, listed

FINAL = "final"


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """The scores of S settings for the same Q queries under one measure.

    ``values`` [S, Q]: NaN if the measure is undefined (a query without relevant text). ``splits`` [Q] are
    ``train`` or ``validation``; ``clusters`` [Q] what a query belongs to together with others that are like
    it, by default the document of its evidence, '' for none; empty if they are unknown.
    """

    measure: str
    settings: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    splits: tuple[str, ...]
    clusters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit, names given twice and infinite scores."""
        shape = (len(self.settings), len(self.query_ids))
        if self.values.shape != shape:
            raise ValueError(f"values have the shape {self.values.shape}, not {shape} (settings, queries)")
        if len(self.splits) != shape[1] or len(self.clusters) not in (0, shape[1]):
            raise ValueError("splits and clusters need one entry per query")
        for what, names in (("setting", self.settings), ("query", self.query_ids)):
            if len(set(names)) != len(names):
                raise ValueError(f"a {what} is named twice")
        if np.isinf(self.values).any():
            raise ValueError("a score is infinite")

    @property
    def means(self) -> Floats:
        """The mean of every setting over its defined queries, [S]; NaN if there is none."""
        known = ~np.isnan(self.values)
        counts = known.sum(axis=1)
        sums = np.where(known, self.values, 0.0).sum(axis=1)
        means: Floats = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
        return means

    def row(self, setting: str) -> Floats:
        """The scores of one setting, [Q]; raises HarnessError that lists the settings there are."""
        if setting not in self.settings:
            raise HarnessError(
                f"The results have no setting {setting!r}. Settings: {', '.join(self.settings)}."
            )
        values: Floats = self.values[self.settings.index(setting)]
        return values

    def only(self, queries: Bools) -> ScoreMatrix:
        """The same settings for some of the queries."""
        return self._at(np.flatnonzero(queries).tolist())

    def in_order_of(self, query_ids: Sequence[str]) -> ScoreMatrix:
        """The same settings for these queries, in their order; KeyError where one was not scored."""
        place = {query: i for i, query in enumerate(self.query_ids)}
        return self._at([place[query] for query in query_ids])

    def _at(self, places: list[int]) -> ScoreMatrix:
        return replace(
            self,
            query_ids=tuple(self.query_ids[i] for i in places),
            values=self.values[:, places],
            splits=tuple(self.splits[i] for i in places),
            clusters=tuple(self.clusters[i] for i in places) if self.clusters else (),
        )

    def split(self, name: str) -> ScoreMatrix:
        """The queries of one split."""
        return self.only(np.array([split == name for split in self.splits], dtype=np.bool_))

    def defined(self) -> ScoreMatrix:
        """The queries for which the measure is defined, which must be the same ones under every setting.

        Whether a query has relevant text depends on the labels alone. Where it differs between settings they
        were not scored on the same judgments: HarnessError names the queries.
        """
        unknown = np.isnan(self.values)
        partly = unknown.any(axis=0) & ~unknown.all(axis=0)
        if partly.any():
            queries = [self.query_ids[i] for i in np.flatnonzero(partly)[:5]]
            raise HarnessError(
                f"{self.measure} has a value for {', '.join(queries)} under some settings but not under "
                "others, so they were not scored on the same judgments. Score them together."
            )
        known: Bools = np.logical_not(unknown.any(axis=0))
        return self.only(known)


def from_scores(
    rows: Iterable[QueryScore],
    measure: str,
    splits: Mapping[str, str],
    stage: str = FINAL,
    clusters: Mapping[str, str] | None = None,
) -> ScoreMatrix:
    """Gather the scores of one measure.

    ``stage`` keeps the rows of that stage; ``final`` keeps the last stage of each setting (rows are in the
    order of the stages). ``splits`` and ``clusters`` map query ids.

    Raises HarnessError if nothing is left, where a row is twice, or where a setting lacks a query.
    """
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if row.measure != measure:
            continue
        by_query = scores.setdefault(row.setting, {}).setdefault(row.stage, {})
        if row.query_id in by_query:
            raise HarnessError(
                f"{row.setting}, {row.stage}: {measure} of query {row.query_id} occurs twice in the results."
            )
        by_query[row.query_id] = np.nan if row.value is None else row.value
    if stage == FINAL:
        chosen = {name: list(stages.values())[-1] for name, stages in scores.items()}
    else:
        chosen = {name: stages[stage] for name, stages in scores.items() if stage in stages}
    if not chosen:
        raise HarnessError(f"There are no scores for {measure} for the stage {stage}.")
    query_ids = _common_queries(chosen)
    return ScoreMatrix(
        measure,
        tuple(chosen),
        query_ids,
        np.array([[by_query[query] for query in query_ids] for by_query in chosen.values()]),
        tuple(splits[query] for query in query_ids),
        tuple(clusters.get(query, "") for query in query_ids) if clusters else (),
    )


def from_table(table: Any, measure: str, stage: str = FINAL) -> ScoreMatrix:
    """The same from a pandas table with the columns of ``per_query.csv``.

    These are setting, stage, query_id, split, measure, value and, if known, cluster; an empty value is
    undefined. Have pandas read them all as text (``dtype=str, keep_default_na=False``): it takes the query id
    007 for a number.
    """
    table = table[table["measure"] == measure]
    columns = (table[name] for name in ("setting", "stage", "query_id", "value"))
    rows = [
        QueryScore(str(setting), str(stage), str(query), measure, _value(value))
        for setting, stage, query, value in zip(*columns, strict=True)
    ]
    splits = dict(zip(map(str, table["query_id"]), map(str, table["split"]), strict=True))
    clusters = None
    if "cluster" in table.columns:
        clusters = dict(zip(map(str, table["query_id"]), map(str, table["cluster"]), strict=True))
    return from_scores(rows, measure, splits, stage, clusters)


def _value(cell: Any) -> float | None:
    value = float(cell) if cell not in ("", None) else np.nan
    return None if np.isnan(value) else value


def _common_queries(scores: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """The query ids, in the order of the first setting; HarnessError where another setting has others."""
    first, *others = scores
    for other in others:
        difference = scores[first].keys() ^ scores[other].keys()
        if difference:
            raise HarnessError(
                f"{first} and {other} were not scored on the same queries: {listed(sorted(difference))} "
                "in only one of them. Score them together."
            )
    return tuple(scores[first])
