"""Find the hits of another pipeline in the documents: by offsets, by page, or by their text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.data.corpus.align import (
    Searcher,
    TextPlace,
    by_offsets,
    figures_differ,
    folded,
    seeds,
    whitespace_free,
    whole_page,
)
from harness.data.corpus.document_files import beside, possible_ids
from harness.data.corpus.hits import GivenHit
from harness.values import CorpusError, Document, by_key, listed, suggestion

# Fuzzy alignment reads the likeliest documents alone where no document is named.
_ALIGNED_DOCUMENTS = 3
# Places of a text with more occurrences are not distinguished.
_MOST_COPIES = 1000


@dataclass(frozen=True, slots=True)
class PlacedHit:
    """A hit and its place; None if its text is in no document, or too little like it.

    ``best`` is how alike the likeliest text is, ``copies`` how many places hold the text where it was looked
    for. ``repeats``: a hit above it in its ranking has the same place. ``other_page``: the text is not on the
    page that the row names. ``figures_differ``: what was found by likeness holds other digits.
    """

    row: GivenHit
    place: TextPlace | None
    best: float
    copies: int
    repeats: bool = False
    other_page: bool = False
    figures_differ: bool = False


def place_hits(
    rankings: Sequence[Sequence[GivenHit]],
    documents: Mapping[str, Document],
    threshold: float,
    left_out: Collection[str] = (),
    keep_unknown: bool = False,
) -> list[list[PlacedHit]]:
    """Place every hit of every ranking; the rows of a ranking are in rank order.

    Offsets are checked against the text, a page alone is the whole page without the space around it, a text
    is sought verbatim, then without whitespace, then by likeness of at least ``threshold``: in the
    document that the row names, else in all of them. Where it is several times, a place on the row's page
    comes first, then the first in the order of the documents, and the next ones go to further hits of the
    ranking with the same text.

    Hits in documents that were ``left_out`` have no place, and with ``keep_unknown`` those in unknown
    documents. Raises CorpusError for an unknown document, offsets or pages that do not fit, and a hit without
    a place that has no text.
    """
    rows = [row for ranking in rankings for row in ranking]
    meant = {row.document: _document_of(row, documents, left_out, keep_unknown) for row in rows}
    ids = {*documents, *left_out}
    shared = {name: _of_one_name(name, doc_id, ids) for name, doc_id in meant.items()}
    for row in rows:
        if shared[row.document] and not row.text:
            raise CorpusError(
                f"{row.where}: there are several files {row.document!r}, which differ in their ending alone "
                f"({listed(shared[row.document])} is another), and without text nothing tells from which one "
                "the offsets or the page were taken. Write the name with its ending, or fill text."
            )
    wanted = {
        (meant[row.document], row.text.strip())
        for row in rows
        if row.start is None and row.text and meant[row.document] != _NOWHERE
    }
    text_places = _find_texts(wanted, documents, threshold)
    return [_place_ranking(ranking, meant, text_places, documents) for ranking in rankings]


def placed_by_page(
    hits: Iterable[PlacedHit], documents: Mapping[str, Document], left_out: Collection[str] = ()
) -> list[PlacedHit]:
    """The hits, where each without a place that names a page of a known document is placed on that page.

    It stays without a place where that page is not there or has no text, and where the name means several
    files.
    """
    ids = {*documents, *left_out}
    placed = []
    for hit in hits:
        doc_id = None if hit.place or hit.row.page is None else named_document(hit.row.document, documents)
        if doc_id is None or _of_one_name(hit.row.document, doc_id, ids):
            placed.append(hit)
            continue
        try:
            place = whole_page(documents[doc_id], hit.row.page or 0, hit.row.where, CorpusError)
        except CorpusError:
            placed.append(hit)
        else:
            placed.append(replace(hit, place=replace(place, doc_id=doc_id), copies=1))
    return placed


Documents = Mapping[str, Document]
_NOWHERE = "\0nowhere"
_Wanted = tuple[str, str]
"""A document, or '' for any, and a text."""
_OnPage = tuple[str, str, int | None]
"""The same with the page that a row names."""
_Unused = tuple[TextPlace, Iterator[TextPlace]]
"""The first place of a text, and those that no hit of a ranking has had yet."""
_TextPlaces = dict[_Wanted, tuple[list[TextPlace], float]]
"""The places found, and the likeness of the best one, which need not be alike enough to be a place."""


def _document_of(row: GivenHit, documents: Documents, left_out: Collection[str], keep: bool) -> str:
    """The id of the document that a row names, which may be a path; '' where it names none."""
    if not row.document:
        return ""
    candidates = _candidates(row.document)
    if (doc_id := named_document(row.document, documents)) is not None:
        return doc_id
    if keep or any(candidate in left_out for candidate in candidates):
        return _NOWHERE
    raise CorpusError(
        f"{row.where}: there is no document {row.document!r}{suggestion(candidates[-1], documents)}. Correct "
        "the name, add the file to --documents, or count hits in other documents as unjudged text "
        "(--other-documents keep)."
    )


def _candidates(name: str) -> tuple[str, ...]:
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return (*possible_ids(name), *possible_ids(last))


def named_document(name: str, documents: Collection[str]) -> str | None:
    """The id of the document that a name means, which may be a path; None where there is none."""
    return next((candidate for candidate in _candidates(name) if candidate in documents), None)


def _of_one_name(name: str, doc_id: str, ids: Collection[str]) -> list[str]:
    """The other documents that a name without an ending may mean as well as ``doc_id``."""
    # of each name the one as it stands comes before the one without an ending
    return beside(doc_id, ids) if name and doc_id in _candidates(name)[::2] else []


def _place_ranking(
    rows: Iterable[GivenHit], meant: Mapping[str, str], text_places: _TextPlaces, documents: Documents
) -> list[PlacedHit]:
    occupied: set[tuple[str, int, int]] = set()
    unused: dict[_OnPage, _Unused] = {}
    placed = []
    for row in rows:
        hit = _place(row, meant[row.document], text_places, documents, occupied, unused)
        if hit.place is None:
            if not row.text:
                raise CorpusError(f"{row.where}: {row.document!r} was not read. Give the text of every hit.")
        else:
            key = (hit.place.doc_id, hit.place.start, hit.place.end)
            hit = replace(hit, repeats=key in occupied)
            occupied.add(key)
        placed.append(hit)
    return placed


def _place(
    row: GivenHit,
    doc_id: str,
    text_places: _TextPlaces,
    documents: Documents,
    occupied: Collection[tuple[str, int, int]],
    unused: dict[_OnPage, _Unused],
) -> PlacedHit:
    """The place of a row; ``unused`` are the places of each text and page that no hit above it has had.

    A place once taken stays so: the next hit with the text goes on where the last one stopped.
    """
    if doc_id == _NOWHERE:
        return PlacedHit(row, None, 0.0, 0)
    if row.start is not None or not row.text:
        return PlacedHit(row, _as_it_says(row, doc_id, documents), 100.0, 1)
    text = row.text.strip()
    candidates, best = text_places[doc_id, text]
    if not candidates:
        return PlacedHit(row, None, best, 0)
    places = unused.get((doc_id, text, row.page))
    if places is None:
        ordered = sorted(candidates, key=lambda place: not _touches(place, row.page, documents))
        places = unused[doc_id, text, row.page] = ordered[0], iter(ordered)
    first, rest = places
    place = next((place for place in rest if (place.doc_id, place.start, place.end) not in occupied), first)
    return PlacedHit(
        row,
        place,
        place.score,
        len(candidates),
        other_page=row.page is not None and not _touches(place, row.page, documents),
        figures_differ=figures_differ(place.method, row.text, place.text_in(documents[place.doc_id])),
    )


def _touches(place: TextPlace, page: int | None, documents: Documents) -> bool:
    """Whether some of a place is on a page."""
    if page is None:
        return False
    document = documents[place.doc_id]
    first, last = document.page_of(place.start), document.page_of(place.end - 1)
    return first is None or last is None or first <= page <= last


def _as_it_says(row: GivenHit, doc_id: str, documents: Documents) -> TextPlace:
    """The place of a row that gives offsets, or a page and no text."""
    if not doc_id:
        raise CorpusError(f"{row.where}: start and end need a document. Name it, or leave them out.")
    document = documents[doc_id]
    if row.start is not None and row.end is not None:
        place = by_offsets(document, row.start, row.end, row.text, row.where, CorpusError)
    else:
        place = whole_page(document, row.page or 0, row.where, CorpusError)
    return replace(place, doc_id=doc_id)


def _find_texts(wanted: Collection[_Wanted], documents: Documents, threshold: float) -> _TextPlaces:
    """The places of every text. Document by document, as the reduced forms of all would fill the memory."""
    places: dict[_Wanted, list[TextPlace]] = {key: [] for key in wanted}
    for document in documents.values():
        for key in _of(document, places):
            spans = [(at, at + len(key[1])) for at in _occurrences(key[1], document.text)]
            places[key] += [TextPlace("exact", *span, doc_id=document.doc_id) for span in spans]
    unlike = [key for key, copies in places.items() if not copies]
    for document in documents.values():
        if missing := _of(document, unlike):
            view = whitespace_free(document.text)
            for key in missing:
                needle = whitespace_free(key[1]).text
                spans = [view.source_span(at, at + len(needle)) for at in _occurrences(needle, view.text)]
                places[key] += [TextPlace("whitespace_free", *span, doc_id=document.doc_id) for span in spans]
    text_places: _TextPlaces = {key: (copies, 100.0 if copies else 0.0) for key, copies in places.items()}
    nowhere = sorted(key for key, copies in places.items() if not copies)
    for doc_id, keys in _likeliest_documents(nowhere, documents).items():
        searcher = Searcher(documents[doc_id])
        for key in keys:
            place = replace(searcher.find(key[1], None), doc_id=doc_id)
            if place.score > text_places[key][1]:
                text_places[key] = ([place] if place.score >= threshold else [], place.score)
    return text_places


def _of(document: Document, keys: Iterable[_Wanted]) -> list[_Wanted]:
    return [key for key in keys if key[0] in ("", document.doc_id)]


def _occurrences(needle: str, text: str) -> list[int]:
    """Where ``needle`` begins, without overlaps; none for an empty one."""
    starts: list[int] = []
    at = text.find(needle) if needle else -1
    while at >= 0 and len(starts) < _MOST_COPIES:
        starts.append(at)
        at = text.find(needle, at + len(needle))
    return starts


def _likeliest_documents(keys: Sequence[_Wanted], documents: Documents) -> dict[str, list[_Wanted]]:
    """By document, the texts that name it, and those of which it is one of the few that hold the most."""
    anywhere = {key: seeds(folded(key[1]).text) for key in keys if not key[0]}
    shared: dict[_Wanted, list[tuple[int, str]]] = {key: [] for key in anywhere}
    if anywhere:
        for document in documents.values():
            text = folded(document.text).text
            for key, needle_seeds in anywhere.items():
                if count := sum(seed in text for seed in needle_seeds):
                    shared[key].append((-count, document.doc_id))
    best = {
        # a document with less than half as many is not where the text comes from
        key: [doc_id for count, doc_id in sorted(counts)[:_ALIGNED_DOCUMENTS] if 2 * count <= min(counts)[0]]
        for key, counts in shared.items()
    }
    return by_key((doc_id, key) for key in keys for doc_id in ([key[0]] if key[0] else best[key]))
