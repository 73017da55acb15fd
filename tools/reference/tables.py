"""The parts of the docs that describe tables: of results, and those that people write."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import harness.data.corpus.clusters
import harness.data.corpus.hits
import harness.data.external.answer_files
import harness.report.rows  # noqa: F401 - declares the tables
from harness.data.corpus.inputs import INPUTS
from harness.data.import_formats import IMPORTS
from harness.report.table_spec import TABLES, TableSpec
from harness.values import Declared

_WIDTH = 118


def tables_reference() -> str:
    """Every table with its prose and columns, in Markdown."""
    return "\n\n".join(_section(spec) for spec in TABLES.values())


def _section(spec: TableSpec[Any]) -> str:
    prose = (inspect.getdoc(spec.row) or "").replace("``", "`")
    paragraphs = [textwrap.fill(part, _WIDTH, break_on_hyphens=False) for part in prose.split("\n\n")]
    facts = []
    if spec.when:
        facts.append(f"Written {spec.when}.")
    if spec.key:
        facts.append(f"One row for each {_listed(spec.key)}.")
    lines = [f"## `{spec.file}`: {spec.title}", *paragraphs]
    lines += [" ".join(facts)] if facts else []
    return "\n\n".join([*lines, _columns(spec)])


def input_columns(name: str) -> str:
    """The columns of a table that people write."""
    (spec,) = (spec for spec in INPUTS.values() if spec.name == name)
    rows = []
    for one in spec.columns:
        names = " or ".join(f"`{known}`" for known in (one.name, *one.column.names))
        needed = ", **required**" if one.needed else ""
        rows.append(f"| {names} | {_type(one)}{needed} | {one.column.about} |")
    return "\n".join(["| column | holds | what |", "|---|---|---|", *rows])


def import_formats() -> str:
    """What `harness import` reads."""
    rows = [f"| `{name}` | {one.about} |" for name, one in IMPORTS.items()]
    rows += ["| `ragas` with `--documents` | a test set: queries with reference answers and contexts |"]
    return "\n".join(["| format | what |", "|---|---|", *rows])


def _columns(spec: TableSpec[Any]) -> str:
    rows = [f"| `{one.name}` | {_type(one)} | {one.column.about} |" for one in spec.columns]
    return "\n".join(["| column | holds | what |", "|---|---|---|", *rows])


def _type(one: Declared) -> str:
    kinds = {str: "text", int: "whole number", float: "number", bool: "yes, no"}
    kind = kinds.get(one.kind, "list")
    unit = f", {one.column.unit}" if one.column.unit else ""
    return f"{kind}{unit}{' or empty' if one.empty else ''}"


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
