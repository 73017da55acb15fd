"""Text that occurs word for word in several places, or in the texts of several parsers, states one fact.

A label says where an answer is, but rarely lists every place. Boilerplate, tables printed twice and the
filings of successive years repeat sentences, and a ranking that finds the duplicate would count as a miss.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.data.corpus.align import Codes, codes
from harness.data.corpus.anchoring import AnchorConfig, AnchorResult, LabelRow, anchor
from harness.data.corpus.document_files import possible_ids
from harness.values import Document, Judgment, LabelError, Span, by_key

Texts = Mapping[str, Document]
_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(int(_BASE), -1, 2**64))
# Of a hash, the bits that are looked up first.
_LOW_BITS = 0xFFFFF
# All that str.isspace knows; the last one is the ideographic space.
_WHITE_SPACE = np.array([code for code in range(0x3001) if chr(code).isspace()], dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """``judgments`` with the duplicates found and their evidence named; counts of what was done.

    ``added`` are new spans, ``repeated`` the labels whose text is elsewhere too, ``joined`` those that
    had no evidence name and share one now, as their text was labelled in several places.
    """

    judgments: tuple[Judgment, ...]
    added: int
    repeated: int
    joined: int


def credit_duplicates(judgments: Sequence[Judgment], documents: Texts, least: int) -> Duplicates:
    """Grade every other place that holds a label's text, as the same evidence.

    Texts are compared without white space, which differs between two extractions of one sentence. Only
    relevant labels of at least ``least`` characters without white space count: what is shorter may mean
    something else in another place. Labels of whole documents are left alone, and so is every place that the
    query has a label for: people's labels take precedence.
    """
    wanted: dict[str, list[int]] = defaultdict(list)
    for row, judgment in enumerate(judgments):
        whole = documents[judgment.doc_id].text
        text = _squeeze(whole[judgment.start : judgment.end])
        a_part = whole[: judgment.start].strip() or whole[judgment.end :].strip()
        if judgment.grade and len(text) >= least and a_part:
            wanted[text].append(row)
    places = _places(wanted, documents, least)
    # equal texts with unequal grades were distinguished on purpose
    groups = [
        (text, same)
        for text, rows in wanted.items()
        for same in by_key(((judgments[row].query_id, judgments[row].grade), row) for row in rows).values()
    ]
    named, joined = _name_evidence(judgments, [same for _, same in groups])
    labelled: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for label in judgments:
        labelled[label.query_id, label.doc_id].append((label.start, label.end))
    added: list[Judgment] = []
    repeated: set[int] = set()
    for text, same in groups:
        first = named[same[0]]
        for doc_id, start, end in places[text]:
            spans = labelled[first.query_id, doc_id]
            if not any(start < last and begin < end for begin, last in spans):
                repeated.add(same[0])
                added.append(replace(first, doc_id=doc_id, start=start, end=end))
                spans.append((start, end))
    names = {row.evidence for row in added}
    kept = [
        named[row] if row in joined or (row in named and named[row].evidence in names) else judgment
        for row, judgment in enumerate(judgments)
    ]
    return Duplicates((*kept, *added), len(added), len(repeated), len(joined))


def _name_evidence(
    judgments: Sequence[Judgment], groups: Iterable[Sequence[int]]
) -> tuple[dict[int, Judgment], set[int]]:
    """Each row with an evidence name, those of a group under one.

    Of rows that people have named differently each keeps its name. The second value are the rows whose name
    changed because an equal text has it.
    """
    named: dict[int, Judgment] = {}
    joined: set[int] = set()
    for same in groups:
        first = judgments[same[0]]
        evidence = next((judgments[row].evidence for row in same if judgments[row].evidence), "")
        name = evidence or f"{first.doc_id}:{first.start}-{first.end}"
        for row in same:
            named[row] = replace(judgments[row], evidence=judgments[row].evidence or name)
            if len(same) > 1 and not judgments[row].evidence:
                joined.add(row)
    return named, joined


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _places(wanted: Iterable[str], documents: Texts, least: int) -> dict[str, list[tuple[str, int, int]]]:
    """Where each wanted text is: (document, start, end).

    All windows of ``least`` characters of a document are hashed and looked up, so that time does not grow
    with the number of texts times the length of the documents. Equal hashes are compared verbatim.
    """
    by_hash = by_key((int(_window_hashes(codes(text[:least]), least)[0]), text) for text in wanted)
    places: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    may_match = np.zeros(_LOW_BITS + 1, dtype=np.bool_)
    may_match[[value & _LOW_BITS for value in by_hash]] = True
    for doc_id, document in documents.items():
        # one at a time: squeezed, a text is 14 times as large
        letters, squeezed = codes(document.text), _squeeze(document.text)
        place = np.flatnonzero(~np.isin(letters, _WHITE_SPACE))
        hashes = _window_hashes(letters[place], least)
        for at in np.flatnonzero(may_match[hashes & np.uint64(_LOW_BITS)]).tolist():
            for text in by_hash.get(int(hashes[at]), ()):
                if squeezed.startswith(text, at):
                    places[text].append((doc_id, int(place[at]), int(place[at + len(text) - 1]) + 1))
    return places


def _window_hashes(letters: Codes, width: int) -> NDArray[np.uint64]:
    """A polynomial hash modulo 2^64 of every window of ``width`` characters.

    It is the difference of two sums from the beginning on, divided by the power with which the window begins.
    """
    powers, inverse = (np.full(len(letters), base).cumprod() for base in (_BASE, _INVERSE))
    sums = np.append(np.uint64(0), (letters * powers).cumsum())
    hashes = sums[width:] - sums[:-width]
    return np.asarray(hashes * inverse[: len(hashes)])


_Name = tuple[str, str, str]


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

    def anchored(parser: str, config: AnchorConfig, elsewhere: Collection[int]) -> AnchorResult:
        return anchor(quoted, texts[parser], config, query_ids, skipped[parser], elsewhere)

    listing = config.model_copy(update={"on_unanchored": "list"})
    by_parser = {parser: anchored(parser, listing, anywhere) for parser in texts}
    there = {a.row.line for result in by_parser.values() for a in result.anchorings if a.accepted}
    if there < anywhere:
        for parser in texts:
            # reports what is wrong with the rows that no text has
            anchored(parser, config, there)
    return by_parser


def _without_offsets(row: LabelRow, texts: Collection[Texts]) -> LabelRow:
    """The row as it can be sought in all texts: offsets stay where all parsers read the same."""
    if row.start is None:
        return row
    names = possible_ids(row.document)
    if len({documents[name].sha256 for documents in texts for name in names if name in documents}) < 2:
        return row
    if not row.quote:
        raise LabelError(
            f"{row.where}: start and end count the characters of one text, and the parsers "
            f"read {row.document!r} differently. Add the quote, by which the row is found in each text."
        )
    return replace(row, start=None, end=None)


def one_evidence_a_row(
    rows: Sequence[LabelRow], results: Mapping[str, AnchorResult]
) -> dict[str, tuple[Judgment, ...]]:
    """The judgments of every parser, with evidence names that mean the same row under all of them.

    Those of the anchored rows come first, in the order of the rows, and then the duplicates of their text.
    A name that people gave stays. Any other row is called after its line; rows that count as one evidence
    under one parser, because their texts are the same there, do so under all.
    """
    evidence_of = {row.line: row.evidence for row in rows}
    lines: dict[_Name, list[int]] = {}
    for parser, result in results.items():
        for line, judgment in zip(_lines(result), result.judgments, strict=False):
            if judgment.evidence:
                lines.setdefault((parser, judgment.query_id, judgment.evidence), []).append(line)
    for rows_of_one in lines.values():
        # a row that people named gives its name to the others
        rows_of_one.sort(key=lambda line: not evidence_of[line])
    names = _names(evidence_of, lines)
    out = {}
    for parser, result in results.items():
        anchored_lines = _lines(result)
        labels = [
            replace(label, evidence=names[line])
            for line, label in zip(anchored_lines, result.judgments, strict=False)
        ]
        copies = [
            replace(judgment, evidence=names[lines[parser, judgment.query_id, judgment.evidence][0]])
            for judgment in result.judgments[len(anchored_lines) :]
        ]
        out[parser] = (*labels, *copies)
    return out


def _lines(result: AnchorResult) -> list[int]:
    """The line of every anchored judgment."""
    return [anchoring.row.line for anchoring in result.anchorings if anchoring.accepted]


def _names(evidence_of: Mapping[int, str], lines: Mapping[_Name, Sequence[int]]) -> dict[int, str]:
    """The evidence of every row: as given, else that of the first row that it is one with."""
    first = {line: line for line in evidence_of}
    root_names = dict[int, str]()
    for (_, _, name), joined in lines.items():
        unnamed = [line for line in joined if not evidence_of[line]]
        roots = sorted({_root(first, line) for line in unnamed})
        for root in roots[1:]:
            first[root] = roots[0]
            if root in root_names:
                root_names.setdefault(roots[0], root_names[root])
        if roots and len(unnamed) < len(joined):
            root_names.setdefault(roots[0], name)
    people = set(evidence_of.values())

    def called(line: int) -> str:
        root = _root(first, line)
        name = root_names.get(root, f"line {root}")
        while root not in root_names and name in people:
            name += "'"
        return name

    return {line: name or called(line) for line, name in evidence_of.items()}


def _root(first: Mapping[int, int], line: int) -> int:
    while first[line] != line:
        line = first[line]
    return line
