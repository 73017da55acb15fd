"""Where the chunks of every setting begin and end: what the ideal of chunk-level NDCG is drawn from."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.report.cells import original, write_csv
from harness.types import Chunk

CHUNK_OFFSETS = "chunk_offsets.csv"
_COLUMNS = ("setting", "same_as", "document", "start", "end")


def write_chunk_offsets(folder: Path, cut: Mapping[str, tuple[str, Sequence[Chunk]]]) -> None:
    """Write the chunks of every setting, or ``same_as`` the setting before it that has the same ones."""
    with (folder / CHUNK_OFFSETS).open("w", encoding="utf-8", newline="\n") as out:
        write_csv(out, _COLUMNS, _rows(cut))


def read_chunk_offsets(folder: Path) -> dict[str, list[Chunk]]:
    """The chunks of every setting, without their text.

    Raises FileNotFoundError where the result has no such file, HarnessError where it is damaged.
    """
    path = folder / CHUNK_OFFSETS
    chunks: dict[str, list[Chunk]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                setting, document = original(row["setting"]), original(row["document"])
                if row["same_as"]:
                    chunks[setting] = chunks[original(row["same_as"])]
                    continue
                start, end = int(row["start"]), int(row["end"])
                chunks.setdefault(setting, []).append(
                    Chunk(f"{document}:{start}-{end}", document, start, end, "")
                )
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise HarnessError(f"{path} is damaged ({error}). Run the benchmark again.") from None
    return chunks


def _rows(cut: Mapping[str, tuple[str, Sequence[Chunk]]]) -> Iterator[dict[str, Any]]:
    first: dict[str, str] = {}
    for setting, (key, chunks) in cut.items():
        if first.setdefault(key, setting) != setting:
            yield {**dict.fromkeys(_COLUMNS), "setting": setting, "same_as": first[key]}
            continue
        for chunk in chunks:
            yield {
                "setting": setting,
                "same_as": None,
                "document": chunk.doc_id,
                "start": chunk.start,
                "end": chunk.end,
            }
