"""Scores of one measure as a matrix: settings × queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.errors import HarnessError
from harness.stats.arrays import Bools, Floats
from harness.types import QueryScore

FINAL = "final"


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """The scores of S settings for the same Q queries under one measure.

    ``values`` [S, Q]: NaN where the measure is undefined (a query without relevant text). ``splits`` [Q] are
    ``train`` or ``validation``; ``strata`` [Q] groups that a split keeps in proportion, '' for none;
    ``clusters`` [Q] what a query belongs to together with others that are like it, by default the document of
    its evidence, '' for none; empty where nobody knows.
    """

    measure: str
    settings: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    splits: tuple[str, ...]
    strata: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit, names given twice and infinite scores."""
        shape = (len(self.settings), len(self.query_ids))
        if self.values.shape != shape:
            raise ValueError(f"values have the shape {self.values.shape}, not {shape} (settings, queries)")
        if len(self.splits) != shape[1] or any(
            len(names) not in (0, shape[1]) for names in (self.strata, self.clusters)
        ):
            raise ValueError("splits, strata and clusters need one entry per query")
        for what, names in (("setting", self.settings), ("query", self.query_ids)):
            if len(set(names)) != len(names):
                raise ValueError(f"a {what} is named twice")
        if np.isinf(self.values).any():
            raise ValueError("a score is infinite")

    @property
    def means(self) -> Floats:
        """The mean of every setting over its defined queries, [S]; NaN where there is none."""
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
        kept = np.flatnonzero(queries).tolist()
        return replace(
            self,
            query_ids=tuple(self.query_ids[i] for i in kept),
            values=self.values[:, kept],
            splits=tuple(self.splits[i] for i in kept),
            strata=tuple(self.strata[i] for i in kept) if self.strata else (),
            clusters=tuple(self.clusters[i] for i in kept) if self.clusters else (),
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
    stage: str | None = FINAL,
    strata: Mapping[str, str] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> ScoreMatrix:
    """Gather the scores of one measure.

    ``stage`` keeps the rows of that stage; ``final`` keeps the last stage of each setting (rows stand in the
    order of the stages); None keeps them all, each (setting, stage) as a setting of its own, named
    ``setting [stage]``. ``splits``, ``strata`` and ``clusters`` map query ids.

    Raises HarnessError where nothing is left, where a row stands twice, or where a setting lacks a query.
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
    chosen = _of_stage(scores, stage)
    if not chosen:
        raise HarnessError(f"There are no scores for {measure} for the stage {stage or 'any'}.")
    query_ids = _common_queries(chosen)
    return ScoreMatrix(
        measure,
        tuple(chosen),
        query_ids,
        np.array([[by_query[query] for query in query_ids] for by_query in chosen.values()]),
        tuple(splits[query] for query in query_ids),
        tuple(strata.get(query, "") for query in query_ids) if strata is not None else (),
        tuple(clusters.get(query, "") for query in query_ids) if clusters else (),
    )


def from_table(
    table: Any, measure: str, stage: str | None = FINAL, strata: Mapping[str, str] | None = None
) -> ScoreMatrix:
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
    return from_scores(rows, measure, splits, stage, strata, clusters)


def _value(cell: Any) -> float | None:
    value = float(cell) if cell not in ("", None) else np.nan
    return None if np.isnan(value) else value


def _of_stage(
    scores: Mapping[str, Mapping[str, dict[str, float]]], stage: str | None
) -> dict[str, dict[str, float]]:
    if stage is None:
        return {
            f"{name} [{s}]": by_query for name, stages in scores.items() for s, by_query in stages.items()
        }
    if stage == FINAL:
        return {name: list(stages.values())[-1] for name, stages in scores.items()}
    return {name: stages[stage] for name, stages in scores.items() if stage in stages}


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


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names for a message, shortened where there are many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
