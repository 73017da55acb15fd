"""An exported labels file that people have edited: their edits are kept when it is written again."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.data import read_csv
from harness.labels.testset.formats.tables import LABELS
from harness.values import ConfigError, counted, delimited_text

Line = Mapping[str, str]
Key = tuple[str, ...]
# The columns that a person fills in; the others follow from the documents.
_SAID = ("grade", "evidence", "answer")
_NAMED = 3


@dataclass(frozen=True, slots=True)
class MergedLabels:
    """The file as it is to be written, and how many rows of it are people's own.

    ``added`` were not in the last export, ``edited`` say something else than it, ``removed`` were taken out
    of it, ``gone`` were added to questions that are no longer in the test set and are left out.
    """

    text: str
    added: int
    edited: int
    removed: int
    gone: int


def merge(path: Path, written: Path, exported: str, questions: Collection[str]) -> MergedLabels:
    """Put what has changed in ``path`` since ``written``, the last export, into ``exported``, the next one.

    Where ``path`` is not there the export is taken as it is. Raises ConfigError if the file and the test
    set say different things of one passage that neither the last export said.
    """
    if not path.exists():
        return MergedLabels(exported, 0, 0, 0, 0)
    columns, present = _lines(path)
    _, before = _lines(written) if written.exists() else ((), {})
    new = {_key(row): row for row in csv.DictReader(io.StringIO(exported))}
    rows: list[Line] = []
    clashes: list[Key] = []
    added = edited = removed = gone = 0
    for key, own in new.items():
        there, base = present.get(key), before.get(key)
        if there is None:
            if base is not None and _said(base) == _said(own):
                removed += 1
            else:
                rows.append(own)
        elif _said(there) == _said(own) or (base is not None and _said(there) == _said(base)):
            rows.append({**there, **own})
        elif base is not None and _said(base) == _said(own):
            rows.append({**own, **there})
            edited += 1
        else:
            clashes.append(key)
    for key, there in present.items():
        base = before.get(key)
        if key in new or (base is not None and _said(there) == _said(base)):
            continue
        if there.get("query_id", "") not in questions:
            gone += 1
        else:
            rows.append(there)
            added += 1
    if clashes:
        raise ConfigError(_clash(path, clashes))
    wide = [*LABELS, *(name for name in columns if name not in LABELS)]
    text = delimited_text([wide, *([row.get(name) or "" for name in wide] for row in rows)])
    return MergedLabels(text, added, edited, removed, gone)


def _lines(path: Path) -> tuple[Sequence[str], dict[Key, Line]]:
    records = read_csv(path, lambda note: None)
    if not records:
        return (), {}
    columns = [name.strip() for name in records[0][1]]
    rows = [dict(zip(columns, cells, strict=True)) for _, cells in records[1:]]
    return columns, {_key(row): row for row in rows}


def _key(row: Line) -> Key:
    """The passage of a row: by its offsets, or by its words where it has none."""
    place = (row.get("start", "").strip(), row.get("end", "").strip())
    where = place if all(place) else (row.get("page", "").strip(), row.get("quote", "").strip())
    return (row.get("query_id", "").strip(), row.get("document", "").strip(), *where)


def _said(row: Line) -> tuple[str, ...]:
    return tuple((row.get(name) or "").strip() for name in _SAID)


def _clash(path: Path, keys: Sequence[Key]) -> str:
    named = "; ".join(f"{query}, {name} {start} to {end}" for query, name, start, end in keys[:_NAMED])
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return (
        f"{path} and the test set disagree on {counted(len(keys), 'passage')} ({named}{more}), "
        "and both have changed since the last export. Nothing was written. Make the rows agree, or move the "
        "file away to take what the test set says."
    )
