"""What was retrieved and never judged, as passages to grade: the most wanted first, each once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.report import RankedRow, cells_of, read_any, read_chunk_offsets
from harness.text.passages import passage_spans
from harness.text.spans import Span, trim
from harness.types import Chunk, Document

# as the pool of a judge has it: about a paragraph
LENGTH = 600


@dataclass(frozen=True, slots=True)
class Wanted:
    """A passage to grade for a query.

    ``settings`` have it in a chunk that no grade covers, at ``best_rank`` or below. ``above`` are ranges that
    chunks show before it, such as the heading rows of its table.
    """

    query_id: str
    doc_id: str
    start: int
    end: int
    settings: frozenset[str]
    best_rank: int
    above: tuple[Span, ...] = ()


@dataclass(slots=True)
class _Asked:
    settings: set[str] = field(default_factory=set)
    best_rank: int = 2**31
    above: dict[Span, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A chunk that a setting ranked for a query."""

    setting: str
    query_id: str
    rank: int
    chunk: Chunk


def unjudged(folder: Path, documents: Mapping[str, Document], top: int, answerable: set[str]) -> list[Wanted]:
    """The passages of the unjudged chunks among the first ``top`` of every setting's last step.

    Only the queries of ``answerable`` are looked at; `wanted_passages` says what becomes a passage.
    """
    retrieved = retrieved_of(folder, top, answerable, only_unjudged=True)
    return wanted_passages(retrieved, documents, _graded(folder))


def retrieved_of(
    folder: Path, top: int, answerable: set[str], only_unjudged: bool = False
) -> Iterator[Retrieved]:
    """The chunks among the first ``top`` of every setting's last step, or the unjudged ones."""
    chunks = {name: {one.chunk_id: one for one in own} for name, own in read_chunk_offsets(folder).items()}
    return (
        Retrieved(row.setting, row.query_id, row.rank, chunks[row.setting][row.chunk_id])
        for row in _last_rows(folder)
        if row.rank <= top
        and not (only_unjudged and row.grade is not None)
        and row.query_id in answerable
        and row.chunk_id in chunks[row.setting]
    )


def wanted_passages(
    retrieved: Iterable[Retrieved],
    documents: Mapping[str, Document],
    graded: Mapping[tuple[str, str], Sequence[Span]],
) -> list[Wanted]:
    """The passages whose grades would make unjudged chunks judged, each once.

    Passages are runs of sentences that depend on the text alone, so that one grade serves all chunkings; they
    are in the order of how many settings want them, then of their best rank. A passage that a grade covers
    by half of either is left out. A chunk of which no passage is left, or none holds half of either, stands
    itself. ``graded`` are the spans that have a grade, by query and document.
    """
    passages: dict[str, Sequence[Span]] = {}
    asked: dict[tuple[str, str, Span], _Asked] = {}
    for row in retrieved:
        chunk, doc_id = row.chunk, row.chunk.doc_id
        document = documents.get(doc_id)
        if document is None:
            continue
        if doc_id not in passages:
            passages[doc_id] = passage_spans(document.text, LENGTH)
        done = graded.get((row.query_id, doc_id), ())
        for span in _to_grade(chunk, document, passages[doc_id], done):
            one = asked.setdefault((row.query_id, doc_id, span), _Asked())
            one.settings.add(row.setting)
            one.best_rank = min(one.best_rank, row.rank)
            one.above |= {before: None for before in chunk.before if before[1] <= span[0]}
    found = [
        Wanted(query_id, doc_id, *span, frozenset(one.settings), one.best_rank, tuple(one.above))
        for (query_id, doc_id, span), one in asked.items()
    ]
    # equal ones stay in the order of settings and queries
    return sorted(found, key=lambda one: (-len(one.settings), one.best_rank))


def _last_rows(folder: Path) -> Iterator[RankedRow]:
    """What the last step of each setting ranked."""
    rows = read_any(folder, RankedRow)
    # rows stand in the order of the steps
    last = {row.setting: row.stage for row in rows}
    return (row for row in rows if row.stage == last[row.setting])


def _graded(folder: Path) -> dict[tuple[str, str], list[Span]]:
    """The spans that settings were scored on, by query and document."""
    found: dict[tuple[str, str], list[Span]] = {}
    for row in cells_of(folder, "judgments"):
        if row["grade"] and row.get("scored_on", "yes") == "yes":
            span = int(row["start"]), int(row["end"])
            found.setdefault((row["query_id"], row["document"]), []).append(span)
    return found


def _to_grade(
    chunk: Chunk, document: Document, passages: Sequence[Span], graded: Iterable[Span]
) -> list[Span]:
    """The passages whose grades would make a chunk judged, or the chunk."""
    done = list(graded)
    own = trim(document.text, (chunk.start, chunk.end))
    if own[0] >= own[1]:
        return []
    first = bisect_right(passages, own[0], key=lambda span: span[1])
    last = bisect_left(passages, own[1], key=lambda span: span[0])
    left = [span for span in passages[first:last] if not any(covers(span, one) for one in done)]
    return left if any(covers((chunk.start, chunk.end), span) for span in left) else [own]


def covers(chunk: Span, span: Span) -> bool:
    """Whether they share half of either, the rule by which grades of spans become grades of chunks."""
    shared = min(chunk[1], span[1]) - max(chunk[0], span[0])
    return shared > 0 and 2 * shared >= min(chunk[1] - chunk[0], span[1] - span[0])
