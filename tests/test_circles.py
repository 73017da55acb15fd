"""No two files of the harness need each other, however far around: each can be read after those it uses.

Imports count wherever they stand, under `if TYPE_CHECKING:` and inside functions too. A door is passed
through: what is taken from it is taken from the file that has it.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from harness.door import places_of
from tools.doors import offered_by

HARNESS = Path(__file__).parent.parent / "harness"
# the face of the package hands out the last room, as a door does
FACE = "harness"


def module_of(path):
    parts = path.relative_to(HARNESS.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Files:
    """Which file uses which, of those below a folder."""

    def __init__(self, folder=HARNESS):
        self.paths = {module_of(path): path for path in sorted(folder.rglob("*.py"))}
        self.trees = {
            module: ast.parse(path.read_text(encoding="utf-8")) for module, path in self.paths.items()
        }
        self.doors = {module for module, tree in self.trees.items() if self._is_door(module, tree)}

    @staticmethod
    def _is_door(module, tree):
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        return module == FACE or any(isinstance(call, ast.Name) and call.id == "door" for call in calls)

    def home(self, module, name):
        """The file that has a name which is taken from a module; None where it is not ours."""
        if f"{module}.{name}" in self.paths:
            return f"{module}.{name}"
        if module in self.doors and module != FACE:
            names = offered_by(self.paths[module].read_text(encoding="utf-8"))
            offered = places_of({holder: " ".join(each) for holder, each in names.items()}).get(name)
            return self.home(*offered) if offered else module
        return module if module in self.paths else None

    def used_by(self, module):
        """The files that one uses."""
        nodes = list(ast.walk(self.trees[module]))
        used, whole = set(), {}
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    home = self.home(node.module, alias.name)
                    used.add(home)
                    whole[alias.asname or alias.name] = home
            elif isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names if alias.name in self.paths}
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                door = whole.get(node.value.id)
                if door in self.doors:
                    used.add(self.home(door, node.attr))
        return used - {None, module} - self.doors

    def circle(self):
        """Files of which each uses the next, and the last the first; none where there is no circle."""
        graph = {module: self.used_by(module) for module in self.paths.keys() - self.doors}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            return error.args[1]
        return []


def test_there_is_no_circle_of_files():
    assert Files().circle() == []


@pytest.mark.parametrize(
    "closing",
    [
        "from harness.b import g",
        "def f():\n    from harness.b import g",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from harness.b import g",
        "import harness.b",
        "from harness import b",
        "from harness.room import g",
        "from harness import room\nroom.g()",
    ],
)
def test_a_circle_is_found_wherever_the_import_stands(closing, tmp_path, monkeypatch):
    files = {
        "__init__": "",
        "a": closing,
        "b": "from harness.c import h",
        "c": "from harness.a import f",
        "room/__init__": "from typing import TYPE_CHECKING\nfrom harness.door import door\n"
        "if TYPE_CHECKING:\n    from harness.b import g\nelse:\n    __getattr__ = door(__name__, __file__)",
    }
    folder = tmp_path / "harness"
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr("tests.test_circles.HARNESS", folder)
    found = Files(folder)
    assert set(found.circle()) == {"harness.a", "harness.b", "harness.c"}
    # a door is no file of the circle, and without the last import there is none
    found.trees["harness.a"] = ast.parse("")
    assert found.circle() == []
