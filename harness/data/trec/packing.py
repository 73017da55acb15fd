"""The scores and grades of dictionaries as arrays; what is no number is named with its query and document."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from harness.data.trec.table_faults import TrecError
from harness.measures import Floats, Ints

Dicts = Sequence[Mapping[str, Any]]
_REFUSED = (struct.error, TypeError, ValueError, OverflowError)


def pack_scores(inner: Dicts, names: Sequence[str]) -> Floats:
    """The scores of all queries end to end; raises TrecError that names one that is not a number, or NaN."""
    try:
        scores = np.frombuffer(_packed(inner, "d"), np.float64)
    except _REFUSED:
        scores = np.array([np.nan])
    if np.isnan(scores.max(initial=-np.inf)):
        query, doc = _first_bad(inner, names, _is_number)
        raise TrecError(f"run: query {query}, document {doc}: the score is not a number, so it has no rank")
    return scores


def pack_grades(inner: Dicts, names: Sequence[str]) -> Ints:
    """The grades of all queries end to end; raises TrecError that names one that is not a whole number."""
    try:
        return np.frombuffer(_packed(inner, "q"), np.int64)
    except _REFUSED:
        grades = [grade for documents in inner for grade in documents.values()]
    if all(map(_is_whole, grades)):
        # such as 2.0, which a DataFrame makes of a 2 in a column with an empty cell
        return np.array([int(grade) for grade in grades], np.int64)
    query, doc = _first_bad(inner, names, _is_whole)
    raise TrecError(f"qrels: query {query}, document {doc}: the grade is not a whole number")


def _packed(inner: Dicts, code: str) -> bytes:
    # one packer for every length: a star alone makes a tuple, one beside other arguments a list first, which
    # takes twice as long from Python 3.13 on
    packers = {length: struct.Struct(f"{length}{code}").pack for length in set(map(len, inner))}
    return b"".join([packers[len(documents)](*documents.values()) for documents in inner])


def _first_bad(inner: Dicts, names: Sequence[str], is_good: Callable[[Any], bool]) -> tuple[str, str]:
    return next(
        (query, doc)
        for query, documents in zip(names, inner, strict=True)
        for doc, value in documents.items()
        if not is_good(value)
    )


def _is_number(value: Any) -> bool:
    try:
        return not isnan(struct.unpack("d", struct.pack("d", value))[0])
    except _REFUSED:
        return False


def _is_whole(value: Any) -> bool:
    try:
        return not isinstance(value, str) and int(value) == value and abs(int(value)) < 2**63
    except (TypeError, ValueError, OverflowError):
        return False
