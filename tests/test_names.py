"""Names: a local one says what it holds, `ranking` or `hits`, not `one` or `found`; modules share none."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness"
# these words fit any value, so that a reader has to look up what they stand for
EMPTY = {
    *("one", "found", "own", "known", "its", "told", "asked", "put"),
    *("here", "said", "done", "made", "came", "taken", "given", "theirs"),
}
# the highest share of empty names among all that are assigned or taken, in percent
FINISHED = 1.0
LIMITS = {
    "cli": FINISHED,
    "comparison": FINISHED,
    "data": FINISHED,
    "judge": FINISHED,
    "labels": FINISHED,
    "measures": FINISHED,
    "models": FINISHED,
    "models/llm": FINISHED,
    "report": FINISHED,
    "running": FINISHED,
    "steps": FINISHED,
    "steps/answer": FINISHED,
    "steps/search": FINISHED,
    "store": FINISHED,
    "values": FINISHED,
}
# modules that are the same part of several kinds of things
OF_A_KIND = {"__init__.py", "config.py", "kinds.py", "labels.py", "llm.py"}


def names_of(tree: ast.AST) -> Iterator[str]:
    """The parameters, and every name that is assigned, whether by `=`, a loop, a comprehension or `with`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def folder_of(path: Path) -> str:
    """The folder of `LIMITS` that holds a module; empty for the modules beside the rooms."""
    parts = path.relative_to(HARNESS).parts[:-1]
    depths = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next((folder for folder in depths if folder in LIMITS), "/".join(parts))


def names_by_folder() -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in sorted(HARNESS.rglob("*.py")):
        names.setdefault(folder_of(path), []).extend(names_of(ast.parse(path.read_text("utf-8"))))
    return names


NAMES = names_by_folder()


@pytest.mark.parametrize("folder", LIMITS)
def test_few_names_are_empty_words(folder):
    empty = [name for name in NAMES[folder] if name in EMPTY]
    share = 100 * len(empty) / len(NAMES[folder])
    assert share <= LIMITS[folder], f"{share:.1f} % of the names of {folder}: {sorted(set(empty))}"


def test_every_folder_has_a_limit():
    assert NAMES.keys() - {""} == LIMITS.keys()


def test_names_are_counted_however_they_are_bound():
    text = """
def search(one, *given, known=1):
    found: list = [own for own in given]
    with one as its, other as (said, told):
        for taken, *made in its:
            asked += 1
    return (here := found.done), lambda put: put
"""
    assert sorted(names_of(ast.parse(text))) == sorted(
        [
            "one",
            "given",
            "known",
            "found",
            "own",
            "its",
            "said",
            "told",
            "taken",
            "made",
            "asked",
            "here",
            "put",
        ]
    )


def test_no_two_modules_have_the_same_name():
    # a step is named after its kind, which may be one of several steps
    counts = Counter(path.name for path in HARNESS.rglob("*.py") if "steps" not in path.parts)
    assert {name for name, count in counts.items() if count > 1} <= OF_A_KIND
