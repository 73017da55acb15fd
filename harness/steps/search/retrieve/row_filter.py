"""Which rows of an existing collection a search is restricted to, as each store is asked for them.

Values are handed over beside a statement or as JSON wherever a store takes them so. Where a name or a value
stands in a statement, the name is one that the store has itself said it has, and both are quoted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, StrictBool, StrictInt, StrictStr

from harness.values import HarnessError

Scalar = StrictStr | StrictBool | StrictInt | Annotated[FiniteFloat, Field(strict=True)]
Scalars = tuple[Scalar, ...]


def _named(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what no store can be asked for."""
    if not fields:
        raise ValueError("name a field, such as {year: 2023}, or omit it")
    for name, value in fields.items():
        values = value if isinstance(value, tuple) else (value,)
        if not values:
            raise ValueError(f"{name}: the list is empty; name a value")
        if len({_kind(each) for each in values}) > 1:
            raise ValueError(f"{name}: its values are of several types; write all as text, or all as numbers")
        if not name.strip() or any(ord(letter) < 32 for letter in name):
            raise ValueError(f"{name!r} is no name of a field")
        if any(isinstance(each, str) and "\0" in each for each in values):
            raise ValueError(f"{name}: a value has a null character, which no store can hold")
    return fields


def _kind(value: Any) -> type:
    """The type of a value; whole numbers and fractions are of one, and bools are no numbers."""
    return float if type(value) is int else type(value)


def _dates_quoted(fields: Any) -> Any:
    """Refuse what YAML has made a date of, in words that say what to write."""
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, date):
                raise ValueError(f"{name}: write the date as the store has it, in quotes, such as '{each}'")
    return fields


RowFilter = Annotated[
    dict[str, Scalar | Annotated[tuple[Scalar, ...], Field(strict=False)]],
    BeforeValidator(_dates_quoted),
    AfterValidator(_named),
]
"""Fields of a row, with dots for what is nested, and the value of each, or several of which it has one."""


def values_by_field(only: Mapping[str, Any] | None, prefix: str = "") -> dict[str, Scalars]:
    """The values of each field, whose names lose the ``prefix`` that names the place of all of them."""
    return {
        name.removeprefix(f"{prefix}."): value if isinstance(value, tuple) else (value,)
        for name, value in (only or {}).items()
    }


def qdrant_filter(only: Mapping[str, Any] | None) -> Any:
    """A filter of Qdrant's payload; None for all rows."""
    if not only:
        return None
    from qdrant_client import models

    def conditions(name: str, value: Scalar) -> list[Any]:
        ways = []
        if not isinstance(value, float):
            ways.append(models.FieldCondition(key=name, match=models.MatchValue(value=value)))
        if not isinstance(value, str | bool):
            # only ranges take fractions, and find a whole number that is stored as one
            ways.append(models.FieldCondition(key=name, range=models.Range(gte=value, lte=value)))
        return ways

    fields = values_by_field(only, "payload").items()
    return models.Filter(
        must=[
            models.Filter(should=[each for value in values for each in conditions(name, value)])
            for name, values in fields
        ]
    )


def chroma_where(only: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A filter of Chroma's metadata; None for all rows; raises HarnessError for a name of an operator."""
    if not only:
        return None
    conditions = []
    for name, values in values_by_field(only, "metadata").items():
        if name.startswith(("$", "#")):
            raise HarnessError(f"retrieve.only: {name} is no field of metadata in Chroma. Correct its name.")
        conditions.append(_chroma_condition(name, values))
    return conditions[0] if len(conditions) == 1 else {"$and": conditions}


def _chroma_condition(name: str, values: Scalars) -> dict[str, Any]:
    """One of some values; Chroma compares with values of one type alone."""
    fractions = [value for value in values if isinstance(value, float) and not value.is_integer()]
    others = [int(value) if isinstance(value, float) else value for value in values if value not in fractions]
    ways: list[dict[str, Any]] = [{name: {"$in": others}}] if others else []
    for value in fractions:
        # beside whole numbers Chroma cuts a fraction off, and takes 2024 for 2024.5
        between = [{name: {"$gt": math.floor(value)}}, {name: {"$lt": math.ceil(value)}}]
        ways.append({"$and": [{name: {"$in": [value]}}, *between]})
    return ways[0] if len(ways) == 1 else {"$or": ways}


def terms_filters(only: Mapping[str, Any] | None, mapping: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Filters of OpenSearch and Elasticsearch; raises HarnessError where a field holds no whole values."""
    filters = []
    for name, values in values_by_field(only, "_source").items():
        field = mapping.get(name)
        if field is None:
            parent, _, inner = name.rpartition(".")
            field = (mapping.get(parent, {}).get("fields") or {}).get(inner)
        if field is None:
            raise HarnessError(_absent(name, mapping))
        if field.get("type") == "text":
            inner_names = [f"{name}.{inner}" for inner in field.get("fields") or {}]
            raise HarnessError(
                f"retrieve.only: {name} is a field of words, which has no whole values. Name a keyword field"
                f"{f', such as {inner_names[0]}' if inner_names else ''}."
            )
        filters.append({"terms": {name: list(_fitting(name, values, field.get("type", "")))}})
    return filters


def sql_conditions(only: Mapping[str, Any] | None, columns: Mapping[str, str]) -> tuple[str, list[Any]]:
    """Conditions of PostgreSQL, each after AND, and what is bound to them.

    ``columns`` are those of the table with their types; after a dot stand keys of JSON. Raises HarnessError
    for another name, or a value that a column of its type cannot hold.
    """
    statement = ""
    bound: list[Any] = []
    for name, values in values_by_field(only).items():
        column, _, path = (name, "", "") if name in columns else name.partition(".")
        if column not in columns:
            raise HarnessError(_absent(name, columns))
        quoted = '"{}"'.format(column.replace('"', '""').replace("%", "%%"))
        if path:
            places = ", ".join(["%s::jsonb"] * len(values))
            statement += f" AND to_jsonb({quoted}) #> %s::text[] IN ({places})"
            bound += [path.split("."), *map(json.dumps, values)]
            continue
        kind = columns[column]
        fitting = _fitting(name, values, kind)
        # 1.1 in single precision is none in double precision
        place = "%s::real" if kind.startswith("real") else "%s"
        places = ", ".join([place] * len(fitting))
        if not fitting:
            statement += " AND false"
        elif kind.endswith("[]"):
            statement += f" AND {quoted} && ARRAY[{places}]::{kind.replace('%', '%%')}"
        else:
            statement += f" AND {quoted} IN ({places})"
        bound += fitting
    return statement, bound


def lance_where(only: Mapping[str, Any] | None, columns: Mapping[str, str]) -> str | None:
    """A condition of LanceDB; None for all rows.

    ``columns`` are the columns, and those within them after a dot, with their types. Raises HarnessError for
    another name, one that cannot be quoted, or a value that a column of its type cannot hold.
    """
    conditions = []
    for name, values in values_by_field(only).items():
        if name not in columns:
            raise HarnessError(_absent(name, columns))
        if "`" in name:
            raise HarnessError(f"retrieve.only: LanceDB cannot be asked for a column that is called {name}.")
        column, kind = ".".join(f"`{part}`" for part in name.split(".")), columns[name]
        literals = ", ".join(_literal(value, kind) for value in _fitting(name, values, kind))
        if not literals:
            conditions.append("false")
        elif _LIST.match(kind):
            conditions.append(f"array_has_any({column}, [{literals}])")
        else:
            conditions.append(f"{column} IN ({literals})")
    return " AND ".join(conditions) or None


def _literal(value: Scalar, kind: str) -> str:
    if isinstance(value, str):
        moment = _MOMENT.match(kind)
        return f"{moment[0] if moment else ''}'{value.replace(chr(39), chr(39) * 2)}'"
    return str(value).lower() if isinstance(value, bool) else repr(value)


_LIST = re.compile("(large_|fixed_size_)?list<")
_MOMENT = re.compile("date|timestamp")
# what holds values of a sort, as PostgreSQL, OpenSearch and LanceDB call it
_SORTS = {
    "whole numbers": "smallint|integer|bigint|u?int(8|16|32|64)|byte|short|long|unsigned_long",
    "numbers": r"real|numeric|double( precision)?|(half_|scaled_|half)?float|decimal\d+\(.*\)",
    "true or false": "boolean|bool",
    "text": r"text|character( varying)?|(large_)?string|dictionary<values=(large_)?string,.*>|\w*keyword",
}


def _fitting(name: str, values: Scalars, kind: str) -> list[Any]:
    """The values that a field of a type, or a list of it, can hold; HarnessError for one of another sort."""
    inner = re.sub(r"^(large_|fixed_size_)?list<\w+: (.*)>(\[\d+\])?$", r"\2", kind).removesuffix("[]")
    sort = next((words for words, pattern in _SORTS.items() if re.fullmatch(pattern, inner)), "")
    types = {"whole numbers": float, "numbers": float, "true or false": bool, "text": str}
    if other := [value for value in values if sort and _kind(value) is not types[sort]]:
        raise HarnessError(
            f"retrieve.only: {name} holds {sort}, and {other[0]!r} is of another type. Write its values as "
            "the store has them: 2023 and '2023' are different values."
        )
    if sort != "whole numbers":
        return list(values)
    return [int(value) for value in values if not isinstance(value, float) or value.is_integer()]


def _absent(name: str, names: Collection[str]) -> str:
    return f"retrieve.only: the collection has no field {name}; it has {', '.join(names) or 'none'}."
