"""The passages of a collection as documents, as files in the cache, where its own files are not at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from harness import data
from harness.running.config.models import BenchConfig
from harness.running.note_wordings import CORPUS
from harness.steps import passage_id, store_faults
from harness.store import key_of, write_text
from harness.values import ConfigError, Document, HarnessError, listed, worded

SCHEME = "passages://"


def takes_passages(config: BenchConfig) -> bool:
    """Whether the documents are passages of a collection; ConfigError where that is written in capitals."""
    for pattern in config.documents:
        if pattern.lower().startswith(SCHEME) and not pattern.startswith(SCHEME):
            raise ConfigError(
                f"documents: write {pattern} in small letters: {SCHEME}{pattern[len(SCHEME) :]}."
            )
    return any(pattern.startswith(SCHEME) for pattern in config.documents)


def are_documents(config: BenchConfig, retrieve: Any) -> bool:
    """Whether the passages of a collection are the documents."""
    return f"{SCHEME}{retrieve.collection}" in config.documents


def with_passages(config: BenchConfig, folder: Path, note: Callable[[str], None]) -> list[str]:
    """The globs of the documents, ``passages://NAME`` replaced by files below ``folder`` with its passages.

    Raises ConfigError where no setting searches that collection as it is, or several of the name, and where
    there are files besides: a passage and its document would hold the same text.
    """
    collections = [pattern for pattern in config.documents if pattern.startswith(SCHEME)]
    if not collections:
        return list(config.documents)
    if len(config.documents) > 1:
        raise ConfigError(
            f"documents: {collections[0]} makes the passages of a collection the documents, so nothing else "
            "can be one. Name nothing beside it, or name the files that the collection was filled from."
        )
    (pattern,) = collections
    existing = config.existing
    named = {
        repr([retrieve.where, retrieve.keys]): retrieve
        for retrieve in existing
        if f"{SCHEME}{retrieve.collection}" == pattern
    }
    if len(named) != 1:
        names = listed([f"{SCHEME}{retrieve.collection}" for retrieve in existing]) or "none"
        raise ConfigError(
            f"documents: {pattern} is {'no' if not named else 'more than one'} collection that a setting "
            f"searches with existing: true (there: {names}). Name one collection of one store."
        )
    ((facts, retrieve),) = named.items()
    place = folder / f"passages-{key_of(facts, retrieve.collection)[:24]}"
    texts = _texts(retrieve)
    note(worded(CORPUS, "documents.passages", collection=retrieve.collection, passages=len(texts)))
    _write(place, texts)
    return [str(place / "*.txt")]


def labels_by_file(
    config: BenchConfig, rows: Sequence[data.LabelRow], files: Sequence[data.DocumentFile]
) -> Sequence[data.LabelRow]:
    """Label rows with the documents of ``files``: those of passages name theirs by its key or its text.

    Raises LabelError for all rows that name no passage.
    """
    if not takes_passages(config):
        return rows
    passages = {
        file.doc_id: Document(file.doc_id, file.path.read_text(encoding="utf-8"), (), "") for file in files
    }
    return data.with_passages_named(rows, passages, passage_id)


def _texts(retrieve: Any) -> dict[str, str]:
    where = f"{retrieve.where}, {retrieve.collection}"
    with store_faults(where, retrieve.timeout), retrieve.reading(retrieve.collection) as store:
        rows = [(row.key, retrieve.keys.text_of(row.payload)) for row in store.rows()]
        texts = {passage_id(key): text for key, text in rows if text is not None and text.strip()}
    refuse_empty(where, len(rows))
    if not texts:
        raise HarnessError(
            f"{where}: no row has a text under {retrieve.text or 'the usual keys'}, so none can be a "
            "document. Set retrieve.text to the key of the text."
        )
    return texts


def refuse_empty(where: str, rows: int) -> None:
    """Raise HarnessError where a collection has no row."""
    if not rows:
        raise HarnessError(
            f"{where}: the collection is there and holds no row, so it cannot be scored. Fill it, or name "
            "the collection that is filled as retrieve.collection."
        )


def _write(place: Path, texts: dict[str, str]) -> None:
    """A file for each text, and no others; what is there as it should be is left alone."""
    place.mkdir(parents=True, exist_ok=True)
    _remove(path for path in place.glob("*.txt") if path.stem not in texts)
    for name, text in texts.items():
        path = place / f"{name}.txt"
        # as bytes: line ends are part of a passage
        if not path.is_file() or path.read_bytes() != text.encode("utf-8"):
            write_text(path, text)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
