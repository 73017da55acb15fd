"""A file of answers with the columns of ragas as a corpus folder."""

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
    exchanges = read_answers(source)
    names = _document_names(exchanges)
    firsts: dict[str, str] = {}
    for one in exchanges:
        firsts.setdefault(one.question, one.query_id)
    with new_corpus_folder(target) as folder:
        (folder / "documents").mkdir()
        read = (passage for one in exchanges for passage in one.read if passage.text)
        for name, parts in by_key((names[one.document, one.text], one.text) for one in read).items():
            # distinct passages, in the order in which they were first retrieved
            text = encodable("\n\n".join(dict.fromkeys(parts)))
            write_text(folder / "documents" / name, f"{text}\n")
        queries = [
            (
                one.query_id,
                encodable(one.question),
                "yes" if one.answerable else "no",
                firsts[one.question],
                encodable(golden_cell(one.references)),
            )
            for one in exchanges
        ]
        columns = ("query_id", "text", "answerable", "cluster", "answer")
        write_text(folder / "queries.csv", delimited_text([columns, *queries]))
        hits = [json.dumps(row, ensure_ascii=False) for row in _hits(exchanges, names)]
        write_text(folder / "hits.jsonl", "".join(f"{row}\n" for row in hits))
        write_answers(exchanges, folder / "answers.jsonl")
        labelling = guide("labelling.md")
        readme = _README.read_text(encoding="utf-8").format(
            title=target.name, source=source.name, folder=target, guide=labelling
        )
        write_text(folder / "README.md", readme)
    return ImportSummary(target, len(set(names.values())), len(exchanges), 0, tuple(_notes(exchanges)))


def _document_names(exchanges: Iterable[AnsweredQuery]) -> dict[tuple[str, str], str]:
    """The file of each passage by (document, text): one a document, or one a passage without a document."""
    names: dict[tuple[str, str], str] = {}
    taken: dict[str, str] = {}
    for passage in (passage for one in exchanges for passage in one.read if passage.text):
        sha = text_sha256(passage.document or passage.text)
        wanted = _plain(passage.document) or f"passage-{sha[:12]}"
        if taken.setdefault(wanted.lower(), sha) != sha:
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
    for one in exchanges:
        known = [passage for passage in one.read if passage.text]
        for rank, passage in enumerate(known, start=1):
            document = names[passage.document, passage.text]
            text = encodable(passage.text)
            yield {"query_id": one.query_id, "rank": rank, "document": document, "text": text}


def _notes(exchanges: Sequence[AnsweredQuery]) -> list[str]:
    notes = []
    if again := len(exchanges) - len({one.question for one in exchanges}):
        notes.append(f"Questions asked before in the same words: {again}; they are in one cluster each.")
    if unanswered := sum(one.answer is None for one in exchanges):
        notes.append(f"Questions without an answer: {unanswered}.")
    if nothing := sum(not one.read for one in exchanges):
        notes.append(f"Questions for which nothing was retrieved: {nothing}.")
    return notes
