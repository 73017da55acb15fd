"""Where the chunks of every setting begin and end: what the ideal of chunk-level NDCG is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.report.columns import spec_of
from harness.report.rows import ChunkOffsetRow
from harness.report.rows.ranked import before_cell, before_of
from harness.report.stored import damaged, read_rows
from harness.types import Chunk

CHUNK_OFFSETS = spec_of(ChunkOffsetRow).file


def offset_rows(cut: Mapping[str, tuple[str, Sequence[Chunk]]]) -> Iterator[ChunkOffsetRow]:
    """The chunks of every setting, or the setting before it that has the same ones."""
    first: dict[str, str] = {}
    for setting, (key, chunks) in cut.items():
        if first.setdefault(key, setting) != setting:
            yield ChunkOffsetRow(setting, first[key], "", None, None)
            continue
        for chunk in chunks:
            yield ChunkOffsetRow(setting, "", chunk.doc_id, chunk.start, chunk.end, before_cell(chunk))


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
            before = before_of(row.get("before", ""))
            name = "+".join(f"{first}-{last}" for first, last in (*before, (start, end)))
            chunks.setdefault(setting, []).append(
                Chunk(f"{document}:{name}", document, start, end, "", before)
            )
    except (KeyError, ValueError) as error:
        raise damaged(folder / CHUNK_OFFSETS, str(error)) from None
    return chunks
