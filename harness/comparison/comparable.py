"""May these results be compared? Only those scored on the same queries and the same judged text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from harness.comparison.matrix import ScoreMatrix
from harness.values import HarnessError, document_of, listed

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ScoredOn:
    """The data and rules that a result was scored with.

    ``files`` maps ``queries`` to the hash of that file; ``texts`` maps a document to the hash of its
    extracted text; ``rules`` maps each rule of scoring to its value.
    """

    files: Mapping[str, str]
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
            files = {"queries": hashes[PurePath(config["queries"]).as_posix()]}
            rules = {
                "the rules of relevance": config["relevance"],
                "the anchoring of quotes": config["anchor"],
                "the conventions": record["counts"]["conventions"],
                "the judged spans": judged,
            }
        except KeyError as missing:
            raise HarnessError(
                f"The run record does not say {missing}, so it is unknown what was scored. Run the benchmark "
                f"again."
            ) from None
        except (AttributeError, TypeError):
            raise HarnessError(
                "The run record is damaged, so it is unknown what was scored. Run the benchmark again."
            ) from None
        return cls(files, texts, rules)


def differences(one: ScoredOn, other: ScoredOn) -> list[str]:
    """Why two results cannot be compared; empty if they can."""
    reasons = [
        f"the files of {role} differ (sha256 {one.files[role][:12]}… and {other.files[role][:12]}…)"
        for role in one.files.keys() & other.files.keys()
        if one.files[role] != other.files[role]
    ]
    alone = sorted(one.texts.keys() ^ other.texts.keys())
    if alone and {*map(document_of, one.texts)} == {*map(document_of, other.texts)}:
        reasons.append(f"they compare different parsers: only one result has the texts {listed(alone)}")
    elif alone:
        reasons.append(f"only one result has the documents {listed(alone)}")
    changed = sorted(d for d in one.texts.keys() & other.texts.keys() if one.texts[d] != other.texts[d])
    if changed:
        reasons.append(f"the text differs for the documents {listed(changed)}")
    reasons += [
        f"{rule} differ: {_short(one.rules.get(rule))} and {_short(other.rules.get(rule))}"
        for rule in sorted(one.rules.keys() | other.rules.keys())
        if one.rules.get(rule) != other.rules.get(rule)
    ]
    return reasons


def matrix_differences(one: ScoreMatrix, other: ScoreMatrix) -> list[str]:
    """Why the scores of two results do not fit together: other measure, queries, splits or judged queries."""
    if one.measure != other.measure:
        return [f"the measures differ: {one.measure} and {other.measure}"]
    alone = sorted(set(one.query_ids) ^ set(other.query_ids))
    if alone:
        return [f"the queries differ: only one result has {listed(alone)}"]
    other = other.in_order_of(one.query_ids)
    reasons = []
    moved = [q for q, a, b in zip(one.query_ids, one.splits, other.splits, strict=True) if a != b]
    if moved:
        reasons.append(f"the split differs for {listed(moved)}")
    undefined = np.isnan(one.values).all(axis=0) != np.isnan(other.values).all(axis=0)
    if undefined.any():
        queries = [one.query_ids[i] for i in np.flatnonzero(undefined)]
        reasons.append(f"{one.measure} is defined in only one of them for {listed(queries)}")
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
        found = matrix_differences(results[first], results[other])
        if scored_on is not None:
            found = differences(scored_on[first], scored_on[other]) + found
        reasons += [f"{first} and {other}: {reason}" for reason in found]
    if reasons:
        raise HarnessError(
            "These results cannot be compared:\n"
            + "\n".join(f"  {reason}" for reason in reasons)
            + "\nRun them again on the same queries, labels and documents."
        )
    base = results[first]
    return replace(
        base,
        settings=tuple(joined_names(results).values()),
        values=np.vstack([one.in_order_of(base.query_ids).values for one in results.values()]),
    )


def joined_names(results: Mapping[str, ScoreMatrix]) -> dict[tuple[str, str], str]:
    """The name that ``join`` gives to every (result, setting)."""
    count = Counter(setting for matrix in results.values() for setting in matrix.settings)
    return {
        (name, setting): f"{name}: {setting}" if count[setting] > 1 else setting
        for name, matrix in results.items()
        for setting in matrix.settings
    }


def _short(rule: Any) -> Any:
    """A rule as it is shown: of a hash only the beginning."""
    return f"{rule[:12]}…" if isinstance(rule, str) and _HASH.fullmatch(rule) else rule
