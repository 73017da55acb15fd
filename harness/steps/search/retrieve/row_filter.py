"""Which rows of an existing collection a search is restricted to, as each store is asked for them.

Values are handed over beside a statement or as JSON wherever a store takes them so. Where a name or a value
stands in a statement, the name is one that the store has itself said it has, and both are quoted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, FiniteFloat, StrictBool, StrictInt, StrictStr

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


RowFilter = Annotated[
    dict[str, Scalar | Annotated[tuple[Scalar, ...], Field(strict=False)]], AfterValidator(_named)
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

    def condition(name: str, value: Scalar) -> Any:
        if isinstance(value, float):
            # only ranges take them
            return models.FieldCondition(key=name, range=models.Range(gte=value, lte=value))
        return models.FieldCondition(key=name, match=models.MatchValue(value=value))

    fields = values_by_field(only, "payload").items()
    return models.Filter(
        must=[models.Filter(should=[condition(name, value) for value in values]) for name, values in fields]
    )


def chroma_where(only: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A filter of Chroma's metadata; None for all rows; raises HarnessError for a name of an operator."""
    if not only:
        return None
    conditions = []
    for name, values in values_by_field(only, "metadata").items():
        if name.startswith(("$", "#")):
            raise HarnessError(f"retrieve.only: {name} is no field of metadata in Chroma. Correct its name.")
        conditions.append({name: {"$in": list(values)}})
    return conditions[0] if len(conditions) == 1 else {"$and": conditions}


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
        filters.append({"terms": {name: list(values)}})
    return filters


def sql_conditions(only: Mapping[str, Any] | None, columns: Collection[str]) -> tuple[str, list[Any]]:
    """Conditions of PostgreSQL, each after AND, and what is bound to them.

    ``columns`` are those of the table; after a dot stand keys of JSON. Raises HarnessError for another name.
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
        else:
            statement += f" AND {quoted} IN ({', '.join(['%s'] * len(values))})"
            bound += values
    return statement, bound


def lance_where(only: Mapping[str, Any] | None, names: Collection[str]) -> str | None:
    """A condition of LanceDB; None for all rows.

    ``names`` are the columns, and those within them after a dot. Raises HarnessError for another name, or one
    that cannot be quoted.
    """
    conditions = []
    for name, values in values_by_field(only).items():
        if name not in names:
            raise HarnessError(_absent(name, names))
        if "`" in name:
            raise HarnessError(f"retrieve.only: LanceDB cannot be asked for a column that is called {name}.")
        column = ".".join(f"`{part}`" for part in name.split("."))
        conditions.append(f"{column} IN ({', '.join(map(_literal, values))})")
    return " AND ".join(conditions) or None


def _literal(value: Scalar) -> str:
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _absent(name: str, names: Collection[str]) -> str:
    return f"retrieve.only: the collection has no field {name}; it has {', '.join(names) or 'none'}."
