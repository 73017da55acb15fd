"""Trials in a file: JSON Lines, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.abilities.trial import ABILITIES, Trial
from harness.corpus.reading import read_utf8
from harness.errors import CorpusError
from harness.text.characters import encodable


def write_trials(trials: Iterable[Trial], path: Path) -> int:
    """Write trials to a new file; returns their number. Raises CorpusError where there is such a file."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            rows = [encodable(json.dumps(asdict(one), ensure_ascii=False)) for one in trials]
            file.writelines(f"{row}\n" for row in rows)
    except FileExistsError:
        raise CorpusError(f"{path}: is there already. Remove it, or name another file.") from None
    return len(rows)


def read_trials(path: Path) -> list[Trial]:
    """The trials of a file; raises CorpusError that names the line at fault."""
    found: dict[str, Trial] = {}
    for number, line in enumerate(read_utf8(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            one = _trial(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise CorpusError(f"{path}, line {number}: is not a trial ({what}).") from error
        if one.trial_id in found:
            raise CorpusError(f"{path}, line {number}: trial_id {one.trial_id!r} appears twice.")
        found[one.trial_id] = one
    if not found:
        raise CorpusError(f"{path}: has no trials. Make some with `harness abilities`.")
    return list(found.values())


def _trial(row: Any) -> Trial:
    if not isinstance(row, dict):
        raise ValueError("it is not an object with the fields of a trial")
    if row["ability"] not in ABILITIES:
        raise ValueError(f"ability is {row['ability']!r}; known: {', '.join(ABILITIES)}")
    rate = row["rate"]
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise ValueError(f"rate is {rate!r}; it is from 0 to 1")
    # a text in place of a list would be read letter by letter
    if not all(isinstance(one, list) for one in (row["passages"], row["golden"], *row["golden"])):
        raise ValueError("passages must be a list of texts, and golden a list of lists of texts")
    texts = [row["trial_id"], row["question"], *row["passages"], row.get("changed", "")]
    texts += [one for part in row["golden"] for one in part]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a question, passage or answer is not text")
    return Trial(
        row["trial_id"],
        row["ability"],
        float(rate),
        row["question"],
        tuple(row["passages"]),
        tuple(map(tuple, row["golden"])),
        row.get("changed", ""),
    )
