"""One question to another pipeline, with the passages it read and its answer."""

from __future__ import annotations

from dataclasses import dataclass

from harness.measures import Case
from harness.values import Chunk, Query


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was read: its text ('' where only its id is known), its document and id where known."""

    text: str
    document: str = ""
    passage_id: str = ""


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A question, the passages read for it, in order, and the answer.

    ``answer`` None: there is none, and ``reason`` says why. ``cited`` are 0-based indexes into ``read``.
    ``references`` are the golden answers, of which each is right. ``where`` is where it is in a file, for
    messages.
    """

    query_id: str
    question: str
    read: tuple[Passage, ...]
    answer: str | None
    reason: str = ""
    references: tuple[str, ...] = ()
    answerable: bool = True
    cited: tuple[int, ...] = ()
    where: str = ""

    def as_case(self) -> Case:
        """The case for measures of answers; each passage is its own document, since its place is unknown."""
        query = Query(self.query_id, self.question, "train", self.answerable)
        shown = tuple(
            Chunk(
                passage.passage_id or f"{self.query_id}#{place}",
                passage.document or f"{self.query_id}#{place}",
                0,
                len(passage.text),
                passage.text,
            )
            for place, passage in enumerate(self.read, start=1)
        )
        return Case(query, shown, self.answer, self.reason, self.references, self.cited)
