"""Every system, method, measure and worked example that the documents behind the project name has a test.

``rows.csv`` beside this file is the list that stands: an id, what it is, its test, whose name begins with
the id, the command that shows it, and what came out when it was run and read by hand. A row that is there is
never taken out.
"""

import ast
import csv
import os
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from tests.test_docs_commands import TARGETS, fits

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# Rows without a test: the set only shrinks. Whoever brings a row moves its id from here to rows.csv.
MISSING: set[str] = set()
# how many rows each document has, and the card in the users' words
HELD = {"card": 4, "ndcg": 15, "set": 7, "tier": 6, "abil": 5, "ragas": 9, "hyb": 12}


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def functions_of(path):
    """The names of the functions at the top of a module."""
    return {
        node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
    }


ROWS = rows_of(HERE / "rows.csv")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_test_of_a_row_is_there_under_its_id(row):
    path, _, function = row["test"].partition("::")
    assert function in functions_of(ROOT / path)
    name = f"test_{row['id'].replace('-', '_')}"
    assert f"{function}_".startswith(f"{name}_")
    assert row["what"]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_command_that_shows_a_row_is_one(row):
    program, *words = shlex.split(row["command"], comments=True)
    if program == "harness":
        fits(words, whole=True)
    elif program == "make":
        assert words[0] in TARGETS
    elif words[0] == "-c":
        compile(words[1], row["id"], "exec")
    else:
        assert (program, words[0]) == ("python", "-m")
        assert (ROOT / f"{words[1].replace('.', '/')}.py").is_file()
    for named in re.findall(r"configs/[\w./-]+", row["command"]):
        assert (ROOT / named).is_file()
    # my.yaml is a recipe with a change, which stands behind it
    for recipe in re.findall(r"# (\w+\.yaml) with ", row["command"]):
        assert (ROOT / "configs" / "recipes" / recipe).is_file()


def test_a_row_is_there_once_and_is_not_called_missing():
    assert [name for name, times in Counter(row["id"] for row in ROWS).items() if times > 1] == []
    assert {row["id"] for row in ROWS} & MISSING == set()


def test_no_row_is_taken_out():
    ids = {f"{document}-{number}" for document, count in HELD.items() for number in range(1, count + 1)}
    assert len(ids) == 58
    assert ids <= {row["id"] for row in ROWS} | MISSING


def test_every_row_of_the_documents_has_a_test_or_is_named_as_missing():
    shared = Path(os.environ.get("HARNESS_SHARED", ROOT.parent / "shared"))
    listed = shared / "mission" / "rows.csv"
    if not listed.is_file():
        pytest.skip(f"the documents of the project are not at {shared} (set HARNESS_SHARED)")
    assert {row["id"] for row in rows_of(listed)} == {row["id"] for row in ROWS} | MISSING
