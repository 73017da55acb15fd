"""Questions of users: a list or a search log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import read_json, read_table
from harness.labels.testset.kinds import GIVEN
from harness.labels.testset.rows import Question
from harness.values import CorpusError, on_one_line

# Where lists, logs and traces keep what was asked; dots lead into nested objects, or are part of the name.
_FIELDS = (
    "text question query user_input q prompt input inputs.question inputs.query "
    "inputs.input request.query attributes.input.value attributes.gen_ai.prompt input.value"
)
FIELDS = tuple(_FIELDS.split())
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class QuestionList:
    """The content of a file: distinct questions, the most asked first, and ``where`` in it they were found.

    ``entries`` counts all of them, ``without`` those that hold no question.
    """

    questions: tuple[Question, ...]
    where: str
    entries: int
    without: int


def read_user_questions(path: Path, field: str = "") -> QuestionList:
    """The questions of a list or a log; ``field`` names the column, dots lead into objects.

    The columns ``type`` and ``answerable`` of a list are taken over. Raises CorpusError that says what the
    file holds where there is no such field.
    """
    where, asked = _by_field(path, field)
    counts = Counter(text for _, text in asked if text)
    first: dict[str, dict[str, Any]] = {}
    for entry, text in asked:
        first.setdefault(text, entry)
    questions = tuple(
        Question(
            query_id="",
            text=text,
            kind=_text(first[text], "type") or GIVEN,
            answerable=_text(first[text], "answerable").lower() not in ("no", "false", "0"),
            by=path.name,
            asked=count,
        )
        # of equal counts the order of the file
        for text, count in counts.most_common()
    )
    return QuestionList(questions, where, len(asked), len(asked) - counts.total())


Asked = list[tuple[dict[str, Any], str]]
"""What a file holds, each with the question that it asks; '' for none."""


def _by_field(path: Path, field: str) -> tuple[str, Asked]:
    entries = _entries(path)
    name = field or next((one for one in FIELDS if any(_text(entry, one) for entry in entries)), "")
    texts = [_text(entry, name) for entry in entries] if name else []
    if not any(texts):
        names = ", ".join(sorted({key for entry in entries[:100] for key in entry})) or "nothing"
        where = f"no text under {field!r}" if field else "no field that is known to hold questions"
        raise CorpusError(f"{path}: there is {where}. It has: {names}. Name the field with --field.")
    return f"the field {name}", list(zip(entries, texts, strict=True))


def _entries(path: Path) -> list[dict[str, Any]]:
    if path.suffix.lower() not in (".json", ".jsonl"):
        return [dict(row.cells) for row in read_table(path, (), CorpusError).rows]
    return [one for whole in read_json(path) for one in _spans(whole)]


def _spans(entry: Any) -> Iterator[dict[str, Any]]:
    """An object, or each span of a trace that has such."""
    if not isinstance(entry, dict):
        return
    spans = entry.get("spans")
    if isinstance(spans, list):
        for span in spans:
            yield from _spans(span)
    else:
        yield entry


def _text(entry: dict[str, Any], field: str) -> str:
    """The question under a field; '' where there is none."""
    value = _value(entry, field)
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        # traces keep their inputs as JSON within JSON
        try:
            value = json.loads(value)
        except ValueError:
            return ""
    if isinstance(value, list):
        # the last message of the user in a chat
        said = [one.get("content") for one in value if isinstance(one, dict) and one.get("role") == "user"]
        value = said[-1] if said else None
    if isinstance(value, dict):
        value = next((value[one] for one in FIELDS if isinstance(value.get(one), str)), "")
    text = on_one_line(value) if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else ""


def _value(entry: Any, field: str) -> Any:
    if isinstance(entry, dict) and field in entry:
        return entry[field]
    head, dot, rest = field.partition(".")
    return _value(entry[head], rest) if dot and isinstance(entry, dict) and head in entry else None
