"""Rooms import each other only by their doors: ``from harness.measures import ndcg``.

The door of a room is its ``__init__.py``. It declares what the room offers once, as imports under
``if TYPE_CHECKING:``, and imports a module when a name of it is first asked for (PEP 562). So `--help`
loads no measure, and a run without a judge loads no judge.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def door(room: str, file: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of the package ``room``, whose ``__init__.py`` is ``file``."""

    def offered(name: str) -> Any:
        if name.startswith("__") or (place := _offers(file).get(name)) is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, original = place
        holder = import_module(module)
        # what is offered may be a module itself
        return (
            getattr(holder, original) if hasattr(holder, original) else import_module(f"{module}.{original}")
        )

    return offered


@cache
def _offers(file: str) -> dict[str, tuple[str, str]]:
    """The module and the name there of everything that a door declares."""
    (declared,) = (node for node in ast.parse(Path(file).read_bytes()).body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in declared.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
