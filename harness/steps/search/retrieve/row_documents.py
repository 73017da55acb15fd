"""Which document a row of a store is of, by the name that the row gives and by its key."""

from __future__ import annotations

import re
from urllib.parse import quote

from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.stored import PassageKeys, StoredRow
from harness.values import key_of

# longer names are cut, and told apart by a hash
_LONGEST = 120
# of a passage that repeats another: its document, and which repetition it is
_REPEATED = re.compile(r"~\d+$")


def passage_id(key: str) -> str:
    """The document that a row is by itself: its key, with what no file name may hold in percents."""
    name = quote(key, safe="()+,=@")
    if name.startswith("."):
        # a glob does not name such files
        name = f"%2E{name[1:]}"
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}-{key_of(key)[:12]}"


def documents_of_row(row: StoredRow, keys: PassageKeys, text: str) -> set[str]:
    """The ids that the document of a row may have: by its name, with or without an ending, or by its key."""
    name = re.split(r"[/\\]", keys.document_of(row.payload, text))[-1]
    return {name, name.rpartition(".")[0], passage_id(row.key)} - {""}


def document_at(passages: Passages, place: int) -> str:
    """The document of a passage: its source, or else by its id ``document:start-end``; '' for none."""
    if passages.sources:
        return passages.sources[place]
    return _REPEATED.sub("", passages.ids[place].rpartition(":")[0])
