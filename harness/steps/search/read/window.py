"""A chunk is read with the sentences or characters on both sides of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.read import ReadConfig, Reader
from harness.steps.search.tools import Sources, WindowUnit, window_of
from harness.values import Chunk, Span


class WindowConfig(ReadConfig):
    """The chunk with the text on both sides of it, within the document."""

    kind: Literal["window"] = "window"
    amount: int = Field(2, ge=1, description="How many sentences or characters, on each side.")
    unit: WindowUnit = Field(
        "sentences",
        description="`sentences` or `characters`. A sentence cut by the chunk boundary counts as one.",
    )


class Window(Reader[WindowConfig]):
    """Windows of neighbouring chunks overlap: what was read in one earns nothing in the next."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Span]:
        """The window of each chunk."""
        return [window_of(chunk, self.config.amount, self.config.unit, sources) for chunk in chunks]
