"""What is odd about the passages of an existing collection: said before the search, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import values
from harness.comparison import sentence_of
from harness.data import PlacedHit, named_document
from harness.running.config.models import Setting
from harness.running.corpus import Corpus
from harness.running.note_wordings import STORED
from harness.running.notes import RunNotes
from harness.running.page_faults import WordedAs, row_name
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
        outside = str(len(stored.outside))
        notes.reporter.note(
            values.worded(STORED, "stored.outside", setting=setting.name, outside=outside, passages=of)
        )
    present = {hit.place.doc_id for hit in hits if hit.place is not None}
    characters = np.array([len(hit.row.text) for hit in hits])
    low, middle, high = np.percentile(characters, [5, 50, 95])
    held = values.worded(
        STORED,
        "stored.held" if stored.facts.index else "stored.held.unsaid",
        setting=setting.name,
        passages=values.counted(len(hits), "passage"),
        middle=f"{middle:.0f}",
        low=f"{low:.0f}",
        high=f"{high:.0f}",
        placed=str(sum(hit.place is not None for hit in hits)),
        documents=values.counted(len(present), "document"),
        index=stored.facts.index,
    )
    notes.reporter.note(held)
    if stored.passing is not None:
        rows = values.counted(stored.facts.rows, "row")
        share = stored.passing / max(1, stored.facts.rows)
        passing = values.worded(
            STORED,
            "stored.passing",
            setting=setting.name,
            passing=str(stored.passing),
            rows=rows,
            share=f"{share:.1%}",
            words=only_in_words(collection_searched(setting)),
        )
        notes.reporter.note(passing)
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
    for code, shown in odd.warnings(stored):
        notes.warn(sentence_of(code, setting=setting.name, **shown), settings=[setting.name])
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

    def warnings(self, stored: StoredPassages) -> Iterator[WordedAs]:
        """A warning for each of these that occurs."""
        passages = values.counted(len(stored.placed), "passage")
        yield from (("hits.store", {"fact": fact}) for fact in stored.facts.notes)
        if self.unplaced:
            texts = "; ".join(repr(values.snippet(hit.row.text, 60)) for hit in self.unplaced[:_SHOWN])
            yield "hits.unplaced", {"odd": len(self.unplaced), "passages": passages, "texts": texts}
        if self.by_page:
            yield "hits.by page", {"odd": self.by_page, "passages": passages}
        if self.other_page:
            first_page = str(stored.first_page)
            yield (
                "hits.page differs",
                {"odd": self.other_page, "passages": passages, "first_page": first_page},
            )
        yield from stored.pages.warnings(stored.first_page)
        if stored.blank:
            rows = values.listed([row_name(hit.row) for hit in stored.blank], _SHOWN)
            yield "hits.blank", {"count": len(stored.blank), "rows": rows}
        if self.copies:
            yield "hits.copies", {"odd": self.copies, "passages": passages}
        if stored.unnamed:
            yield "hits.unnamed", {"names": values.listed(list(stored.names), _SHOWN)}
        if self.gone:
            yield "hits.gone", {"documents": values.listed(self.gone, _SHOWN)}
        if self.absent:
            yield "hits.absent", {"documents": values.listed(self.absent, _SHOWN)}
