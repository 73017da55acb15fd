"""What one run shares is handed to what needs several parts of it; the rest takes its notes or its models."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness"
# the parts of a session that functions take alone
PARTS = {"notes", "models", "artifacts"}
UNKNOWN = "whatever is done with all of it"


class Taker:
    """A function that takes a session: the parts it uses itself, and the functions it hands all of it to."""

    def __init__(self, function, name):
        self.parts, self.heirs = set(), set()
        seen = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                self.parts.add(node.attr)
                seen.add(node.value)
            elif isinstance(node, ast.Call):
                words = [*node.args, *(keyword.value for keyword in node.keywords)]
                for word in words:
                    if isinstance(word, ast.Name) and word.id == name:
                        self.heirs.add(ast.unparse(node.func).rpartition(".")[2])
                        seen.add(word)
        names = {node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name}
        if names - seen:
            self.parts.add(UNKNOWN)


def takers(files):
    """The functions that take a session, by file and name."""
    return {
        (path.name, function.name): Taker(function, argument.arg)
        for path in files
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for argument in [*function.args.args, *function.args.kwonlyargs]
        if argument.annotation is not None
        and ast.unparse(argument.annotation).strip("'\"") in {"Session", "running.Session"}
    }


def too_wide(files):
    """The functions that take a session and need one part of it alone, with that part."""
    functions, by_name = takers(files), defaultdict(list)
    for place, taker in functions.items():
        by_name[place[1]].append(taker)
    needs = {place: set(taker.parts) for place, taker in functions.items()}
    for _ in functions:
        for place, taker in functions.items():
            for heir in taker.heirs:
                of_heir = [needs[place] for place in functions if place[1] == heir]
                needs[place] |= set().union(*of_heir) if of_heir else {UNKNOWN}
    return {place: parts for place, parts in needs.items() if len(parts) == 1 and parts <= PARTS}


def test_what_needs_one_part_of_a_session_takes_that_part():
    files = sorted(HARNESS.rglob("*.py"))
    assert len(takers(files)) > 50
    assert too_wide(files) == {}


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("session.notes.warn('a')", {"notes"}),
        ("other(session)", {"notes"}),
        ("session.models, session.notes", None),
        ("elsewhere(session)", None),
        ("self.session = session", None),
    ],
)
def test_the_parts_of_a_function_include_those_of_the_functions_it_calls(body, parts, tmp_path):
    path = tmp_path / "file.py"
    path.write_text(
        f"def reads(session: Session):\n    {body}\n\n"
        "def other(session: Session):\n    session.notes.reporter.note('b')\n",
        encoding="utf-8",
    )
    assert too_wide([path]).get(("file.py", "reads")) == parts
