"""Retrieved chunks as passages to grade, each once, whatever chunking found it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.report import RankedRow, cells_of, read_any, read_chunk_offsets
from harness.values import TO_GRADE, Chunk, Document, Span, passage_spans, trim

# (query, document, range) with a grade
GradedSpan = tuple[str, str, Span, int]
Grades = Mapping[tuple[str, str], Sequence[tuple[Span, int]]]


@dataclass(frozen=True, slots=True)
class PassageToGrade:
    """A passage to grade for a query.

    ``ranks`` are the best ranks at which settings have a chunk with it, by setting. ``above`` are ranges that
    chunks show before it, such as the heading rows of its table.
    """

    query_id: str
    doc_id: str
    start: int
    end: int
    ranks: Mapping[str, int] = field(default_factory=dict)
    above: tuple[Span, ...] = ()

    @property
    def best_rank(self) -> int:
        """The best rank at any setting; 0 if no setting has it."""
        return min(self.ranks.values(), default=0)

    @property
    def name(self) -> str:
        """Its name in an order of labelling."""
        return passage_name(self.query_id, self.doc_id, (self.start, self.end))

    def grade_in(self, grades: Grades) -> int | None:
        """The highest grade of the spans that cover it by half of either, None if none does."""
        return grade_of(grades, self.query_id, self.doc_id, (self.start, self.end))


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A chunk that a setting ranked for a query."""

    setting: str
    query_id: str
    rank: int
    chunk: Chunk


# of a chunk, its range without blanks and the passages that touch it: those to grade
Choose = Callable[[Retrieved, Span, Sequence[Span]], Sequence[Span]]


def passage_name(query_id: str, doc_id: str, span: Span) -> str:
    """The name of a passage in an order of labelling."""
    return f"{query_id} {doc_id}:{span[0]}-{span[1]}"


def retrieved_of(
    folder: Path, top: int, answerable: set[str], only_unjudged: bool = False
) -> Iterator[Retrieved]:
    """The chunks among the first ``top`` of every setting's last step, or the unjudged ones."""
    chunks = {name: {one.chunk_id: one for one in own} for name, own in read_chunk_offsets(folder).items()}
    rows = read_any(folder, RankedRow)
    # rows are in the order of the steps
    last = {row.setting: row.stage for row in rows}
    return (
        Retrieved(row.setting, row.query_id, row.rank, chunks[row.setting][row.chunk_id])
        for row in rows
        if row.stage == last[row.setting]
        and row.rank <= top
        and not (only_unjudged and row.grade is not None)
        and row.query_id in answerable
        and row.chunk_id in chunks[row.setting]
    )


def passages_to_grade(
    retrieved: Iterable[Retrieved], documents: Mapping[str, Document], choose: Choose
) -> list[PassageToGrade]:
    """The passages of retrieved chunks that ``choose`` picks, each once.

    Passages are runs of sentences that depend on the text alone, so that one grade serves all chunkings.
    """
    passages: dict[str, Sequence[Span]] = {}
    ranks: dict[tuple[str, str, Span], dict[str, int]] = {}
    above: dict[tuple[str, str, Span], dict[Span, None]] = {}
    for row in retrieved:
        chunk, doc_id = row.chunk, row.chunk.doc_id
        document = documents.get(doc_id)
        own = (0, 0) if document is None else trim(document.text, (chunk.start, chunk.end))
        if document is None or own[0] >= own[1]:
            continue
        if doc_id not in passages:
            passages[doc_id] = passage_spans(document.text, TO_GRADE)
        first = bisect_right(passages[doc_id], own[0], key=lambda span: span[1])
        last = bisect_left(passages[doc_id], own[1], key=lambda span: span[0])
        for span in choose(row, own, passages[doc_id][first:last]):
            key = (row.query_id, doc_id, span)
            best = ranks.setdefault(key, {})
            best[row.setting] = min(row.rank, best.get(row.setting, row.rank))
            before = {one: None for one in chunk.before if one[1] <= span[0]}
            above.setdefault(key, {}).update(before)
    return [
        PassageToGrade(query_id, doc_id, *span, best, tuple(above[query_id, doc_id, span]))
        for (query_id, doc_id, span), best in ranks.items()
    ]


def unjudged_passages(
    retrieved: Iterable[Retrieved], documents: Mapping[str, Document], graded: Grades
) -> list[PassageToGrade]:
    """The passages whose grades would make unjudged chunks judged, the most wanted first.

    They are in the order of how many settings want them, then of their best rank. A passage that a grade
    covers by half of either is left out. If a chunk has no such passage, or none that shares half of either,
    the chunk itself is used.
    """
    found = passages_to_grade(retrieved, documents, partial(_to_grade, graded))
    # equal ones stay in the order of settings and queries
    return sorted(found, key=lambda one: (-len(one.ranks), one.best_rank))


def _to_grade(graded: Grades, row: Retrieved, own: Span, near: Sequence[Span]) -> Sequence[Span]:
    chunk = row.chunk
    left = [span for span in near if grade_of(graded, row.query_id, chunk.doc_id, span) is None]
    return left if any(covers((chunk.start, chunk.end), span) for span in left) else [own]


def scored_grades(folder: Path) -> Grades:
    """The grades that the settings of a folder of results were scored on."""
    return grades_by_document(
        (row["query_id"], row["document"], (int(row["start"]), int(row["end"])), int(row["grade"]))
        for row in cells_of(folder, "judgments")
        if row["grade"] and row.get("scored_on", "yes") == "yes"
    )


def grades_by_document(graded: Iterable[GradedSpan]) -> Grades:
    """Grades by query and document."""
    found: dict[tuple[str, str], list[tuple[Span, int]]] = {}
    for query_id, doc_id, span, grade in graded:
        found.setdefault((query_id, doc_id), []).append((span, grade))
    return found


def grade_of(grades: Grades, query_id: str, doc_id: str, span: Span) -> int | None:
    """The highest grade of the spans that cover a passage by half of either, None if none does."""
    own = [grade for other, grade in grades.get((query_id, doc_id), ()) if covers(span, other)]
    return max(own, default=None)


def covers(chunk: Span, span: Span) -> bool:
    """Whether they share half of either, the rule by which grades of spans become grades of chunks."""
    shared = min(chunk[1], span[1]) - max(chunk[0], span[0])
    return shared > 0 and 2 * shared >= min(chunk[1] - chunk[0], span[1] - span[0])
