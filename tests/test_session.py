"""The session of a run is taken by the engine and by whole jobs; the rest takes the parts that it needs."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness"
# The session holds the cache, the models and where they compute. The engine takes it, which meets the needs
# of steps, and whole jobs, which hand parts of it on: notes, models, a reader of documents, the ledger, or a
# visitor that meets needs.
ENGINE = {
    "compute.py": {"ModelPass"},
    "meeting.py": {"Running"},
    "passes.py": {"encoding", "scoring"},
    "resources.py": {"Resources"},
    "search.py": {"cut_for_all", "search_settings"},
}
JOBS = {
    "bench/flow.py": {"search_all", "_search"},
    "bench/plan.py": {"_of_what_is_known"},
    "bench/preparing.py": {"prepare", "load_searched"},
    "bench/quick.py": {"first_results"},
    "evaluate/evaluating.py": {"evaluate"},
    "evaluate/result_tables.py": {"results_of", "make_record"},
    "existing.py": {"with_existing"},
    "latency.py": {"latency_rows", "_measured"},
    "readiness.py": {"check_ready"},
    "tuning/outlay.py": {"outlays", "of"},
    "../labels/labelling/retrieved.py": {"pool_unjudged"},
    "../labels/testset/gathering.py": {"gather", "_rankings"},
}
# what has a session, as its field or by what it is made of, is read by files of the engine alone
HOLDERS = {
    "session.py",
    "compute.py",
    "cut_apart.py",
    "meeting.py",
    "resources.py",
    "search.py",
    "planning.py",
    "latency.py",
}
# the parts of a session that functions take alone
PARTS = {"notes", "models", "artifacts", "document_reader"}
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


@cache
def nodes_of(path):
    """All nodes of a file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def is_session(annotation):
    """Whether an annotation names the session, alone or among others."""
    for node in ast.walk(annotation):
        name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
        if isinstance(name, str) and re.search(r"\bSession\b", name):
            return True
    return False


def takers(files):
    """The functions that take a session, by file and name."""
    return {
        (path.name, function.name): Taker(function, argument.arg)
        for path in files
        for function in nodes_of(path)
        if isinstance(function, ast.FunctionDef)
        for argument in [*function.args.args, *function.args.kwonlyargs]
        if argument.annotation is not None and is_session(argument.annotation)
    }


def holders(files):
    """The classes with a field that is a session, by file and name."""
    return {
        (path.name, cls.name)
        for path in files
        for cls in nodes_of(path)
        if isinstance(cls, ast.ClassDef)
        for field in cls.body
        if isinstance(field, ast.AnnAssign) and is_session(field.annotation)
    }


def read_from_others(path):
    """The places in a file where the session of something else is read, such as ``visitor.session``."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr in {"session", "_session"}
    ]


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
    assert too_wide(sorted(HARNESS.rglob("*.py"))) == {}


def test_the_engine_and_whole_jobs_take_the_session_and_nothing_else_does():
    listed = {
        ((HARNESS / "running" / name).resolve(), taker)
        for name, names in (*ENGINE.items(), *JOBS.items())
        for taker in names
    }
    found = {
        (path.resolve(), name)
        for path in HARNESS.rglob("*.py")
        for _, name in (*takers([path]), *holders([path]))
    }
    assert found == listed
    assert len(listed) <= 25


def test_a_session_is_not_read_off_what_the_engine_hands_on():
    readers = {path.name for path in HARNESS.rglob("*.py") if read_from_others(path)}
    assert readers <= HOLDERS
    assert "meeting.py" in readers


@pytest.mark.parametrize(
    "code",
    [
        "def f(session: Session): ...",
        "def f(*, run: 'running.Session | None' = None): ...",
        "class A:\n    session: Session | None",
    ],
)
def test_a_session_is_found_however_it_is_taken(code, tmp_path):
    path = tmp_path / "file.py"
    path.write_text(code, encoding="utf-8")
    assert [*takers([path]), *holders([path])]


@pytest.mark.parametrize("code", ["work.session.notes", "self._session", "f(visitor.session)"])
def test_a_session_that_is_read_off_something_is_found(code, tmp_path):
    path = tmp_path / "file.py"
    path.write_text(code, encoding="utf-8")
    assert read_from_others(path)


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
