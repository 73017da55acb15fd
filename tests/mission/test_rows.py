"""Every system, method, measure and worked example that the documents behind the project name has a test.

``rows.csv`` beside this file is the list that stands: an id, what it is, and its test, whose name begins with
the id. A row that is there is never taken out.
"""

import ast
import csv
import os
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# Rows without a test: the set only shrinks. Whoever brings a row moves its id from here to rows.csv.
MISSING: set[str] = set()


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


def test_a_row_is_there_once_and_is_not_called_missing():
    assert [name for name, times in Counter(row["id"] for row in ROWS).items() if times > 1] == []
    assert {row["id"] for row in ROWS} & MISSING == set()


def test_every_row_of_the_documents_has_a_test_or_is_named_as_missing():
    shared = Path(os.environ.get("HARNESS_SHARED", ROOT.parent / "shared"))
    listed = shared / "mission" / "rows.csv"
    if not listed.is_file():
        pytest.skip(f"the documents of the project are not at {shared} (set HARNESS_SHARED)")
    assert {row["id"] for row in rows_of(listed)} == {row["id"] for row in ROWS} | MISSING
