"""Answered queries as a corpus folder; a file of them has the columns of ragas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data.corpus.importers.beir import ImportSummary, new_corpus_folder, write_text
from harness.data.external.answer_files import AnsweredQuery, read_answers, write_answers
from harness.values import by_key, delimited_text, encodable, golden_cell, guide, text_sha256

_ODD = re.compile(r"[^\w.-]+")
_LONGEST = 80
_README = Path(__file__).parent / "assets" / "ragas.md"


def import_ragas(source: Path, target: Path) -> ImportSummary:
    """A file with ragas' columns as a corpus folder.

    Raises CorpusError where the file cannot be read or the folder exists.
    """
    return write_corpus(read_answers(source), source, target, "ragas")


def write_corpus(
    exchanges: Sequence[AnsweredQuery],
    source: Path,
    target: Path,
    format_name: str,
    notes: Iterable[str] = (),
) -> ImportSummary:
    """The corpus folder of answered queries; ``notes`` come before those on the queries.

    Raises CorpusError where the folder exists.
    """
    names = _document_names(exchanges)
    firsts: dict[str, str] = {}
    for exchange in exchanges:
        firsts.setdefault(exchange.question, exchange.query_id)
    with new_corpus_folder(target) as folder:
        (folder / "documents").mkdir()
        read = (passage for exchange in exchanges for passage in exchange.read if passage.text)
        for name, parts in by_key(
            (names[passage.document, passage.text], passage.text) for passage in read
        ).items():
            # distinct passages, in the order in which they were first retrieved
            text = encodable("\n\n".join(dict.fromkeys(parts)))
            write_text(folder / "documents" / name, f"{text}\n")
        queries = [
            (
                exchange.query_id,
                encodable(exchange.question),
                "yes" if exchange.answerable else "no",
                firsts[exchange.question],
                encodable(golden_cell(exchange.references)),
            )
            for exchange in exchanges
        ]
        columns = ("query_id", "text", "answerable", "cluster", "answer")
        write_text(folder / "queries.csv", delimited_text([columns, *queries]))
        hits = [json.dumps(row, ensure_ascii=False) for row in _hits(exchanges, names)]
        write_text(folder / "hits.jsonl", "".join(f"{row}\n" for row in hits))
        write_answers(exchanges, folder / "answers.jsonl")
        labelling = guide("labelling.md")
        readme = _README.read_text(encoding="utf-8").format(
            title=target.name, format=format_name, source=source.name, folder=target, guide=labelling
        )
        write_text(folder / "README.md", readme)
    return ImportSummary(target, len(set(names.values())), len(exchanges), 0, (*notes, *_notes(exchanges)))


def _document_names(exchanges: Iterable[AnsweredQuery]) -> dict[tuple[str, str], str]:
    """The file of each passage by (document, text): one a document, or one a passage without a document."""
    names: dict[tuple[str, str], str] = {}
    sha_of_name: dict[str, str] = {}
    for passage in (passage for exchange in exchanges for passage in exchange.read if passage.text):
        sha = text_sha256(passage.document or passage.text)
        wanted = _plain(passage.document) or f"passage-{sha[:12]}"
        if sha_of_name.setdefault(wanted.lower(), sha) != sha:
            wanted = f"{wanted}-{sha[:12]}"
        names[passage.document, passage.text] = f"{wanted}.txt"
    return names


def _plain(document: str) -> str:
    """The name that a source gives a document as a file name: its last words, where it is a path."""
    return _ODD.sub("_", document).strip("._-")[-_LONGEST:].lstrip("._-")


def _hits(
    exchanges: Iterable[AnsweredQuery], names: Mapping[tuple[str, str], str]
) -> Iterator[dict[str, Any]]:
    """A row per passage whose text is known; ranks count those alone."""
    for exchange in exchanges:
        passages = [passage for passage in exchange.read if passage.text]
        for rank, passage in enumerate(passages, start=1):
            document = names[passage.document, passage.text]
            text = encodable(passage.text)
            yield {"query_id": exchange.query_id, "rank": rank, "document": document, "text": text}


def _notes(exchanges: Sequence[AnsweredQuery]) -> list[str]:
    notes = []
    if again := len(exchanges) - len({exchange.question for exchange in exchanges}):
        notes.append(f"Questions asked before in the same words: {again}; they are in one cluster each.")
    if unanswered := sum(exchange.answer is None for exchange in exchanges):
        notes.append(f"Questions without an answer: {unanswered}.")
    if nothing := sum(not exchange.read for exchange in exchanges):
        notes.append(f"Questions for which nothing was retrieved: {nothing}.")
    return notes
