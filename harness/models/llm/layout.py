"""A reply in the shape of a prompt's own: where its fields are, as JMESPath expressions by the names of ours.

``reply: {grade: reslut, reason: reason}`` in a prompt file says that the grade is in the field ``reslut``. As
in our own shape, a field that neither an expression nor the words of the prompt name makes a reply unusable.
So does what an expression would pass over in silence: a row of a list without the field, or a second value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.models.expressions import compiled, fields_in, match
from harness.models.llm.reply import Malformed, fault_of, json_in, value_in
from harness.values import suggestion

REASON = "reason"
"""The field with the words in which a model explains a grade or a verdict; it may always be absent."""


@dataclass(frozen=True, slots=True)
class ReplyLayout:
    """What a reply has by our names: ``fields``, and with ``rows`` a list of objects under the only field.

    ``optional`` may be absent in a reply of a prompt's own shape. ``several``: a field holds a list of texts,
    which an expression may collect from many places.
    """

    fields: tuple[str, ...]
    rows: tuple[str, ...] = ()
    optional: tuple[str, ...] = (REASON,)
    several: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names for which an expression may be given."""
        return tuple(dict.fromkeys((*self.fields, *self.rows, *self.optional)))

    def check(self, paths: Mapping[str, str]) -> None:
        """Raise ValueError for a name that the reply does not have, or for no JMESPath expression."""
        for name, path in paths.items():
            if name not in self.names:
                near = suggestion(name, self.names)
                raise ValueError(f"reply.{name} is not known{near}; it takes {', '.join(self.names)}")
            try:
                compiled(path)
            except ValueError as error:
                raise ValueError(f"reply.{name}: {error}") from None


def laid_out(
    text: str, paths: Mapping[str, str], layout: ReplyLayout, also: Collection[str] = ()
) -> dict[str, Any] | Malformed:
    """The one object or list that a reply is, as an object with our names; ``also`` are fields it may have.

    A name without an expression is that of a field; the list of a layout with rows may be the whole reply.
    """
    value = value_in(text)
    if isinstance(value, Malformed):
        return value
    reply = json_in(text, "[" if value.startswith("[") else "{")
    if isinstance(reply, Malformed):
        return reply
    by_our_names = {name for name in (*layout.fields, *layout.rows) if name not in paths}
    expected = {*also, *by_our_names, *(field for path in paths.values() for field in fields_in(path))}
    for part in _objects(reply):
        if fault := fault_of(part, (), expected):
            return fault
    if not layout.rows:
        return _picked(reply, paths, layout, layout.fields)
    (name,) = layout.fields
    rows = reply if name not in paths and isinstance(reply, list) else _match(paths.get(name, name), reply)
    if not isinstance(rows, list):
        return rows if isinstance(rows, Malformed) else Malformed("no_list")
    if not all(isinstance(row, dict) for row in rows):
        return Malformed("bad_list_item")
    picked = [_picked(row, paths, layout, layout.rows) for row in rows]
    fault = next((row for row in picked if isinstance(row, Malformed)), None)
    return fault or {name: picked}


def _picked(
    value: Any, paths: Mapping[str, str], layout: ReplyLayout, names: Collection[str]
) -> dict[str, Any] | Malformed:
    """The fields of an object by our names: all of ``names``, of the optional ones those that are there."""
    picked: dict[str, Any] = {}
    for name in dict.fromkeys((*names, *layout.optional)):
        path = paths.get(name, name)
        content = _match(path, value)
        if isinstance(content, Malformed):
            return content
        if content is None:
            if name not in layout.optional:
                return Malformed("missing_field")
        elif fault := _passed_over(value, fields_in(path), several=layout.several and name in names):
            return fault
        else:
            picked[name] = content
    return picked


def _match(path: str, value: Any) -> Any | Malformed:
    try:
        return match(path, value)
    except ValueError:
        return Malformed("wrong_type")


def _passed_over(value: Any, fields: frozenset[str], *, several: bool) -> Malformed | None:
    """Why an expression that looks for ``fields`` may have passed over a part of what a reply says.

    Where it looks for one value, no field may be there twice; where for several, the objects of every list
    have the same of its fields, and at least one.
    """
    if not several:
        times = [name for part in _objects(value) for name in part if name in fields]
        return Malformed("ambiguous") if len(times) > len(set(times)) else None
    for items in _lists(value):
        present = [
            {name for name in fields if row.get(name) is not None} for row in items if isinstance(row, dict)
        ]
        if any(not names or names != present[0] for names in present):
            return Malformed("missing_field")
    return None


def _parts(value: Any) -> Iterator[Any]:
    """A value and all that is in it. How deep it can be is limited where JSON of others is read."""
    yield value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    return (part for part in _parts(value) if isinstance(part, dict))


def _lists(value: Any) -> Iterator[list[Any]]:
    return (part for part in _parts(value) if isinstance(part, list))
