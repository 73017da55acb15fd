"""Chunks that are next to each other and are found together are read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from harness.search.read.step import MergeConfig, Merger, Together
from harness.search.sources import Sources
from harness.text.spans import Span
from harness.types import Chunk


class AdjacentConfig(MergeConfig):
    """Neighbouring chunks that are found together, as one."""

    kind: Literal["adjacent"] = "adjacent"
    longest: int = Field(
        4000,
        ge=1,
        description="The maximum length in characters; a longer run of neighbours is read in parts.",
    )
    gap: int = Field(
        0,
        ge=0,
        description="The largest gap between two neighbours, in characters; the gap is read too. White "
        "space does not count.",
    )


class Adjacent(Merger[AdjacentConfig]):
    """Joins, for every query, runs of chunks in the order of the text."""

    def together(self, chunks: Sequence[Chunk], sources: Sources) -> Together:
        """The run of found neighbours that each chunk is in."""

        def read(found: Sequence[int]) -> list[Span]:
            by_document: dict[str, list[int]] = {}
            for i in found:
                by_document.setdefault(chunks[i].doc_id, []).append(i)
            of: dict[int, Span] = {}
            for doc_id, rows in by_document.items():
                rows.sort(key=lambda i: (chunks[i].start, chunks[i].end))
                for run in self._runs(rows, chunks, sources.document(doc_id).text):
                    span = chunks[run[0]].start, max(chunks[i].end for i in run)
                    of |= dict.fromkeys(run, span)
            return [of[i] for i in found]

        return read

    def _runs(self, rows: Sequence[int], chunks: Sequence[Chunk], text: str) -> Iterator[list[int]]:
        run: list[int] = []
        start = end = 0
        for i in rows:
            chunk = chunks[i]
            between = "".join(text[end : chunk.start].split()) if run else ""
            joined = max(end, chunk.end) - start <= self.config.longest and len(between) <= self.config.gap
            if run and not joined:
                yield run
                run = []
            if not run:
                start, end = chunk.start, chunk.end
            run.append(i)
            end = max(end, chunk.end)
        if run:
            yield run
