"""Where the chunks of every setting begin and end: what the ideal of chunk-level NDCG is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.report.cells import write_csv
from harness.report.stored import damaged, read_rows
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
    chunks: dict[str, list[Chunk]] = {}
    try:
        for row in read_rows(folder, "chunk_offsets"):
            setting, document = row["setting"], row["document"]
            if row["same_as"]:
                chunks[setting] = chunks[row["same_as"]]
                continue
            start, end = int(row["start"]), int(row["end"])
            chunks.setdefault(setting, []).append(
                Chunk(f"{document}:{start}-{end}", document, start, end, "")
            )
    except (KeyError, ValueError) as error:
        raise damaged(folder / CHUNK_OFFSETS, str(error)) from None
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
