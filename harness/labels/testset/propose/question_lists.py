"""Questions of a list or a search log, with the ids, golden answers and evidence that the file has."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import data, values
from harness.labels.testset.kinds import GIVEN
from harness.labels.testset.propose.llm import question
from harness.labels.testset.testset_rows import GradeRow, Place, Question
from harness.values import CorpusError, Document, counted, on_one_line

# Where lists and logs keep what was asked; dots lead into nested objects, or are part of the name.
_FIELDS = (
    *("text", "question", "query", "user_input", "q", "prompt", "input"),
    *("inputs.question", "inputs.query", "request.query"),
)
_IDS = ("query_id", "question_id", "qid", "id")
# the golden ones first: beside them, answer is what a pipeline said
_ANSWERS = ("reference", "ground_truth", "golden", "golden_answer", "expected_answer", "answer")
_QUOTES = ("quote", "quotes", "evidence_text", "reference_contexts", "passage", "evidence")
_DOCUMENTS = ("document", "doc_id", "doc_name")
# columns of proposed.csv that a list may have under the same name
_COLUMNS = ("type", "answerable")
_LONGEST = 2000
_LONGEST_QUOTE = 100_000


@dataclass(frozen=True, slots=True)
class ListedQuote:
    """A passage that answers a question, in its words; ``document`` and ``page`` as the file names them."""

    text: str
    document: str = ""
    page: int | None = None
    grade: int | None = None


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A question of a file, its golden answer and the quotes of its evidence."""

    question: Question
    quotes: tuple[ListedQuote, ...] = ()


def read_user_questions(path: Path, field: str = "") -> tuple[list[ListedQuestion], str]:
    """The distinct questions of a list or a log, and in words what the file holds.

    ``field`` names the column, dots lead into objects. Ids, golden answers, quotes, ``type`` and
    ``answerable`` of a file are taken over. The questions of a log, which has no ids and no quotes, come in
    the order of how often they were asked, others in that of the file. Raises CorpusError that says what the
    file holds where there is no such field, and for an id of two questions.
    """
    entries = _entries(path)
    name = field or next(
        (field_name for field_name in _FIELDS if any(_text(entry, field_name) for entry in entries)), ""
    )
    by_text = values.by_key((text, entry) for entry in entries if name and (text := _text(entry, name)))
    if not by_text:
        names = ", ".join(sorted({key for entry in entries[:100] for key in entry})) or "nothing"
        where = f"no text under {field!r}" if field else "no field that is known to hold questions"
        raise CorpusError(f"{path}: there is {where}. It has: {names}. Name one of text with --field.")
    questions = [_listed_question(text, rows, name, path.name) for text, rows in by_text.items()]
    _refuse_shared_ids(path, questions)
    if not any(listed.question.query_id or listed.quotes for listed in questions):
        # of equal counts the order of the file
        questions.sort(key=lambda listed: -len(by_text[listed.question.text]))
        questions = [
            replace(listed, question=replace(listed.question, asked=len(by_text[listed.question.text])))
            for listed in questions
        ]
    there = sum(map(len, by_text.values()))
    kept = {
        ("id", "ids"): sum(bool(listed.question.query_id) for listed in questions),
        ("golden answer", "golden answers"): sum(bool(listed.question.answer) for listed in questions),
        ("quote", "quotes"): sum(len(listed.quotes) for listed in questions),
    }
    for column in _COLUMNS:
        filled = sum(any(_first(row, (column,), name) for row in rows) for rows in by_text.values())
        kept[f"value of {column}", f"values of {column}"] = filled
    counts = ", ".join(counted(count, *words) for words, count in kept.items() if count)
    entries_and_questions = (
        f"{counted(len(entries), 'entry', 'entries')}, {counted(len(questions), 'different question')}"
    )
    return questions, (
        f"{path}: {entries_and_questions} in the field {name}; {len(entries) - there} without one. "
        f"Kept with them: {counts or 'nothing else'}."
    )


def _listed_question(text: str, rows: Sequence[dict[str, Any]], field: str, by: str) -> ListedQuestion:
    """A question and all rows that ask it; what several of them say differently is taken from the first."""
    first = {
        name: next(filter(None, (_first(row, names, field) for row in rows)), "")
        for name, names in (
            ("id", _IDS),
            *((column, (column,)) for column in _COLUMNS),
            ("answer", _ANSWERS),
        )
    }
    proposal = Question(
        query_id="_".join(first["id"].split()),
        text=text,
        kind=first["type"] or GIVEN,
        answerable=first["answerable"].lower() not in ("no", "false", "0"),
        answer=first["answer"],
        by=by,
    )
    return ListedQuestion(
        proposal, tuple(dict.fromkeys(quote for row in rows for quote in _quotes(row, field)))
    )


def _quotes(row: Mapping[str, Any], field: str) -> Iterable[ListedQuote]:
    """The quotes of a row: a text, a list of texts, or a list of objects that hold them."""
    column = next((name for name in _QUOTES if name != field and row.get(name)), "")
    document, page, grade = _first(row, _DOCUMENTS, field), _whole(row.get("page")), _whole(row.get("grade"))
    for entry in _listed(row.get(column)):
        if isinstance(entry, dict):
            text = _first(entry, _QUOTES, "")
            named = _first(entry, _DOCUMENTS, "") or document
            # counted from 0 there as often as from 1, so that the page is not read
            place = ListedQuote(text, named, None, grade)
        else:
            place = ListedQuote(entry if isinstance(entry, str) else "", document, page, grade)
        if place.text.strip() and len(place.text) <= _LONGEST_QUOTE:
            yield place


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [value]


def _first(row: Mapping[str, Any], names: Sequence[str], field: str) -> str:
    """The first of the fields that is there, as text; '' where none is."""
    cells = (row[name] for name in names if name != field and row.get(name) not in (None, ""))
    value = next(cells, "")
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return values.golden_cell(tuple(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return data.plain_cell(str(value)).strip() if isinstance(value, str | int | float) else ""


def _whole(value: Any) -> int | None:
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else None


def _refuse_shared_ids(path: Path, questions: Sequence[ListedQuestion]) -> None:
    ids = Counter(listed.question.query_id for listed in questions if listed.question.query_id)
    shared = [query_id for query_id, count in ids.items() if count > 1]
    if shared:
        raise CorpusError(
            f"{path}: {values.listed(shared, 3)} {'is' if len(shared) == 1 else 'are'} the id of several "
            "questions. Give each question its own, or rename the column."
        )


def _entries(path: Path) -> list[dict[str, Any]]:
    if path.suffix.lower() not in (".json", ".jsonl"):
        return [dict(row.cells) for row in data.read_table(path, (), CorpusError).rows]
    return [entry for entry in data.read_json(path) if isinstance(entry, dict)]


def _text(entry: dict[str, Any], field: str) -> str:
    """The question under a field; '' where there is none."""
    value = _value(entry, field)
    text = on_one_line(value) if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else ""


def _value(entry: Any, field: str) -> Any:
    if isinstance(entry, dict) and field in entry:
        return entry[field]
    head, dot, rest = field.partition(".")
    return _value(entry[head], rest) if dot and isinstance(entry, dict) and head in entry else None


@dataclass(frozen=True, slots=True)
class PlacedQuestions:
    """Questions with the places of their quotes, their grades, and what there is to say of them."""

    questions: list[Question]
    grades: list[GradeRow]
    lines: list[str]


def place(
    listed_questions: Sequence[ListedQuestion], documents: Sequence[Document], grader: str
) -> PlacedQuestions:
    """Find the quotes of questions, which have their ids by now, in the documents.

    A quote without a grade gets 4 where it is the only one of its question, and 3 beside others.
    """
    by_id = {document.doc_id: document for document in documents}
    hits = [
        [
            data.GivenHit(
                query_id=listed.question.query_id, text=quote.text, document=quote.document, page=quote.page
            )
            for quote in listed.quotes
        ]
        for listed in listed_questions
    ]
    placed = data.place_hits(hits, by_id, data.AnchorConfig().threshold, keep_unknown=True)
    questions, grades = [], dict[object, GradeRow]()
    assumed = False
    for listed, placed_hits in zip(listed_questions, placed, strict=True):
        places = []
        for quote, hit in zip(listed.quotes, placed_hits, strict=True):
            if hit.place is None:
                continue
            where = Place(by_id[hit.place.doc_id], hit.place.start, hit.place.end)
            places.append(where)
            grade = quote.grade if quote.grade is not None else (4 if len(placed_hits) == 1 else 3)
            assumed |= quote.grade is None
            row = GradeRow(
                listed.question.query_id, where.document.doc_id, where.start, where.end, grade, grader
            )
            grades.setdefault(row.key, row)
        suggested = question(listed.question.text, listed.question.kind, *places[:2])
        lost = len(placed_hits) - len(places)
        note = (
            f"{lost} of {counted(len(placed_hits), 'quote')} not in the documents"
            if lost
            else listed.question.note
        )
        same = ("query_id", "answerable", "answer", "by", "asked")
        kept = {name: getattr(listed.question, name) for name in same}
        questions.append(replace(suggested, note=note, **kept))
    return PlacedQuestions(
        questions, list(grades.values()), _placement_lines(listed_questions, placed, grader, assumed)
    )


def _placement_lines(
    listed_questions: Sequence[ListedQuestion],
    placed: Sequence[Sequence[data.PlacedHit]],
    grader: str,
    assumed: bool,
) -> list[str]:
    count = sum(map(len, placed))
    if not count:
        return []
    lost = [
        listed.question.query_id
        for listed, placed_hits in zip(listed_questions, placed, strict=True)
        if any(not hit.place for hit in placed_hits)
    ]
    located = sum(hit.place is not None for placed_hits in placed for hit in placed_hits)
    rule = ": 4 for the only quote of a question, 3 for each of several, as the file has no grades"
    lines = [
        f"{located} of {counted(count, 'quote')} {'is' if located == 1 else 'are'} in the documents, and "
        f"graded in {data.INPUTS[GradeRow].name} as by {grader}{rule if assumed else ''}."
    ]
    if lost:
        lines.append(
            f"{counted(count - located, 'quote is', 'quotes are')} in none of the documents: "
            f"{values.listed(lost, 5)}. Correct the file and propose again, or go on without."
        )
    return lines
