"""What another reader says of the pages of a PDF, to find text that the chosen parser lost in silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.corpus.worker_process import OnPage

# A page with fewer lines and boxes and no image holds no text that a parser could have lost.
MOST_PATHS_OF_A_BLANK_PAGE = 20


@dataclass(frozen=True, slots=True)
class PageReading:
    """One page: how many characters other than white space it shows, and whether next to nothing is drawn.

    ``damaged``: a stream of its content is broken.
    """

    characters: int
    blank: bool
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class SecondReader:
    """A reader to compare a parser with.

    ``name`` holds its version. A page is short of text if the parser found less than ``share`` of the
    characters that ``read`` counts, and at least ``least`` fewer. ``sees_damage``: it tells of broken
    streams.
    """

    name: str
    read: Callable[[Path, OnPage], list[PageReading]]
    share: float
    least: int
    sees_damage: bool = False

    def finds_far_more(self, second: int, first: int) -> bool:
        """Whether ``first`` characters are far fewer than the ``second`` ones of this reader."""
        return first < self.share * second and second - first >= self.least
