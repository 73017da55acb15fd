"""The house rules on who may import whom, and that heavy libraries stay out of the way of `--help`."""

import ast
import functools
import importlib
import importlib.util
import sys
from collections import Counter
from pathlib import Path

from tools.doors import offered_by, with_table

HARNESS = Path(__file__).parent.parent / "harness"
HEAVY = {
    "chromadb",
    "torch",
    "sentence_transformers",
    "transformers",
    "bm25s",
    "Stemmer",
    "jieba",
    "faiss",
    "langchain_text_splitters",
    "openpyxl",
    "docx",
    "pptx",
    "bs4",
    "lxml",
    "openvino",
    "optuna",
    "httpx2",
    "openai",
    "jmespath",
    "uvicorn",
    "pypdfium2",
}

# room -> the rooms of ours that it may import from: only some of those above it, so without circles
ALLOWED = {
    "values": set(),
    "store": {"values"},
    "models": {"values", "store"},
    "report": {"values"},
    "measures": {"values", "models"},
    "steps": {"values", "models"},
    "data": {"values", "measures", "steps"},
    "comparison": {"values", "report", "measures", "steps", "data"},
    "judge": {"values", "store", "models", "comparison"},
    "running": {"values", "store", "models", "report", "measures", "comparison", "judge", "steps", "data"},
}
ALLOWED["labels"] = ALLOWED["running"] | {"running"}
ALLOWED["cli"] = ALLOWED["labels"] | {"labels"}

# Imports of tests from inside rooms, by the room that they enter: such tests are rewritten with every change
# of its inside. It only falls: lower it where tests need less.
FROM_INSIDE = {
    "cli": 13,
    "comparison": 48,
    "data": 27,
    "judge": 9,
    "labels": 29,
    "measures": 11,
    "models": 18,
    "report": 8,
    "running": 69,
    "steps": 41,
    "store": 6,
    "values": 5,
}


@functools.cache
def modules():
    """(path, parsed module) of every file: each rule is one test over all, and names every offender."""
    paths = sorted(HARNESS.rglob("*.py"))
    assert len(paths) > 100
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def name_of(path):
    return str(path.relative_to(HARNESS))


def room_of(path):
    return path.relative_to(HARNESS).parts[0].removesuffix(".py")


def statements(tree):
    """Every statement of a file, however deep: imports are among these, so expressions need no visit."""
    waiting = [tree]
    for node in waiting:
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            found = getattr(node, part, ())
            waiting.extend(found if isinstance(found, list) else ())
    return waiting


def imports(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute in this house"
            if node.module == "harness":
                yield from (f"harness.{alias.name}" for alias in node.names)
            else:
                yield node.module


def roots(names):
    return {name.split(".")[0] for name in names}


def forbidden(path, tree):
    """The imports of a file that its room may not make."""
    room = room_of(path)
    names = set(imports(statements(tree)))
    ours = {name.split(".")[1] for name in names if name.startswith("harness.")} - {"__version__", "door"}
    found = ours - {room} - ALLOWED[room] if room in ALLOWED else set()
    if name_of(path) == "values/types.py":
        found |= roots(names) & {"numpy", "pydantic", "pandas"}
    if room == "measures" and "answer" not in path.parts:
        # measures are pure
        found |= roots(names) - {"harness", "numpy"} - set(sys.stdlib_module_names)
    return found


def offenders(found):
    return {name_of(path): named for path, tree in modules() if (named := found(path, tree))}


def test_rooms_import_only_what_they_may():
    assert offenders(forbidden) == {}


def past_the_door(path, tree):
    """The modules inside other rooms that a file imports, instead of what the room offers."""
    room = room_of(path)
    inside = {name for name in imports(statements(tree)) if name.count(".") > 1}
    return {name for name in inside if name.startswith("harness.") and name.split(".")[1] != room}


def test_rooms_are_entered_by_the_door():
    # the package itself hands out the Python face of the last room
    found = offenders(past_the_door)
    assert found.pop("__init__.py") == {
        f"harness.cli.{name}" for name in ("api", "assertions", "own_retrievers")
    }
    assert found == {}


# what the kinds of other packages are made of
FOR_PACKAGES = {
    "steps": {
        "Answerer",
        "ChunkerConfig",
        "Contextualizer",
        "Filter",
        "Fusion",
        "FusionConfig",
    }
    | {"PairScorer", "Reader", "Retriever", "Rewriter", "answers_of", "cut"},
    "values": {"Kind", "Ranking"},
    "measures": {"Family"},
    "data": {"ImportFormat", "TraceFormat", "TraceStep"},
}


def taken_by_others():
    """The names that files outside a room import from its door, or take as ``room.name``, by room."""
    root = HARNESS.parent
    others = [
        path
        for folder in ("tests", "tools", "benchmarks", "corpora")
        for path in (root / folder).rglob("*.py")
    ]
    trees = [*modules(), *((path, ast.parse(path.read_text(encoding="utf-8"))) for path in others)]
    taken = {room: set(names) for room, names in FOR_PACKAGES.items()}
    for path, tree in trees:
        own = room_of(path) if path.is_relative_to(HARNESS) else ""
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Attribute)]
        whole = set()
        for node in nodes:
            if not isinstance(node, ast.ImportFrom):
                continue
            names, room = {alias.name for alias in node.names}, (node.module or "").removeprefix("harness.")
            if room == "harness":
                whole |= names
            elif room in ALLOWED and room != own:
                taken.setdefault(room, set()).update(names)
        for node in nodes:
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in whole:
                taken.setdefault(node.value.id, set()).add(node.attr)
    return taken


def names_of_door(room):
    """What the door of a room offers, by its imports for the type checker."""
    source = (HARNESS / room / "__init__.py").read_text("utf-8")
    entries = (entry for names in offered_by(source).values() for entry in names)
    return {entry.partition("=")[2] or entry for entry in entries}


def test_the_table_of_a_door_is_that_of_its_imports():
    for room in sorted(ALLOWED.keys() - {"cli"}):
        source = (HARNESS / room / "__init__.py").read_text("utf-8")
        assert with_table(source) == source, f"{room}: run python tools/doors.py"


def test_a_door_offers_what_others_take_and_nothing_else():
    taken = taken_by_others()
    for room in sorted(ALLOWED.keys() - {"cli"}):
        names = names_of_door(room)
        assert sorted(names - taken[room]) == [], f"{room}: nobody takes these"
        assert FOR_PACKAGES.get(room, set()) <= names
        for name in names:
            getattr(importlib.import_module(f"harness.{room}"), name)


def test_a_name_is_no_module_beside_its_door():
    # importing the module would put it in the place of what the door offers
    for room in sorted(ALLOWED.keys() - {"cli"}):
        inside = {path.stem for path in (HARNESS / room).iterdir()}
        assert names_of_door(room) & inside == set()


def test_there_are_twelve_rooms_without_circles():
    assert {room_of(path) for path, _ in modules()} - {"__init__", "__main__", "door"} == set(ALLOWED)
    above = set()
    for room, may in ALLOWED.items():
        assert may <= above
        above.add(room)


def test_no_two_classes_share_a_name():
    # the Python face calls its own Results and Comparison as its readers would
    homes = {}
    for path, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and path.name != "api.py":
                homes.setdefault(node.name, []).append(name_of(path))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_heavy_libraries_are_imported_where_they_are_used():
    assert offenders(lambda path, tree: roots(imports(tree.body)) & HEAVY) == {}


def test_no_module_is_longer_than_400_lines():
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path, _ in modules()}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def called(tree):
    """The calls of a module: plain names, and attributes of names as (name, attribute)."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    plain = {f.id for f in functions if isinstance(f, ast.Name)}
    of_names = (f for f in functions if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name))
    return plain | {(f.value.id, f.attr) for f in of_names}


def test_only_the_command_line_prints_or_exits():
    ends = {"print", "exit", "quit", ("sys", "exit")}
    quiet = {"cli/__init__.py", "cli/terminal.py"}
    assert offenders(lambda path, tree: called(tree) & ends if name_of(path) not in quiet else set()) == {}


def test_what_benchmarks_and_tools_import_from_the_harness_exists():
    folders = (HARNESS.parent / name for name in ("benchmarks", "tools", "corpora"))
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "harness":
                module = importlib.import_module(node.module)
                for one in node.names:
                    known = hasattr(module, one.name) or importlib.util.find_spec(f"{node.module}.{one.name}")
                    assert known, f"{path.name}: {node.module} has no {one.name}"


def test_tests_enter_rooms_by_the_door():
    entered = Counter(
        node.module.split(".")[1]
        for path in (HARNESS.parent / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("harness.")
        if node.module.count(".") > 1
    )
    grown = {room: count for room, count in entered.items() if count > FROM_INSIDE.get(room, 0)}
    assert grown == {}, "take the names from the doors of these rooms"
