"""Where a range of numbers may stand: as the value of a key of a step, or as an entry of a list of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from harness.running.config.source import KeyPath, Source
from harness.running.config.tune_keys import Range, is_range, range_of
from harness.values import problem_in

_EXAMPLE = "such as {from: 200, to: 2000, log: true}"
_NO_NUMBER = "this key takes no number, so no range can stand for it. Give a value, or a list of values."
# pydantic's names of errors about a number outside what a key takes
_LIMITS = {
    *("greater_than", "greater_than_equal", "less_than", "less_than_equal"),
    *("int_from_float", "multiple_of", "finite_number"),
}


def numbers_of(source: Source, at: KeyPath, field: FieldInfo, value: Any) -> Sequence[float]:
    """The values that stand for a range of a key; raises ConfigError where the key does not take its ends."""
    if _entry_type(field) is not None and not {int, float} & {*get_args(field.annotation)}:
        example = "such as [1, {from: 0.5, to: 2.0, log: true}]"
        raise source.error(at, f"this key takes a list; write the range in place of an entry, {example}.")
    return _numbers(source, at, _by_itself(field.annotation, field.metadata), value)


def lists_of(source: Source, at: KeyPath, field: FieldInfo, value: list[Any]) -> list[list[Any]]:
    """The lists that stand for one whose entries may be ranges: every combination of their values."""
    kind = _entry_type(field)
    choices = [
        _numbers(source, (*at, i), kind, entry) if is_range(entry) and _is_number(kind) else [entry]
        for i, entry in enumerate(value)
    ]
    return [list(entries) for entries in itertools.product(*choices)]


def _numbers(source: Source, at: KeyPath, kind: Any, value: Any) -> Sequence[float]:
    try:
        span = range_of(value)
    except ValueError as error:
        raise source.error(at, f"{error}, {_EXAMPLE}.") from None
    return source.of_range(at, _fitted(source, at, kind, span))


def _fitted(source: Source, at: KeyPath, kind: Any, span: Range) -> Range:
    """A range with its ends as the key takes them: whole for a key that takes only whole numbers."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    ends = []
    for name, end in (("from", span.low), ("to", span.high)):
        try:
            ends.append(adapter.validate_python(end))
        except ValidationError as error:
            if error.errors()[0]["type"] not in _LIMITS:
                raise source.error(at, _NO_NUMBER) from None
            raise source.error(
                at, f"this range cannot stand for the key ({name}: {problem_in(error)}). Correct its ends."
            ) from None
    if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        raise source.error(at, _NO_NUMBER)
    return replace(span, low=ends[0], high=ends[1], whole=all(isinstance(end, int) for end in ends))


def _by_itself(kind: Any, marks: Sequence[Any] = ()) -> Any:
    """The type of a key without checks against other keys, such as that of an overlap against its chunk."""
    if get_origin(kind) is Annotated:
        kind, *inner = get_args(kind)
        marks = [*inner, *marks]
    if get_origin(kind) in (Union, UnionType):
        kind = Union[*map(_by_itself, get_args(kind))]
    limits = [mark for mark in marks if not hasattr(mark, "func")]
    return Annotated[kind, *limits] if limits else kind


def _entry_type(field: FieldInfo) -> Any:
    """The type of the entries of a key that takes a list; None for any other key."""
    for kind in (field.annotation, *get_args(field.annotation)):
        if get_origin(kind) in (list, tuple):
            return get_args(kind)[0]
    return None


def _is_number(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind in (int, float)
