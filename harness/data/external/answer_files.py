"""Read and write files of answered questions, one per row, with the columns of ragas."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data.corpus.queries import is_answerable, refuse_spaces
from harness.data.corpus.table import FaultsOfRows, InputTable, Row, read_table
from harness.data.external.exchange import AnsweredQuery, Passage
from harness.values import CorpusError, counted, encodable, golden_answers, golden_cell

# Names of columns: ours first, then ragas 0.2 and later, then ragas 0.1, then others.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "query_id": ("query_id", "id", "qid"),
    "question": ("user_input", "question", "query", "text"),
    "read": ("retrieved_contexts", "contexts", "passages"),
    "ids": ("retrieved_context_ids",),
    "documents": ("documents",),
    "answer": ("response", "answer"),
    "reason": ("reason",),
    "reference": ("reference", "ground_truth", "golden"),
    "other_references": ("other_references",),
    "answerable": ("answerable",),
    "cited": ("cited",),
}


def read_answers(path: Path) -> list[AnsweredQuery]:
    """The answered questions of a ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx`` file.

    Columns as in ragas: ``user_input``, ``retrieved_contexts``, ``response``, ``reference``, or those
    of ragas 0.1 (``question``, ``contexts``, ``answer``, ``ground_truth``). Also read are ``query_id``,
    ``documents`` and ``retrieved_context_ids`` (lists, one entry per context), ``cited`` (a list of context
    numbers, from 1), ``answerable``, ``reason`` and ``other_references`` (a list of further golden answers;
    ``reference`` may be a list too). Only the question must be there. Lists are in cells as
    JSON or as Python writes them. Raises CorpusError that names all lines at fault.
    """
    table = read_table(path, (), CorpusError)
    columns = _columns(table)
    found: list[AnsweredQuery] = []
    lines: dict[str, int] = {}
    faults = FaultsOfRows(CorpusError)
    for number, row in enumerate(table.rows, start=1):
        with faults.of_a_row():
            one = _exchange(table, row, columns, number)
            if one.query_id in lines:
                raise CorpusError(
                    f"{one.where}: query_id {one.query_id!r} is already on line {lines[one.query_id]}. "
                    "Give each question its own id."
                )
            lines[one.query_id] = row.line
            found.append(one)
    faults.end()
    return found


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


def _columns(table: InputTable) -> dict[str, str]:
    """The column of the file for each of ours that it has."""
    found = {}
    for ours, names in _NAMES.items():
        there = [name for name in names if name in table.columns]
        if there:
            found[ours] = there[0]
    if "question" not in found:
        raise CorpusError(
            f"{table.path}: there is no column user_input (or question). The columns are: "
            f"{', '.join(table.columns)}. Add or rename one."
        )
    return found


def _exchange(table: InputTable, row: Row, columns: Mapping[str, str], number: int) -> AnsweredQuery:
    where = f"{table.path}, line {row.line}"

    def cell(name: str) -> str:
        return row.get(columns[name]) if name in columns else ""

    question = cell("question")
    if not question:
        raise CorpusError(f"{where}: {columns['question']} is empty. Write the question.")
    query_id = cell("query_id") or f"q{number}"
    refuse_spaces(where, query_id)
    texts = _texts(cell("read"), where, columns.get("read", ""))
    of = {name: _beside(texts, cell(name), where, columns.get(name, "")) for name in ("documents", "ids")}
    read = tuple(map(Passage, texts, of["documents"], of["ids"]))
    answer = cell("answer") or None
    return AnsweredQuery(
        query_id,
        question,
        read,
        answer,
        "" if answer else cell("reason") or "the file has no answer",
        _golden(cell("reference"), cell("other_references"), where),
        is_answerable(where, cell("answerable")),
        _cited(cell("cited"), len(read), where),
        where,
    )


def _golden(first: str, others: str, where: str) -> tuple[str, ...]:
    """The golden answers: those of the column reference, and what other_references adds."""
    try:
        more = golden_answers(others) if others else ()
        return tuple(dict.fromkeys((*golden_answers(first), *more)))
    except ValueError as error:
        raise CorpusError(f"{where}: {error}.") from error


def _listed(text: str, where: str, column: str) -> list[Any]:
    """The list in a cell, written as JSON or as Python writes it."""
    if not text:
        return []
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list | tuple):
            return list(found)
    raise CorpusError(f'{where}: {column} is not a list: {text[:60]!r}. Write it as ["…", "…"].')


def _texts(text: str, where: str, column: str) -> list[str]:
    found = _listed(text, where, column)
    if not all(isinstance(one, str) for one in found):
        raise CorpusError(f"{where}: {column} has an entry that is not text. Write a list of texts.")
    return found


def _beside(texts: Sequence[str], cell: str, where: str, column: str) -> list[str]:
    """A list with one entry per context; empty entries where the file has none."""
    found = [str(one) for one in _listed(cell, where, column)]
    if found and len(found) != len(texts):
        raise CorpusError(
            f"{where}: {column} has {counted(len(found), 'entry', 'entries')} for "
            f"{counted(len(texts), 'context')}. Write one for each."
        )
    return found or [""] * len(texts)


def _cited(cell: str, count: int, where: str) -> tuple[int, ...]:
    found = _listed(cell, where, "cited")
    if not all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= count for one in found):
        raise CorpusError(f"{where}: cited is {cell}; it lists numbers of contexts, from 1 to {count}.")
    return tuple(one - 1 for one in found)
