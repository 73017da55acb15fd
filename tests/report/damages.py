"""Ways in which a folder of results can be damaged, by a disk, a spreadsheet, an editor or a merge."""

import csv
import json
import random
import shutil
from pathlib import Path

ODD_VALUES = (None, [], {}, "x", -1, 1e308, True, "\x1b[2J", [None], {"a": None})
ODD_CELLS = ("", "x", "nan", "-inf", "1e999", "-5", "9" * 5000, "0x10", "\x00", "\u202e", "'=1", "[red]", " ")


def all_damages(folder):
    """Yield (name, function of a folder that damages it) for every way; the folder is a whole result."""
    tables = sorted(path.name for path in folder.glob("*.csv"))
    for file in (*tables, "record.json"):
        yield from _of_file(file)
    for table in tables:
        yield from _of_table(table, folder / table)
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    yield from _of_record(record)


def _of_file(file):
    yield f"{file} missing", lambda folder: (folder / file).unlink()
    for name, content in {
        "empty": b"",
        "a newline": b"\n",
        "a bracket": b"[",
        "null": b"null",
        "zeros": bytes(5000),
        "noise": random.Random(3).randbytes(5000),
        "Latin-1": "é,è\nà,ç\n".encode("latin-1"),
        "UTF-16": "a,b\n1,2\n".encode("utf-16"),
        "an open quote": b'a,b\n"1,2\n' * 10,
        "nested": b"[" * 100_000,
    }.items():
        yield f"{file} is {name}", lambda folder, content=content: (folder / file).write_bytes(content)

    def halved(folder):
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole[: len(whole) // 2])

    def folder_instead(folder):
        (folder / file).unlink()
        (folder / file).mkdir()

    def loop(folder):
        (folder / file).unlink()
        (folder / file).symlink_to(file)

    yield f"{file} is halved", halved
    yield f"{file} is a folder", folder_instead
    yield f"{file} is a loop of links", loop


def _of_table(table, path):
    with path.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))

    def edit(change):
        def damage(folder):
            with (folder / table).open(encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))
            with (folder / table).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(change(rows))

        return damage

    yield f"{table}: header alone", edit(lambda rows: rows[:1])
    yield f"{table}: no header", edit(lambda rows: rows[1:])
    yield f"{table}: header twice", edit(lambda rows: rows[:1] + rows)
    yield f"{table}: rows twice", edit(lambda rows: rows + rows[1:])
    yield f"{table}: last row missing", edit(lambda rows: rows[:-1])
    yield f"{table}: every other row missing", edit(lambda rows: rows[:1] + rows[1::2])
    yield f"{table}: rows cut", edit(lambda rows: [*rows[:1], *(row[:2] for row in rows[1:])])
    yield f"{table}: rows too long", edit(lambda rows: [*rows[:1], *([*row, "more"] for row in rows[1:])])
    yield f"{table}: columns reversed", edit(lambda rows: [row[::-1] for row in rows[:1]] + rows[1:])
    yield f"{table}: a row of one cell", edit(lambda rows: [*rows, ["x"]])
    yield f"{table}: a huge cell", edit(lambda rows: [*rows, ["x" * 200_000] * len(rows[0])])
    for i, column in enumerate(columns):
        yield (
            f"{table}: without {column}",
            edit(lambda rows, i=i: [row[:i] + row[i + 1 :] for row in rows]),
        )
        for cell in ODD_CELLS:
            for which in ("first", "all"):
                yield (
                    f"{table}: {column} {which} {cell[:9]!r}",
                    edit(lambda rows, i=i, cell=cell, which=which: _with_cell(rows, i, cell, which)),
                )


def _with_cell(rows, i, cell, which):
    chosen = range(1, len(rows)) if which == "all" else range(1, min(2, len(rows)))
    for at in chosen:
        rows[at][i] = cell
    return rows


def _of_record(record, path=()):
    value = record
    for key in path:
        value = value[key]
    keys = value if isinstance(value, dict) else range(len(value[:1])) if isinstance(value, list) else ()
    for key in keys:
        where = (*path, key)
        yield f"record.json: without {where}", _edit_record(where, "remove", None)
        for odd in ODD_VALUES:
            yield f"record.json: {where} is {odd!r}", _edit_record(where, "set", odd)
        if len(where) < 4:
            yield from _of_record(record, where)


def _edit_record(where, what, odd):
    def damage(folder):
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        value = record
        for key in where[:-1]:
            value = value[key]
        if what == "remove":
            del value[where[-1]]
        else:
            value[where[-1]] = odd
        (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")

    return damage


def damaged_copy(whole, target, damage):
    """A copy of a result in ``target``, damaged."""
    if Path(target).exists():
        shutil.rmtree(target)
    shutil.copytree(whole, target)
    damage(target)
    return target
