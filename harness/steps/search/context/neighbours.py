"""Around every chunk, the text that is next to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.context import ContextText, Contextualizer
from harness.steps.search.passages import ContextConfig
from harness.steps.search.tools import Sources, WindowUnit, window_of
from harness.values import Chunk


class NeighboursConfig(ContextConfig):
    """The sentences or characters before and after the chunk."""

    kind: Literal["neighbours"] = "neighbours"
    amount: int = Field(1, ge=1, description="How many, on each side.")
    unit: WindowUnit = Field(
        "sentences",
        description="`sentences` or `characters`. A sentence cut by the chunk boundary counts as one.",
    )
    side: Literal["both", "before", "after"] = Field("both", description="On which side.")


class NeighboursContext(Contextualizer[NeighboursConfig]):
    """Slices of the document that end or begin where the chunk begins or ends."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[ContextText]:
        """The text next to each chunk in its document."""
        around, c = [], self.config
        for chunk in chunks:
            text = sources.document(chunk.doc_id).text
            start, end = window_of(chunk, c.amount, c.unit, sources)
            before = "" if c.side == "after" else text[start : chunk.start]
            around.append(ContextText(before, "" if c.side == "before" else text[chunk.end : end]))
        return around
