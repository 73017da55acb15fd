"""Tables of variants that are imported when they are named, and to which other packages add theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from operator import attrgetter
from typing import Any, Generic, TypeVar

from harness.values.errors import ConfigError
from harness.values.text.characters import quoted

GROUP = "harness.kinds"
Item = TypeVar("Item")


def version_of(package: str) -> str:
    """The version of an installed package; '' if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class At:
    """A function of a module that is imported when it is first called."""

    module: str
    name: str

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call it."""
        return attrgetter(self.name)(import_module(self.module))(*given, **named)


class OpenTable(Mapping[str, Item], Generic[Item]):
    """The items of one ``stage`` by name: ours, then those of other packages, which cannot replace ours.

    A package adds an item by an entry point in the group ``harness.kinds`` called ``<stage>.<name>``. It is
    imported when it is asked for; raises ConfigError where that fails, or where it is no ``sort``.
    """

    def __init__(self, stage: str, sort: type[Any], ours: Mapping[str, Any]) -> None:
        self.stage, self._sort = stage, sort
        self._ours = tuple(ours)
        self._items: dict[str, Any] = dict(ours)

    def load(self, item: Any) -> Item:
        """One of our items, which may be kept as where it is to be found."""
        loaded: Item = item
        return loaded

    def __getitem__(self, name: str) -> Item:
        if name not in self._items:
            self._add_plug_ins()
        item = self._items[name]
        item = self._plugged_in(name, item) if isinstance(item, EntryPoint) else self.load(item)
        self._items[name] = item
        found: Item = item
        return found

    def __contains__(self, name: object) -> bool:
        if name not in self._items:
            self._add_plug_ins()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        self._add_plug_ins()
        return iter(self._items)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _add_plug_ins(self) -> None:
        for entry in _plug_ins():
            stage, _, name = entry.name.rpartition(".")
            if stage == self.stage:
                self._items.setdefault(name, entry)

    def fits(self, name: str, item: Any) -> bool:
        """Whether an item of another package is what this table holds."""
        return isinstance(item, self._sort)

    def _plugged_in(self, name: str, entry: EntryPoint) -> Item:
        package = entry.dist.name if entry.dist else entry.module
        where = f"{self.stage}: {quoted(name)} of the package {package}"
        try:
            item: Item = entry.load()
        except Exception as error:
            raise ConfigError(
                f"{where} cannot be loaded ({type(error).__name__}: {error}). Mend or remove the package."
            ) from error
        if not self.fits(name, item):
            raise ConfigError(f"{where}: {entry.value} is no {self._sort.__name__} of that name.")
        if entry.dist:
            _packages[entry.dist.name] = entry.dist.version
        return item


_packages: dict[str, str] = {}


def packages_in_use() -> dict[str, str]:
    """The version of every package whose items have been used, by name."""
    return dict(sorted(_packages.items()))


@cache
def _plug_ins() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))
