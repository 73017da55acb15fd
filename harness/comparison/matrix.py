"""Scores of one measure as a matrix, settings × queries; of several results, if they may be compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from harness.measures import Bools, Floats
from harness.report import ScoreRow
from harness.values import HarnessError, document_of, listed, real_path

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
        defined = ~np.isnan(self.values)
        counts = defined.sum(axis=1)
        sums = np.where(defined, self.values, 0.0).sum(axis=1)
        means: Floats = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
        return means

    @property
    def defined_counts(self) -> list[int]:
        """For how many queries every setting has a value, [S]."""
        counts: list[int] = (~np.isnan(self.values)).sum(axis=1).tolist()
        return counts

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

    def defined(self) -> ScoreMatrix:
        """The queries for which the measure is defined, which must be the same ones under every setting.

        Whether a query has relevant text depends on the labels alone. Where it differs between settings they
        were not scored on the same judgments: HarnessError names the queries. A seed ratio also
        needs a reranker.
        """
        unknown = np.isnan(self.values)
        partly = unknown.any(axis=0) & ~unknown.all(axis=0)
        if partly.any():
            queries = [self.query_ids[i] for i in np.flatnonzero(partly)[:5]]
            why = "they were not scored on the same judgments. Score them together."
            if self.measure.startswith("seed_ratio@"):
                why = "they cannot be compared: seed_ratio.csv says what is missing, such as a reranker."
            raise HarnessError(
                f"{self.measure} has a value for {', '.join(queries)} under some settings but not under "
                f"others, so {why}"
            )
        everywhere: Bools = np.logical_not(unknown.any(axis=0))
        return self.only(everywhere)


def from_rows(rows: Iterable[ScoreRow], measure: str, stage: str = FINAL) -> ScoreMatrix:
    """Gather the scores of one measure from rows of ``per_query.csv``; no value is undefined.

    ``stage`` keeps the rows of that stage; ``final`` keeps the last stage of each setting (rows are in the
    order of the stages).

    Raises HarnessError if nothing is left, where a row is twice, or where a setting lacks a query.
    """
    scores: dict[str, dict[str, dict[str, float]]] = {}
    groups: dict[str, tuple[str, str]] = {}
    for row in rows:
        if row.measure != measure:
            continue
        setting, step, query = row.setting, row.stage, row.query_id
        by_query = scores.setdefault(setting, {}).setdefault(step, {})
        if query in by_query:
            raise HarnessError(f"{setting}, {step}: {measure} of query {query} occurs twice in the results.")
        by_query[query] = np.nan if row.value is None else row.value
        groups[query] = row.split, row.cluster
    if stage == FINAL:
        chosen = {name: list(stages.values())[-1] for name, stages in scores.items()}
    else:
        chosen = {name: stages[stage] for name, stages in scores.items() if stage in stages}
    if not chosen:
        raise HarnessError(f"There are no scores for {measure} for the stage {stage}.")
    # in the order of the first setting
    (first, in_first), *others = chosen.items()
    for other, in_other in others:
        if difference := in_first.keys() ^ in_other.keys():
            raise HarnessError(
                f"{first} and {other} were not scored on the same queries: {listed(sorted(difference))} "
                "in only one of them. Score them together."
            )
    query_ids = tuple(in_first)
    return ScoreMatrix(
        measure,
        tuple(chosen),
        query_ids,
        np.array([[by_query[query] for query in query_ids] for by_query in chosen.values()]),
        tuple(groups[query][0] for query in query_ids),
        tuple(groups[query][1] for query in query_ids),
    )


QUERIES = "the files of queries"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ScoredOn:
    """The data and rules that a result was scored with.

    ``texts`` maps a document to the hash of its extracted text; ``rules`` maps each rule of scoring, and the
    file of queries as its hash, to its value.
    """

    texts: Mapping[str, str]
    rules: Mapping[str, Any]

    @classmethod
    def of(cls, record: Mapping[str, Any], texts: Mapping[str, str], judged: str) -> ScoredOn:
        """Read ``record.json``; ``texts`` maps documents to the hashes of their text (documents.csv).

        ``judged`` is a hash of the graded spans that were scored on. Raises HarnessError for a record that
        lacks a required field.
        """
        try:
            config = record["config"]
            hashes = {PurePath(path).as_posix(): digest for path, digest in record["hashes"].items()}
            rules = {
                QUERIES: hashes[PurePath(config["queries"]).as_posix()],
                "the rules of relevance": _rules_of_relevance(_stated(config["relevance"])),
                "the anchoring of quotes": config["anchor"],
                "the conventions": record["counts"]["conventions"],
                "the judged spans": judged,
            }
        except (KeyError, AttributeError, TypeError) as error:
            fault = f"does not say {error}" if isinstance(error, KeyError) else "is damaged"
            raise HarnessError(
                f"The run record {fault}, so it is unknown what was scored. Run the benchmark again."
            ) from None
        return cls(texts, rules)


def _rules_of_relevance(section: Any) -> Any:
    """A section of a configuration without what labels are taken for, on which no score depends."""
    judge = section.get("judge") if isinstance(section, Mapping) else None
    if not isinstance(judge, Mapping):
        return section
    return {**section, "judge": {key: value for key, value in judge.items() if key != "labels"}}


def _stated(section: Any) -> Any:
    """A section of a configuration without what it leaves open, as versions differ in such keys."""
    if not isinstance(section, Mapping):
        return section
    return {key: _stated(value) for key, value in section.items() if value is not None}


def differences(first: ScoredOn, other: ScoredOn) -> list[str]:
    """Why two results cannot be compared; empty if they can."""
    reasons = []
    alone = sorted(first.texts.keys() ^ other.texts.keys())
    if alone and {*map(document_of, first.texts)} == {*map(document_of, other.texts)}:
        reasons.append(f"they compare different parsers: only one result has the texts {listed(alone)}")
    elif alone:
        reasons.append(f"only one result has the documents {listed(alone)}")
    changed = sorted(d for d in first.texts.keys() & other.texts.keys() if first.texts[d] != other.texts[d])
    if changed:
        reasons.append(f"the text differs for the documents {listed(changed)}")
    reasons += [
        f"{rule} differ: {_apart(first.rules.get(rule), other.rules.get(rule))}"
        for rule in sorted(first.rules.keys() | other.rules.keys())
        if first.rules.get(rule) != other.rules.get(rule)
    ]
    return reasons


def matrix_differences(first: ScoreMatrix, other: ScoreMatrix) -> list[str]:
    """Why the scores of two results do not fit together: other measure, queries, splits or judged queries."""
    if first.measure != other.measure:
        return [f"the measures differ: {first.measure} and {other.measure}"]
    alone = sorted(set(first.query_ids) ^ set(other.query_ids))
    if alone:
        return [f"the queries differ: only one result has {listed(alone)}"]
    other = other.in_order_of(first.query_ids)
    reasons = []
    moved = [q for q, a, b in zip(first.query_ids, first.splits, other.splits, strict=True) if a != b]
    if moved:
        reasons.append(f"the split differs for {listed(moved)}")
    undefined = np.isnan(first.values).all(axis=0) != np.isnan(other.values).all(axis=0)
    if undefined.any():
        queries = [first.query_ids[i] for i in np.flatnonzero(undefined)]
        reasons.append(f"{first.measure} is defined in only one of them for {listed(queries)}")
    return reasons


def join(results: Mapping[str, ScoreMatrix], scored_on: Mapping[str, ScoredOn] | None = None) -> ScoreMatrix:
    """Put the settings of several results side by side.

    A setting whose name is in more than one result is called ``result: setting``. Raises HarnessError
    with all the reasons where any result cannot be compared with the first, whose clusters are kept.
    """
    if not results:
        raise HarnessError("There is nothing to compare: no results were given.")
    first, *others = results
    reasons = []
    for other in others:
        differing = matrix_differences(results[first], results[other])
        if scored_on is not None:
            differing = differences(scored_on[first], scored_on[other]) + differing
        reasons += [f"{first} and {other}: {reason}" for reason in differing]
    if reasons:
        raise HarnessError(
            "These results cannot be compared:\n"
            + "\n".join(f"  {reason}" for reason in reasons)
            + "\nRun them again on the same queries, labels and documents."
        )
    base = results[first]
    stacked = np.vstack([matrix.in_order_of(base.query_ids).values for matrix in results.values()])
    # a row in one piece, as in a matrix just made: sums of other layouts differ in their last digit
    values = np.ascontiguousarray(stacked)
    return replace(base, settings=tuple(joined_names(results).values()), values=values)


def names_of(folders: Sequence[Path]) -> list[str]:
    """Names of results: as many of the last parts of their paths as tell them apart."""
    parts = [real_path(folder).parts for folder in folders]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(path[-depth:]) for path in parts]
        if len(set(names)) == len(names):
            return names
    raise HarnessError(
        "A folder of results is named twice: name it once." if folders else "Name the results to compare."
    )


def joined_names(results: Mapping[str, ScoreMatrix]) -> dict[tuple[str, str], str]:
    """The name that ``join`` gives to every (result, setting)."""
    count = Counter(setting for matrix in results.values() for setting in matrix.settings)
    return {
        (name, setting): f"{name}: {setting}" if count[setting] > 1 else setting
        for name, matrix in results.items()
        for setting in matrix.settings
    }


def _apart(first: Any, other: Any, key: str = "") -> str:
    """Where two rules differ; of sections only the keys that do, and of sections of two kinds the kinds."""
    if not (isinstance(first, Mapping) and isinstance(other, Mapping)):
        return f"{key}{' ' if key else ''}{_short(first)} and {_short(other)}"
    keys = [name for name in {**first, **other} if first.get(name) != other.get(name)]
    shown = ["kind"] if "kind" in keys else keys
    return ", ".join(_apart(first.get(name), other.get(name), f"{key}.{name}".lstrip(".")) for name in shown)


def _short(rule: Any) -> Any:
    """A rule as it is shown: of a hash only the beginning."""
    if rule is None:
        return "(not set)"
    return f"sha256 {rule[:12]}…" if isinstance(rule, str) and _HASH.fullmatch(rule) else rule


def on_common_questions(matrices: Sequence[ScoreMatrix]) -> tuple[list[ScoreMatrix], int]:
    """The matrices on the queries for which all settings of all have a value, and how many that leaves out.

    A query that no setting has a value for is not counted. Raises HarnessError if the results were
    asked different queries, or where no query is left.
    """
    first = matrices[0]
    for other in matrices[1:]:
        if alone := sorted(set(first.query_ids) ^ set(other.query_ids)):
            raise HarnessError(f"The queries differ: only one of the results has {', '.join(alone[:5])}.")
    ordered = [matrix.in_order_of(first.query_ids) for matrix in matrices]
    defined = ~np.isnan(np.vstack([matrix.values for matrix in ordered]))
    whole: Bools = np.asarray(defined.all(axis=0), dtype=np.bool_)
    if not whole.any():
        raise HarnessError(f"No query has a value of {first.measure} under every setting.")
    left_out = int((defined.any(axis=0) & ~whole).sum())
    return [matrix.only(whole) for matrix in ordered], left_out
