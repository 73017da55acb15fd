"""Questions that another pipeline has answered: files with the columns of ragas."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from harness.data.corpus.inputs import input_table, read_rows
from harness.measures import Case
from harness.steps import words_of
from harness.values import (
    Chunk,
    Column,
    CorpusError,
    Query,
    counted,
    encodable,
    golden_answers,
    golden_cell,
    golden_parts,
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
    ``references`` are the golden answers, of which each is right, ``evidence`` the texts that hold them,
    ``parts`` those that an answer needs, each with its wordings; none: a golden answer is one part.
    ``where`` is where it is in a file, for messages; ``time`` when it was answered, in ISO 8601, '' where
    unknown.
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
    parts: tuple[tuple[str, ...], ...] = ()
    time: str = ""

    def as_case(self) -> Case:
        """The case for measures of answers; each passage is its own document, since its place is unknown."""
        query = Query(self.query_id, self.question, "train", self.answerable)
        shown = []
        for place, passage in enumerate(self.read, start=1):
            unnamed = f"{self.query_id}#{place}"
            ids = passage.passage_id or unnamed, passage.document or unnamed
            shown.append(Chunk(*ids, 0, len(passage.text), passage.text))
        # as in a run, what is cited is kept apart from the text
        answer = words_of(self.answer, cites=bool(self.cited))
        return Case(query, tuple(shown), answer, self.reason, self.references, self.cited, parts=self.parts)


def _listed(text: str) -> list[Any]:
    """The list in a cell, written as JSON or as Python writes it."""
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list | tuple):
            return list(value)
    raise ValueError(f'is not a list: {text[:60]!r}. Write it as ["…", "…"].')


def _names(text: str) -> list[str]:
    return list(map(str, _listed(text)))


def _texts(text: str) -> list[str]:
    texts = _listed(text)
    if not all(isinstance(entry, str) for entry in texts):
        raise ValueError("has an entry that is not text. Write a list of texts.")
    return texts


def _places(text: str) -> tuple[int, ...]:
    numbers = _listed(text)
    if not all(
        isinstance(number, int) and not isinstance(number, bool) and number >= 1 for number in numbers
    ):
        raise ValueError(f"is {text}. It lists numbers of contexts, from 1 to the last one.")
    return tuple(number - 1 for number in numbers)


def _time(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"is {text[:40]!r}, which is not a time. Write it as 2026-03-31T09:00:00Z."
        ) from None
    return text


@input_table("answers", "questions that another pipeline has answered", CorpusError)
@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """One question, what was read for it, and the answer; columns are called as in ragas, new or old.

    Lists are in cells as JSON or as Python writes them.
    """

    user_input: Annotated[str, Column("the question", names=("question", "query", "text"), filled=True)]
    query_id: Annotated[str, Column("its id; default: q1, q2, …", names=("id", "qid"), read=id_of_query)] = ""
    retrieved_contexts: Annotated[
        Sequence[str], Column("the passages that were read", names=("contexts", "passages"), read=_texts)
    ] = ()
    retrieved_context_ids: Annotated[Sequence[str], Column("the id of each passage", read=_names)] = ()
    documents: Annotated[Sequence[str], Column("the document of each passage", read=_names)] = ()
    response: Annotated[str, Column("the answer; empty: there is none", names=("answer",))] = ""
    reason: Annotated[str, Column("why there is none")] = "the file has no answer"
    reference: Annotated[
        Sequence[str],
        Column("the golden answer, or a list of them", names=("ground_truth", "golden"), read=golden_answers),
    ] = ()
    reference_parts: Annotated[
        tuple[tuple[str, ...], ...],
        Column("the parts that an answer needs, a list of lists of wordings", read=golden_parts),
    ] = ()
    other_references: Annotated[Sequence[str], Column("further golden answers", read=golden_answers)] = ()
    answerable: Annotated[bool, Column("whether the documents hold an answer")] = True
    cited: Annotated[tuple[int, ...], Column("the passages that the answer cites, from 1", read=_places)] = ()
    reference_contexts: Annotated[
        Sequence[str], Column("the passages that hold the golden answer; for a test set", read=_texts)
    ] = ()
    time: Annotated[str, Column("when it was answered, in ISO 8601; for a trend", read=_time)] = ""
    where: str = ""


def read_answers(path: Path) -> list[AnsweredQuery]:
    """The answered questions of a ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx`` file; see `AnsweredRow`.

    Raises CorpusError that names all lines at fault.
    """
    by_id: dict[str, AnsweredQuery] = {}
    for number, row in enumerate(read_rows(path, AnsweredRow, fault=_fault), start=1):
        count = len(row.retrieved_contexts)
        documents, ids = (column or [""] * count for column in (row.documents, row.retrieved_context_ids))
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
            row.reference_parts,
            row.time,
        )
        first = by_id.setdefault(answered.query_id, answered)
        if first is not answered:
            raise CorpusError(f"{row.where}: has the query_id of {first.where}. Give each question its own.")
    return list(by_id.values())


def _fault(row: AnsweredRow) -> str:
    if row.user_input.startswith('[{"'):
        return "user_input holds messages. Write one question: only single turns are read."
    count = len(row.retrieved_contexts)
    for column in ("documents", "retrieved_context_ids"):
        if (cells := getattr(row, column)) and len(cells) != count:
            entries, contexts = counted(len(cells), "entry", "entries"), counted(count, "context")
            return f"{column} has {entries} for {contexts}. Write one for each."
    if max(row.cited, default=-1) >= count:
        return f"cited names a context beyond the last one, {count}. Correct it."
    return ""


def write_answers(exchanges: Iterable[AnsweredQuery], path: Path) -> int:
    """Write JSON Lines with ragas' columns and ours; returns the number of rows. Unknown values are left out.

    The file must not be there yet, else CorpusError.
    """
    rows = [json.dumps(_row(exchange), ensure_ascii=False) for exchange in exchanges]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{row}\n" for row in rows)
    except FileExistsError:
        raise CorpusError(f"{path} exists already. Remove it, or name another file.") from None
    return len(rows)


def _row(exchange: AnsweredQuery) -> dict[str, Any]:
    documents = [passage.document for passage in exchange.read]
    ids = [passage.passage_id for passage in exchange.read]
    row = {
        "query_id": exchange.query_id,
        "user_input": encodable(exchange.question),
        "retrieved_contexts": [encodable(passage.text) for passage in exchange.read],
        "response": None if exchange.answer is None else encodable(exchange.answer),
        "reference": golden_cell((encodable(exchange.references[0]),)) if exchange.references else None,
        "reference_parts": exchange.parts if len(exchange.parts) > 1 else None,
        "other_references": list(map(encodable, exchange.references[1:])) or None,
        "documents": documents if any(documents) else None,
        "retrieved_context_ids": ids if any(ids) else None,
        "cited": [place + 1 for place in exchange.cited] or None,
        "answerable": None if exchange.answerable else False,
        "reason": exchange.reason or None,
        "time": exchange.time or None,
    }
    return {name: value for name, value in row.items() if value is not None}
