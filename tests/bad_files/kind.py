"""What a row of the tables of bad files is about: a kind of file, and the command that reads it."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass

from harness.data import INPUTS

# the faults that are none where a table may be empty, and where it is made by the command
BARE = ("empty", "only a header")
NEW = ("missing", "only a header")


@dataclass(frozen=True)
class Kind:
    """``file`` is read by ``command`` in a folder that holds ``files``; as they are, the command succeeds.

    ``command`` is the words of a command, or a function where the command does much more than reading.
    ``fine`` names the faults that any file may have with which the command succeeds all the same.
    """

    file: str
    command: str | Callable[[], object]
    files: dict[str, str | bytes]
    fine: tuple[str, ...] = ()
    row: type | None = None
    """The declared rows of the file, whose columns have faults of their own."""


def faults_of_columns(kind):
    """Faults that the declaration of a table forbids: (fault, content, the line where it is)."""
    spec = INPUTS[kind.row]
    columns, rows = parsed(kind)
    first = 1 if kind.file.endswith(".jsonl") else 2
    for one in spec.columns:
        name = next((name for name in (one.name, *one.column.names) if name in columns), None)
        if name is None:
            continue
        cells = {}
        if one.needed and (one.kind is not str or one.column.filled or one.field in spec.key):
            cells["empty"] = ""
        if one.kind in (int, float, bool) or one.column.among:
            cells["in words"] = "perhaps"
        if one.kind is int and not one.column.read:
            cells["below the least"] = str((one.column.least or 0) - 1)
            cells["a fraction"] = "0.5"
        if one.column.most is not None:
            cells["above the most"] = str(one.column.most + 1)
        for fault, cell in cells.items():
            yield f"{name} {fault}", spelled(kind, columns, [{**rows[0], name: cell}, *rows[1:]]), first
    if spec.key:
        yield "a row twice", spelled(kind, columns, [*rows, rows[0]]), first + len(rows)


def parsed(kind):
    """The columns and rows of a table as it works."""
    text = kind.files[kind.file]
    if kind.file.endswith(".jsonl"):
        rows = [json.loads(line) for line in text.splitlines()]
        return list(rows[0]), rows
    rows = list(csv.DictReader(io.StringIO(text), delimiter=mark(kind)))
    return list(rows[0]), rows


def spelled(kind, columns, rows):
    """The content of a table."""
    if kind.file.endswith(".jsonl"):
        return lines(*rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, delimiter=mark(kind), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def mark(kind):
    return "\t" if kind.file.endswith(".tsv") else ","


def lines(*records):
    """JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in records)


def with_line(content, line):
    """A file with one more line at its end."""
    return content + line + "\n"
