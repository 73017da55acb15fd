"""Before every chunk the headings of the sections it is in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.context import ContextText, Contextualizer, line
from harness.steps.search.passages import ContextConfig
from harness.steps.search.tools import Sources
from harness.values import Chunk, Heading, HeadingStyle


class HeadingsConfig(ContextConfig):
    """A line with the headings above the chunk, the highest level first."""

    kind: Literal["headings"] = "headings"
    style: HeadingStyle = Field(
        "markdown",
        description="`markdown`: `## Title` and underlined titles. `numbered`: lines that begin as "
        "`Part II`, `Item 7A.`, `Note 12`, `2.1 Scope` or 第三章 do, for the text of PDFs.",
    )
    levels: int = Field(6, ge=1, description="The maximum number of headings; the lowest levels are kept.")
    separator: str = Field(" > ", description="The separator between two headings.")


class HeadingsContext(Contextualizer[HeadingsConfig]):
    """The headings in force where the chunk begins; one that the chunk itself begins with is not repeated."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[ContextText]:
        """The line of each chunk; nothing if no heading is above it."""
        outlines = {
            doc_id: _in_force(sources.headings(doc_id, self.config.style))
            for doc_id in {chunk.doc_id for chunk in chunks}
        }
        around = []
        for chunk in chunks:
            titles = [title for title in _above(chunk, outlines[chunk.doc_id]) if title]
            around.append(line(self.config.separator.join(titles[-self.config.levels :])))
        return around


def _in_force(headings: Sequence[Heading]) -> list[tuple[Heading, ...]]:
    """For each heading, those in force from it on: itself and the ones above it of higher levels."""
    states: list[tuple[Heading, ...]] = []
    for heading in headings:
        above = states[-1] if states else ()
        states.append((*(outer for outer in above if outer.level < heading.level), heading))
    return states


def _above(chunk: Chunk, states: Sequence[tuple[Heading, ...]]) -> list[str]:
    """The titles in force at the first letter of a chunk, except for one that begins right there."""
    blank = 0 if chunk.before else len(chunk.text) - len(chunk.text.lstrip())
    begins = chunk.start + blank
    last = bisect_right(states, begins, key=lambda state: state[-1].start)
    return [heading.title for heading in (states[last - 1] if last else ()) if heading.start < begins]
