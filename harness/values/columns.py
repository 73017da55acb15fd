"""How a table is declared: once, as the dataclass of its rows.

Every field is a column. Its type says what a cell may hold, its `Column` what it means. Readers, checks,
messages and docs come from that: of tables of results (report/table_spec.py) and of what people write
(data/corpus/inputs.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from typing import get_type_hints as types_of

from harness.values.errors import CorpusError

Cells = dict[str, str]

_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_RANGE = r"[0-9]{1,15}-[0-9]{1,15}"


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None and abs(float(cell)) != float("inf")


Check = tuple[str, Callable[[str], Any]]
# For each type its description, and the check of a cell.
_COUNT: Check = "a whole number", re.compile(r"[0-9]{1,15}").fullmatch
_FIGURE: Check = "a finite number", _is_number
_NUMBER_OR_INFINITY: Check = "a number", lambda cell: cell in ("inf", "-inf") or _is_number(cell)
_YES_NO: Check = "yes or no", ("yes", "no").__contains__
_CHUNK: Check = (
    "the id of a chunk such as document:0-100",
    re.compile(rf".*:({_RANGE}\+)*{_RANGE}", re.DOTALL).fullmatch,
)
_RANGES: Check = "ranges such as 0-20 30-40", re.compile(rf"({_RANGE}( {_RANGE})*)?").fullmatch
_NAME: Check = "a name", bool
_BY_TYPE = {int: _COUNT, float: _FIGURE, bool: _YES_NO}
# other words that people and programs write in columns of yes and no
_WORDS = {"true": "yes", "1": "yes", "false": "no", "0": "no"}


@dataclass(frozen=True, slots=True)
class Column:
    """The meaning of a field as a column, given in its type: ``Annotated[int, Column("how many")]``."""

    about: str
    unit: str = ""
    """The unit of a number."""
    header: str = ""
    """The name of the column where it is not called as the field."""
    filled: bool = False
    """Text that is never empty."""
    chunk: bool = False
    """The id of a chunk."""
    ranges: bool = False
    """None or more ranges of offsets."""
    among: tuple[str, ...] = ()
    """All it may say, where that is known."""
    least: int | None = None
    """The least number that it may hold."""
    most: int | None = None
    """The largest number that it may hold."""
    infinite: bool = False
    """A number that may be infinite."""
    names: tuple[str, ...] = ()
    """What others call the column, the likeliest name first: read where our own name is not there."""
    verbatim: bool = False
    """The cell is kept with the white space around it."""
    shown: Callable[[Any], Any] | None = None
    """Turns a value into what is written of it."""
    restored: Callable[[Cells], str] | None = None
    """Finds the text of a cell where its row says more of it."""
    read: Callable[[str], Any] | None = None
    """Turns a cell that people have filled into its value; raises ValueError that says what is wrong."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A column and its field: ``kind`` is the type of its values; ``empty``: None is one of them.

    ``default`` is the value where the column is missing or empty; MISSING: it has to be there.
    """

    name: str
    field: str
    kind: type
    empty: bool
    column: Column
    default: Any = MISSING

    @property
    def needed(self) -> bool:
        """Whether there is no value for it but that of its cell."""
        return self.default is MISSING and not self.empty

    @property
    def check(self) -> Check | None:
        """The type of a cell in words, and a check whether a cell is of it; None if it may hold anything."""
        column = self.column
        if column.among:
            return f"one of {', '.join(column.among)}", column.among.__contains__
        if column.chunk or column.ranges:
            return _CHUNK if column.chunk else _RANGES
        if self.kind is str:
            return _NAME if column.filled else None
        what, holds = self._within(*(_NUMBER_OR_INFINITY if column.infinite else _BY_TYPE[self.kind]))
        return (f"{what} or nothing", lambda cell: not cell or holds(cell)) if self.empty else (what, holds)

    def _within(self, what: str, holds: Callable[[str], Any]) -> Check:
        """The type and check of numbers within the limits of the column."""
        least, most = self.column.least, self.column.most
        if least is None and most is None:
            return what, holds
        low = (least or 0) if self.kind is int else least
        what += f" of at least {low}" if most is None else f" from {low} to {most}"
        return (
            what,
            lambda cell: (
                holds(cell) and (low is None or low <= float(cell)) and (most is None or float(cell) <= most)
            ),
        )

    def value(self, cell: str) -> Any:
        """The value that a checked cell spells."""
        if self.empty and not cell:
            return None
        return cell == "yes" if self.kind is bool else self.kind(cell)

    def read(self, cell: str) -> Any:
        """The value of a cell that people have written; raises ValueError with what is wrong, and a remedy.

        Whole numbers may end in ``.0``, and decimals have a comma, as spreadsheets write them.
        """
        text = cell.strip()
        if not text:
            if self.column.filled or (self.needed and (self.kind is not str or self.column.among)):
                raise ValueError("is empty. Fill it.")
            return ("" if self.needed else None) if self.default is MISSING else self.default
        if self.column.read is not None:
            return self.column.read(text)
        plain = _plain(text, self.kind)
        if (check := self.check) and not check[1](plain):
            raise ValueError(f"is {text[:80]!r}, not {check[0]}. Correct it.")
        return self.value(cell if self.column.verbatim else plain)


def _plain(text: str, kind: type) -> str:
    """A cell as a program would write it."""
    if kind is bool:
        return _WORDS.get(text.lower(), text.lower())
    if kind is float:
        with suppress(ValueError):
            return repr(float(text.replace(",", ".")))
    if kind is int:
        head, point, tail = text.partition(".")
        return head if point and tail and not tail.strip("0") else text
    return text


def whole(cell: str) -> int:
    """A cell as a whole number, also below 0; raises ValueError that says what is wrong."""
    try:
        return int(_plain(cell, int))
    except ValueError:
        raise ValueError(f"is {cell[:80]!r}, not a whole number. Correct it.") from None


def columns_of(row: type[Any]) -> tuple[Declared, ...]:
    """The columns that a dataclass declares: its fields that have a `Column`, in their order."""
    types = types_of(row, include_extras=True)
    return tuple(
        _declared(field, types[field.name])
        for field in fields(row)
        if get_origin(types[field.name]) is Annotated
    )


def _declared(field: Field[Any], annotated: Any) -> Declared:
    base, column = get_args(annotated)
    parts = get_args(base) if get_origin(base) in (Union, UnionType) else (base,)
    kinds: list[Any] = [part for part in parts if part is not NoneType]
    factory = field.default_factory
    default = field.default if factory is MISSING else factory()
    if get_origin(kinds[0]) is Literal:
        kinds, column = [str], replace(column, among=get_args(kinds[0]))
    name = column.header or field.name
    return Declared(name, field.name, kinds[0], len(kinds) < len(parts), column, default)


def id_of_query(cell: str) -> str:
    """The id of a query; raises ValueError for one that the files of TREC could not hold."""
    if cell.split() != [cell]:
        raise ValueError(f"{cell!r} holds a space, which a TREC run cannot. Use '_'.")
    return cell


def golden_answers(cell: str) -> tuple[str, ...]:
    """The golden answers in a cell, the first one first; none if it is blank.

    A cell that is a JSON list of texts, such as ``["14.50 crowns", "14 crowns 50"]``, holds several, of which
    each is right by itself; any other text is one golden answer as it is, ``[1, 2]`` too. Of the parts of
    one answer (``golden_parts``) the first wording of each makes one golden answer. Raises ValueError for a
    list that is empty, or has a blank entry or one that is no text beside others.
    """
    text = cell.strip()
    if (parts := _parts_in(text)) is not None:
        return ("; ".join(part[0] for part in parts),)
    texts = _listed(text)
    if texts is None:
        return (text,) if text else ()
    if not all(isinstance(item, str) for item in texts):
        raise ValueError(f"golden answers {text[:60]} are a list of text and of something else")
    if not texts or not all(item.strip() for item in texts):
        raise ValueError(f"golden answers {text[:60]} have a blank entry, or none at all")
    return tuple(dict.fromkeys(item.strip() for item in texts))


def golden_parts(cell: str) -> tuple[tuple[str, ...], ...]:
    """The parts of the golden answer in a cell, each with its wordings; none if it is blank.

    A JSON list of lists, such as ``[["3 January", "January 3"], ["12 January"]]``, has a list for each part
    that an answer needs, with the wordings of which any will do. Every other cell is one part, whose wordings
    are its ``golden_answers``. Raises ValueError as these do.
    """
    parts = _parts_in(cell.strip())
    if parts is not None:
        return parts
    wordings = golden_answers(cell)
    return (wordings,) if wordings else ()


def _parts_in(text: str) -> tuple[tuple[str, ...], ...] | None:
    """The parts in a JSON list of lists; None for any other text. Raises ValueError for a blank part."""
    if not text.startswith("[") or not text[1:].lstrip().startswith("["):
        return None
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    lists = [item for item in items if isinstance(item, list)]
    if len(lists) < len(items) or not all(isinstance(word, str) for item in lists for word in item):
        return None
    parts = tuple(tuple(dict.fromkeys(word.strip() for word in item)) for item in lists)
    if not all(part and all(part) for part in parts):
        raise ValueError(f"golden answers {text[:60]} have a blank part or wording")
    return parts


def golden_of_query(query_id: str, cell: str) -> tuple[str, ...]:
    """``golden_answers`` of a query, from its column answer; raises CorpusError for a bad list."""
    try:
        return golden_answers(cell)
    except ValueError as error:
        raise CorpusError(f"Query {query_id}, column answer: {error}.") from error


def _listed(text: str) -> list[Any] | None:
    if not text.startswith("["):
        return None
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (
        entries
        if isinstance(entries, list) and any(isinstance(entry, str) for entry in entries or [""])
        else None
    )


def golden_cell(answers: tuple[str, ...]) -> str:
    """The cell that holds these golden answers; '' for none.

    One that looks like a list of texts is written as a list of one, so that ``golden_answers`` gives it back.
    """
    if len(answers) == 1 and _listed(answers[0].strip()) is None and _parts_in(answers[0].strip()) is None:
        return answers[0]
    return json.dumps(answers, ensure_ascii=False) if answers else ""
