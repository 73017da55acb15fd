"""Rooms import each other only by their doors: ``from harness.measures import ndcg``.

The door of a room is its ``__init__.py``. It declares what the room offers twice: as imports under
``if TYPE_CHECKING:``, for type checkers and readers, and as a table of modules and names, from which a
module is imported when a name of it is first asked for (PEP 562). ``tools/doors.py`` writes the second from
the first. So `--help` loads no measure, and a run without a judge loads no judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def door(room: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of the package ``room``.

    ``modules`` has the names that each module offers, with blanks between; ``KINDS=READERS`` offers KINDS of
    the module as READERS.
    """
    places = places_of(modules)

    def offered(name: str) -> Any:
        if (place := places.get(name)) is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, original = place
        holder = import_module(module)
        # what is offered may be a module itself
        return (
            getattr(holder, original) if hasattr(holder, original) else import_module(f"{module}.{original}")
        )

    return offered


def places_of(modules: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Name that is offered → its module, and its name there."""
    pairs = ((module, entry.partition("=")) for module, names in modules.items() for entry in names.split())
    return {name or original: (module, original) for module, (original, _, name) in pairs}
