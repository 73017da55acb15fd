"""What is odd about the passages of an existing collection: said before the search, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import values
from harness.data import PlacedHit, named_document
from harness.running.config.models import Setting
from harness.running.corpus import Corpus
from harness.running.notes import RunNotes
from harness.running.page_faults import row_name
from harness.running.pipeline import collection_searched
from harness.running.stored_passages import StoredPassages, only_in_words

_SHOWN = 3


def tell(setting: Setting, stored: StoredPassages, corpus: Corpus, notes: RunNotes) -> dict[str, Any]:
    """Say what a collection holds: passages and how they were placed, copies, and stale documents both ways.

    Returns the counts for the record.
    """
    hits = stored.placed
    if stored.outside:
        of = values.counted(len(hits) + len(stored.outside), "passage")
        notes.reporter.note(
            f"{setting.name}: {len(stored.outside)} of {of} are of documents outside the part, and "
            "are not found."
        )
    present = {hit.place.doc_id for hit in hits if hit.place is not None}
    characters = np.array([len(hit.row.text) for hit in hits])
    low, middle, high = np.percentile(characters, [5, 50, 95])
    notes.reporter.note(
        f"{setting.name}: {values.counted(len(hits), 'passage')} in the collection, {middle:.0f} characters "
        f"at the median ({low:.0f} to {high:.0f} for most); "
        f"{sum(hit.place is not None for hit in hits)} placed in {values.counted(len(present), 'document')}. "
        f"Index: {stored.facts.index or 'the store does not say'}."
    )
    if stored.passing is not None:
        rows = values.counted(stored.facts.rows, "row")
        share = stored.passing / max(1, stored.facts.rows)
        notes.reporter.note(
            f"{setting.name}: {stored.passing} of {rows} ({share:.1%}) have "
            f"{only_in_words(collection_searched(setting))}; no other is searched."
        )
    doc_ids = corpus.by_id.keys() | {file.doc_id for file in corpus.outside}
    named = {name: named_document(name, doc_ids) for name in stored.names}
    odd = _Odd(
        [hit for hit in hits if hit.place is None],
        sum(hit.place is not None and hit.place.method == "page" for hit in hits),
        sum(hit.other_page for hit in hits),
        len(hits) - len({hit.row.text for hit in hits}),
        [] if stored.unnamed else [theirs for theirs, ours in named.items() if ours is None],
        [doc_id for doc_id in corpus.by_id if doc_id not in present],
    )
    for text in odd.sentences(stored):
        notes.warn("hits", f"{setting.name}: {text}", settings=[setting.name])
    return {
        "stored_passages": len(hits),
        "stored_rows": stored.facts.rows,
        **({} if stored.passing is None else {"stored_passing": stored.passing}),
        **({} if stored.facts.bytes is None else {"stored_bytes": stored.facts.bytes}),
        **({"stored_outside_part": len(stored.outside)} if corpus.outside else {}),
        "stored_unplaced": len(odd.unplaced),
        "stored_by_page": odd.by_page,
        "stored_other_page": odd.other_page,
        "stored_page_zero": len(stored.pages.zero),
        "stored_page_unread": len(stored.pages.unread),
        "stored_page_beyond": len(stored.pages.beyond),
        "stored_blank": len(stored.blank),
        "stored_copies": odd.copies,
        "stored_documents_gone": len(odd.gone),
        "stored_documents_absent": len(odd.absent),
    }


@dataclass(frozen=True, slots=True)
class _Odd:
    """What is odd about the passages of a collection.

    ``by_page`` counts those placed by page only, ``other_page`` those found on another page than their row
    says. ``gone`` documents are in the collection but not among the files, ``absent`` ones the reverse.
    """

    unplaced: list[PlacedHit]
    by_page: int
    other_page: int
    copies: int
    gone: list[str]
    absent: list[str]

    def sentences(self, stored: StoredPassages) -> Iterator[str]:
        """A warning for each of these that occurs."""
        of = values.counted(len(stored.placed), "passage")
        yield from (f"{note}." for note in stored.facts.notes)
        if self.unplaced:
            texts = "; ".join(repr(values.snippet(hit.row.text, 60)) for hit in self.unplaced[:_SHOWN])
            yield (
                f"{len(self.unplaced)} of {of} are in no document, and count as unjudged text at their ranks "
                f"({texts})."
            )
        if self.by_page:
            yield (
                f"{self.by_page} of {of} are placed by page only, as their text is not in the document: each "
                "counts as its whole page, with all labels and all text there."
            )
        if self.other_page:
            yield (
                f"{self.other_page} of {of} were found by their text on another page than their row says. "
                f"retrieve.first_page is {stored.first_page}: check that the store gives this number to the "
                "first page of a document."
            )
        yield from stored.pages.sentences(stored.first_page)
        if stored.blank:
            rows = values.counted(len(stored.blank), "row has", "rows have")
            where = values.listed([row_name(hit.row) for hit in stored.blank], _SHOWN)
            yield (
                f"{rows} neither text nor page ({where}): where the store returns one, it counts as unjudged "
                "text at its rank."
            )
        if self.copies:
            yield (
                f"{self.copies} of {of} repeat the text of another: each takes a rank, but only the first "
                "gains."
            )
        if stored.unnamed:
            yield (
                f"no document that the collection names ({values.listed(list(stored.names), _SHOWN)}) is "
                "among the files, so passages were sought in all documents. Set retrieve.document to the key "
                "that holds the name of the file."
            )
        if self.gone:
            yield (
                "documents in the collection that are not among the files: "
                f"{values.listed(self.gone, _SHOWN)}."
            )
        if self.absent:
            yield f"files without a passage in the collection: {values.listed(self.absent, _SHOWN)}."
