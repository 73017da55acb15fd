"""Run a command of the harness inside a test."""

import csv
from pathlib import Path

import pytest

from harness.cli import main
from harness.report import TABLES, read_rows, read_tables
from harness.running import load_config, run_bench
from harness.values import Silent

# a benchmark of one document and one question
YARD = {
    "a.txt": "The yard holds 4,200 vehicles.\n\nRain fell on the harbour.",
    "queries.csv": "query_id,text\nq1,How many vehicles fit the yard?\n",
    "labels.csv": 'query_id,document,quote,grade\nq1,a,"holds 4,200 vehicles",4\n',
    "c.yaml": "name: one\ndocuments: '*.txt'\nqueries: queries.csv\nlabels: labels.csv\n"
    "chunk: {kind: recursive, chunk_size: 40}\nretrieve: {kind: bm25}\n",
}

THINGS = ("otters", "cranes", "ferries", "masts", "anchors", "sails", "ropes", "nets")
# a benchmark that ranks what each of eight questions needs second, behind a text that repeats its word
REPEATED = {
    **{f"{thing}.txt": f"In the harbour there are many {thing} by the old wall." for thing in THINGS},
    **{f"{thing}-repeated.txt": f"{thing} {thing} {thing}" for thing in THINGS},
    "queries.csv": "query_id,text\n" + "".join(f"{thing},Where are {thing}?\n" for thing in THINGS),
    "labels.csv": "query_id,document,quote,grade\n"
    + "".join(f"{thing},{thing},by the old wall,4\n" for thing in THINGS),
    "c.yaml": "name: one\ndocuments: '*.txt'\nqueries: queries.csv\nlabels: labels.csv\n"
    "chunk: {kind: recursive, chunk_size: 100}\nretrieve: {kind: bm25, top_k: 5}\nmeasures: [ndcg_exp@10]\n",
}
# which loses it: 1 / log2(3) = 0.6309 becomes 0
DROPPED = REPEATED["c.yaml"].replace("top_k: 5", "top_k: 1")


def exit_code(*words):
    """The exit code of ``harness WORDS``."""
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


def run(capsys, *words):
    """The exit code of ``harness WORDS``, and what it has written to stdout and to stderr."""
    capsys.readouterr()
    code = exit_code(*words)
    out = capsys.readouterr()
    return code, out.out, out.err


def one_line(text):
    """Text without line breaks and borders of tables, wherever a terminal has wrapped it."""
    return " ".join(text.replace("│", " ").split())


def printed(capsys, *words):
    """The output of a command that succeeds, on one line."""
    code, out, err = run(capsys, *words)
    assert code == 0, err
    return one_line(out)


def refused(capsys, *words):
    """The message of a command that fails, on one line."""
    code, _, err = run(capsys, *words)
    assert code == 1
    return one_line(err)


def write_files(folder, files):
    """Write files, text or bytes by their names, into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def table(path):
    """The rows of a CSV file that a command wrote, by column."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def save_table(path, rows, mark=","):
    """Write rows, by column, as a person's CSV file."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), delimiter=mark, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def write_table(path, columns, rows):
    """Write some columns of a table of results; the others say as little as they may."""
    declared = TABLES[path.stem].columns if path.stem in TABLES else ()
    rest = {one.name: _least(one) for one in declared if one.name not in columns}
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*columns, *rest])
        out.writerows([*row, *rest.values()] for row in rows)


def _least(column):
    if column.kind is str or column.empty:
        return ""
    return "no" if column.kind is bool else 0


def bench(path, reporter=None):
    """The results of the benchmark that a file configures, and their folder, whose tables can all be read."""
    results, folder = run_bench(load_config(path), reporter or Silent())
    for spec in TABLES.values():
        if spec.path_in(folder).exists():
            read_rows(folder, spec.name)
    return results, folder


def told(path):
    """The results of a benchmark, their folder, and the reporter with all that was said."""
    reporter = Silent()
    results, folder = bench(path, reporter)
    assert_at_hand(results, folder)
    return results, folder, reporter


def assert_at_hand(results, folder):
    """What was written is told as it is read."""
    read, at_hand = read_tables(folder), read_tables(folder, results=results)
    for name in TABLES:
        assert (name, name in read, read[name]) == (name, name in at_hand, at_hand[name])
