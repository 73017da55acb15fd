"""Questions that another pipeline has answered: files with the columns of ragas, and corpus folders."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from harness.data.corpus.importers.beir import ImportSummary, new_corpus_folder, write_text
from harness.data.corpus.inputs import input_table, read_rows
from harness.measures import Case
from harness.values import (
    Chunk,
    Column,
    CorpusError,
    Query,
    by_key,
    counted,
    delimited_text,
    encodable,
    golden_answers,
    golden_cell,
    guide,
    id_of_query,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was read: its text ('' where only its id is known), its document and id where known."""

    text: str
    document: str = ""
    passage_id: str = ""


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A question, the passages read for it, in order, and the answer.

    ``answer`` None: there is none, and ``reason`` says why. ``cited`` are 0-based indexes into ``read``.
    ``references`` are the golden answers, of which each is right, ``evidence`` the texts that hold them.
    ``where`` is where it is in a file, for messages.
    """

    query_id: str
    question: str
    read: tuple[Passage, ...]
    answer: str | None
    reason: str = ""
    references: tuple[str, ...] = ()
    answerable: bool = True
    cited: tuple[int, ...] = ()
    where: str = ""
    evidence: tuple[str, ...] = ()

    def as_case(self) -> Case:
        """The case for measures of answers; each passage is its own document, since its place is unknown."""
        query = Query(self.query_id, self.question, "train", self.answerable)
        shown = tuple(
            Chunk(
                passage.passage_id or f"{self.query_id}#{place}",
                passage.document or f"{self.query_id}#{place}",
                0,
                len(passage.text),
                passage.text,
            )
            for place, passage in enumerate(self.read, start=1)
        )
        return Case(query, shown, self.answer, self.reason, self.references, self.cited)


def _listed(text: str) -> list[Any]:
    """The list in a cell, written as JSON or as Python writes it."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list | tuple):
            return list(found)
    raise ValueError(f'is not a list: {text[:60]!r}. Write it as ["…", "…"].')


def _names(text: str) -> list[str]:
    return list(map(str, _listed(text)))


def _texts(text: str) -> list[str]:
    found = _listed(text)
    if not all(isinstance(one, str) for one in found):
        raise ValueError("has an entry that is not text. Write a list of texts.")
    return found


def _places(text: str) -> tuple[int, ...]:
    found = _listed(text)
    if not all(isinstance(one, int) and not isinstance(one, bool) and one >= 1 for one in found):
        raise ValueError(f"is {text}. It lists numbers of contexts, from 1 to the last one.")
    return tuple(one - 1 for one in found)


@input_table("answers", "questions that another pipeline has answered", CorpusError)
@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """One question, what was read for it, and the answer; columns are called as in ragas, new or old.

    Lists are in cells as JSON or as Python writes them.
    """

    user_input: Annotated[str, Column("the question", names=("question", "query", "text"), filled=True)]
    query_id: Annotated[str, Column("its id; default: q1, q2, …", names=("id", "qid"), read=id_of_query)] = ""
    retrieved_contexts: Annotated[
        Sequence[str],
        Column("the passages that were read", names=("contexts", "passages"), read=_texts),
    ] = ()
    retrieved_context_ids: Annotated[Sequence[str], Column("the id of each passage", read=_names)] = ()
    documents: Annotated[Sequence[str], Column("the document of each passage", read=_names)] = ()
    response: Annotated[str, Column("the answer; empty: there is none", names=("answer",))] = ""
    reason: Annotated[str, Column("why there is none")] = "the file has no answer"
    reference: Annotated[
        Sequence[str],
        Column("the golden answer, or a list of them", names=("ground_truth", "golden"), read=golden_answers),
    ] = ()
    other_references: Annotated[Sequence[str], Column("further golden answers", read=golden_answers)] = ()
    answerable: Annotated[bool, Column("whether the documents hold an answer")] = True
    cited: Annotated[tuple[int, ...], Column("the passages that the answer cites, from 1", read=_places)] = ()
    reference_contexts: Annotated[
        Sequence[str], Column("the passages that hold the golden answer; for a test set", read=_texts)
    ] = ()
    where: str = ""


def read_answers(path: Path) -> list[AnsweredQuery]:
    """The answered questions of a ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx`` file; see `AnsweredRow`.

    Raises CorpusError that names all lines at fault.
    """
    found: dict[str, AnsweredQuery] = {}
    for number, row in enumerate(read_rows(path, AnsweredRow, fault=_fault), start=1):
        count = len(row.retrieved_contexts)
        documents, ids = (own or [""] * count for own in (row.documents, row.retrieved_context_ids))
        answered = AnsweredQuery(
            row.query_id or f"q{number}",
            row.user_input,
            tuple(map(Passage, row.retrieved_contexts, documents, ids)),
            row.response or None,
            "" if row.response else row.reason,
            tuple(dict.fromkeys((*row.reference, *row.other_references))),
            row.answerable,
            row.cited,
            row.where,
            tuple(row.reference_contexts),
        )
        first = found.setdefault(answered.query_id, answered)
        if first is not answered:
            raise CorpusError(
                f"{row.where}: query_id {answered.query_id!r} is already there ({first.where}). Give each "
                "question its own id."
            )
    return list(found.values())


def _fault(row: AnsweredRow) -> str:
    if row.user_input.startswith('[{"'):
        return "user_input holds messages. Write one question: only single turns are read."
    count = len(row.retrieved_contexts)
    for column in ("documents", "retrieved_context_ids"):
        if (own := getattr(row, column)) and len(own) != count:
            entries, contexts = counted(len(own), "entry", "entries"), counted(count, "context")
            return f"{column} has {entries} for {contexts}. Write one for each."
    return (
        f"cited names a context beyond the last one, {count}. Correct it."
        if max(row.cited, default=-1) >= count
        else ""
    )


def write_answers(exchanges: Iterable[AnsweredQuery], path: Path) -> int:
    """Write JSON Lines with ragas' columns and ours; returns the number of rows. Unknown values are left out.

    The file must not be there yet, else CorpusError.
    """
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            rows = [json.dumps(_row(one), ensure_ascii=False) for one in exchanges]
            file.writelines(f"{row}\n" for row in rows)
    except FileExistsError:
        raise CorpusError(f"{path} exists already. Remove it, or name another file.") from None
    return len(rows)


def _row(one: AnsweredQuery) -> dict[str, Any]:
    row: dict[str, Any] = {
        "query_id": one.query_id,
        "user_input": encodable(one.question),
        "retrieved_contexts": [encodable(passage.text) for passage in one.read],
    }
    if one.answer is not None:
        row["response"] = encodable(one.answer)
    if one.references:
        row["reference"] = golden_cell((encodable(one.references[0]),))
    if one.references[1:]:
        row["other_references"] = list(map(encodable, one.references[1:]))
    if any(passage.document for passage in one.read):
        row["documents"] = [passage.document for passage in one.read]
    if any(passage.passage_id for passage in one.read):
        row["retrieved_context_ids"] = [passage.passage_id for passage in one.read]
    if one.cited:
        row["cited"] = [place + 1 for place in one.cited]
    if not one.answerable:
        row["answerable"] = False
    if one.reason:
        row["reason"] = one.reason
    return row


_ODD = re.compile(r"[^\w.-]+")
_LONGEST = 80
_README = """# {title}

Written by `harness import ragas` from {source}.

- `queries.csv`: the questions. Questions with the same words are one cluster. `answer` is the golden answer.
- `documents/`: what was retrieved, as far as it is known: a file per document that the source names, else a
  file per passage. Put the whole documents in their place if you have them.
- `hits.jsonl`: what was retrieved for each question, in its order.
- `answers.jsonl`: questions, what was read and answered, with the columns of ragas.

Score the answers, and, once there are labels ({guide}), what was retrieved:

    harness score-answers {folder}/answers.jsonl
    harness score --hits {folder}/hits.jsonl --queries {folder}/queries.csv \\
        --labels {folder}/labels.csv --documents '{folder}/documents/*'
"""


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
        readme = _README.format(title=target.name, source=source.name, folder=target, guide=labelling)
        write_text(folder / "README.md", readme)
    return ImportSummary(target, len(set(names.values())), len(exchanges), 0, tuple(_notes(exchanges)))


def _document_names(exchanges: Iterable[AnsweredQuery]) -> dict[tuple[str, str], str]:
    """The file of each passage by (document, text): one a document, or one a passage without a document."""
    names: dict[tuple[str, str], str] = {}
    taken: dict[str, str] = {}
    for passage in (passage for one in exchanges for passage in one.read if passage.text):
        sha = hashlib.sha256((passage.document or passage.text).encode("utf-8", "surrogatepass")).hexdigest()
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
) -> Iterable[dict[str, str | int]]:
    """A row per passage whose text is known; ranks count those alone."""
    for one in exchanges:
        known = [passage for passage in one.read if passage.text]
        for rank, passage in enumerate(known, start=1):
            document = names[passage.document, passage.text]
            text = encodable(passage.text)
            yield {"query_id": one.query_id, "rank": rank, "document": document, "text": text}


def _notes(exchanges: Sequence[AnsweredQuery]) -> list[str]:
    notes = []
    asked = Counter(one.question for one in exchanges)
    if (again := len(exchanges) - len(asked)) > 0:
        notes.append(f"Questions asked before in the same words: {again}; they are in one cluster each.")
    if unanswered := sum(one.answer is None for one in exchanges):
        notes.append(f"Questions without an answer: {unanswered}.")
    if nothing := sum(not one.read for one in exchanges):
        notes.append(f"Questions for which nothing was retrieved: {nothing}.")
    return notes
