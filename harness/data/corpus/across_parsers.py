"""Label rows in the texts of several parsers: one row is one evidence, wherever it was found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.data.corpus.anchoring import AnchorConfig, AnchorResult, anchor
from harness.data.corpus.documents import possible_ids
from harness.data.corpus.labels import LabelRow
from harness.values import Document, Judgment, LabelError

Texts = Mapping[str, Document]
_Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class FoundLabels:
    """The label rows in the text of one parser, and the spans that they grade there.

    ``judgments`` are those of ``anchored``, in their order, and after them the duplicates of their text.
    """

    anchored: AnchorResult
    judgments: tuple[Judgment, ...]


def anchor_in_each(
    rows: Sequence[LabelRow],
    texts: Mapping[str, Texts],
    config: AnchorConfig,
    query_ids: Collection[str],
    skipped: Mapping[str, Collection[str]],
) -> dict[str, AnchorResult]:
    """Find every row in the text of every parser; ``texts`` and ``skipped`` documents are by parser.

    A row that one text holds may be missing in another. Raises LabelError as ``anchor`` does, for a quote
    only where no parser has it, and for offsets without a quote in a document that parsers read differently.
    """
    quoted = [_without_offsets(row, texts.values()) for row in rows]
    anywhere = frozenset(row.line for row in rows)

    def found(parser: str, config: AnchorConfig, elsewhere: Collection[int]) -> AnchorResult:
        return anchor(quoted, texts[parser], config, query_ids, skipped[parser], elsewhere)

    listing = config.model_copy(update={"on_unanchored": "list"})
    by_parser = {parser: found(parser, listing, anywhere) for parser in texts}
    there = {a.row.line for one in by_parser.values() for a in one.anchorings if a.accepted}
    if there < anywhere:
        for parser in texts:
            # reports what is wrong with the rows that no text has
            found(parser, config, there)
    return by_parser


def _without_offsets(row: LabelRow, texts: Collection[Texts]) -> LabelRow:
    """The row as it can be sought in all texts: offsets stay where all parsers read the same."""
    if row.start is None:
        return row
    names = possible_ids(row.document)
    if len({one[name].sha256 for one in texts for name in names if name in one}) < 2:
        return row
    if not row.quote:
        raise LabelError(
            f"{row.where}: start and end count the characters of one text, and the parsers "
            f"read {row.document!r} differently. Add the quote, by which the row is found in each text."
        )
    return replace(row, start=None, end=None)


def one_evidence_a_row(
    rows: Sequence[LabelRow], found: Mapping[str, FoundLabels]
) -> dict[str, tuple[Judgment, ...]]:
    """The judgments of every parser, with evidence names that mean the same row under all of them.

    A name that people gave stays. Any other row is called after its line; rows that count as one evidence
    under one parser, because their texts are the same there, do so under all.
    """
    given = {row.line: row.evidence for row in rows}
    lines: dict[_Name, list[int]] = {}
    for parser, one in found.items():
        for line, judgment in zip(_lines(one), one.judgments, strict=False):
            if judgment.evidence:
                lines.setdefault((parser, judgment.query_id, judgment.evidence), []).append(line)
    names = _names(given, lines)
    out = {}
    for parser, one in found.items():
        own = _lines(one)
        labels = [
            replace(judgment, evidence=names[line])
            for line, judgment in zip(own, one.judgments, strict=False)
        ]
        copies = [
            replace(judgment, evidence=_name_of(judgment, parser, lines, given, names))
            for judgment in one.judgments[len(own) :]
        ]
        out[parser] = (*labels, *copies)
    return out


def _lines(found: FoundLabels) -> list[int]:
    """The line of every anchored judgment."""
    return [one.row.line for one in found.anchored.anchorings if one.accepted]


def _names(given: Mapping[int, str], lines: Mapping[_Name, Sequence[int]]) -> dict[int, str]:
    """The evidence of every row: as given, else that of the first row that it is one with."""
    first = {line: line for line in given}
    taken = dict[int, str]()
    for (_, _, name), own in lines.items():
        unnamed = [line for line in own if not given[line]]
        roots = sorted({_root(first, line) for line in unnamed})
        for root in roots[1:]:
            first[root] = roots[0]
            if root in taken:
                taken.setdefault(roots[0], taken[root])
        if roots and len(unnamed) < len(own):
            taken.setdefault(roots[0], name)
    people = set(given.values())

    def called(line: int) -> str:
        root = _root(first, line)
        name = taken.get(root, f"line {root}")
        while root not in taken and name in people:
            name += "'"
        return name

    return {line: name or called(line) for line, name in given.items()}


def _root(first: Mapping[int, int], line: int) -> int:
    while first[line] != line:
        line = first[line]
    return line


def _name_of(
    copy: Judgment,
    parser: str,
    lines: Mapping[_Name, Sequence[int]],
    given: Mapping[int, str],
    names: Mapping[int, str],
) -> str:
    """The evidence of a duplicate: that of the row whose text it has."""
    own = lines[parser, copy.query_id, copy.evidence]
    by_people = any(given[line] == copy.evidence for line in own)
    return copy.evidence if by_people else names[own[0]]
