"""Which steps a setting has is known where configurations are read and in the pipeline, and nowhere else."""

import ast
from pathlib import Path

import pytest

RUNNING = Path(__file__).parent.parent / "harness" / "running"
SLOTS = {"retrieve", "rerank", "rewrite", "finder", "answer", "reader"}
READERS = ("config/", "pipeline.py")
# what else has an attribute of such a name: labels, cases and rows with an answer, the reader of terms
OTHERS = {"row", "case", "judgment", "spans", "exchange", "terms"}


def holder_of(node):
    """The last name before an attribute: `setting` of ``one.setting.answer``; '' where there is none."""
    value = node.value
    return value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")


def slots_read(path):
    """The places in a file where a slot of a setting is read."""
    return [
        f"line {node.lineno}: {holder_of(node)}.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in SLOTS and holder_of(node) not in OTHERS
    ]


def test_the_slots_of_a_setting_are_read_by_the_pipeline_alone():
    found = {path.relative_to(RUNNING).as_posix(): slots_read(path) for path in sorted(RUNNING.rglob("*.py"))}
    assert len(found) > 50
    readers = {name for name, places in found.items() if places}
    assert {name for name in readers if not name.startswith(READERS)} == set()
    assert "pipeline.py" in readers


@pytest.mark.parametrize(
    "code", ["setting.retrieve", "one.setting.rerank", "f(x).finder", "[s.answer for s in config.settings]"]
)
def test_a_slot_is_found_whatever_holds_the_setting(code, tmp_path):
    path = tmp_path / "file.py"
    path.write_text(code, encoding="utf-8")
    assert slots_read(path)
