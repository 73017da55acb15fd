"""The variants of a stage: a frozen config per kind, and tables of kinds that other packages add to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from operator import attrgetter
from pathlib import Path, PurePath
from traceback import walk_tb
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Generic, LiteralString, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from harness.values.errors import ConfigError
from harness.values.secrets import LOOKS_SECRET, secret_in
from harness.values.text.characters import quoted, suggestion

GROUP = "harness.kinds"
Item = TypeVar("Item")


@cache
def installed_version(package: str) -> str:
    """The version of a package, read from the disk once; raises PackageNotFoundError if there is none."""
    return version(package)


def version_of(package: str) -> str:
    """The version of an installed package; '' if it is not installed."""
    try:
        return installed_version(package)
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class At:
    """A function of a module that is imported when it is first called."""

    module: str
    name: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        return attrgetter(self.name)(import_module(self.module))(*arguments, **named)


class OpenTable(Mapping[str, Item], Generic[Item]):
    """The items of one ``stage`` by name: ours, then those of other packages, which cannot replace ours.

    A package adds an item by an entry point in the group ``harness.kinds`` called ``<stage>.<name>``. It is
    imported when it is asked for; raises ConfigError where that fails, or where it is no ``sort``. Ours may
    be a `KindAt`, which is looked for in the package ``home``.
    """

    def __init__(self, stage: str, sort: type[Any], ours: Mapping[str, Any], home: str = "") -> None:
        self.stage, self._sort, self._home = stage, sort, home
        self._items: dict[str, Any] = dict(ours)

    def __getitem__(self, name: str) -> Item:
        if name not in self._items:
            self._add_plug_ins()
        entry: Any = self._items[name]
        if isinstance(entry, EntryPoint):
            entry = self._plugged_in(name, entry)
        elif isinstance(entry, KindAt):
            entry = entry.load(self._home)
        self._items[name] = entry
        item: Item = entry
        return item

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

    def _plugged_in(self, name: str, entry: EntryPoint) -> Item:
        package = entry.dist.name if entry.dist else entry.module
        where = f"{self.stage}: {quoted(name)} of the package {package}"
        try:
            item: Item = entry.load()
        except (Exception, SystemExit) as error:
            raise ConfigError(
                f"{where} cannot be loaded ({type(error).__name__}: {error}). Mend or remove the package."
            ) from error
        if not isinstance(item, self._sort) or (isinstance(item, Kind) and item.name != name):
            raise ConfigError(f"{where}: {entry.value} is no {self._sort.__name__} of that name.")
        if entry.dist:
            _packages[entry.dist.name] = entry.dist.version
        return item


_packages: dict[str, str] = {}


def packages_in_use() -> dict[str, str]:
    """The version of every package whose items have been used, by name."""
    return dict(sorted(_packages.items()))


def line_of_package(error: BaseException) -> str:
    """The last line in a package of kinds that an error has come through, as ``module:line``; '' if none."""
    packages = {entry.module.partition(".")[0] for entry in _plug_ins()}
    lines = [(frame.f_globals.get("__name__", ""), line) for frame, line in walk_tb(error.__traceback__)]
    places = [f"{name}:{line}" for name, line in lines if name.partition(".")[0] in packages]
    return places[-1] if places else ""


@cache
def _plug_ins() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


LARGEST = 2**53
"""Larger integers are not kept exactly by all who read record.json."""
_LONGEST_NAME = 255
_LONGEST_PATH = 4095

Config = TypeVar("Config", bound="StageConfig")
Made = TypeVar("Made", covariant=True)


class StageConfig(BaseModel):
    """Base of every configuration model: frozen, and an unknown key is an error.

    So is a value that no file, database or file system can hold, which would otherwise fail only in use.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, defer_build=True
    )
    # keys of earlier versions, and what to use in their place
    gone: ClassVar[Mapping[str, str]] = MappingProxyType({})
    # whether a language model is asked, which costs far more than any model that runs here
    asks_language_model: ClassVar[bool] = False

    def check_ready(self) -> None:
        """Raise HarnessError where a package or a function that this section names cannot be found."""

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, fields: Any) -> Any:
        # not a ValueError, whose message repeats the value
        if isinstance(fields, dict) and (path := secret_in(fields)) is not None:
            raise ConfigError(f"{'.'.join(map(str, path))}: {LOOKS_SECRET}")
        unknown = [key for key in fields if key not in cls.model_fields] if isinstance(fields, dict) else []
        if unknown:
            raise unknown_key(str(unknown[0]), cls.model_fields, cls.gone.get(str(unknown[0]), ""))
        for key, value in fields.items() if isinstance(fields, dict) else ():
            annotation: Any = cls.model_fields[key].annotation
            if why := _unlike(value, _types_in(annotation)):
                raise _problem("unlike", why, key, value)
        return fields

    @field_validator("*")
    @classmethod
    def _can_be_kept(cls, value: Any) -> Any:
        _check(value)
        return value


def no_such_key(key: str, allowed: Collection[str]) -> str:
    """An unknown key, with the nearest known one or all of them."""
    keys = f"; known keys: {', '.join(allowed)}"
    return f"there is no such key{suggestion(key, allowed) or keys}."


def unknown_key(key: str, allowed: Collection[str], hint: str = "") -> ValidationError:
    """The error of a section with an unknown key, for a validator to raise; ``hint``: what to do instead."""
    return _problem("unknown_key", hint or no_such_key(key, allowed), key, key)


def _problem(sort: LiteralString, what: str, key: str, value: Any) -> ValidationError:
    # a context, as the text of such an error is a template
    error = PydanticCustomError(sort, "{what}", {"what": what})
    return ValidationError.from_exception_data(
        "section", [InitErrorDetails(type=error, loc=(key,), input=value)]
    )


@cache
def _types_in(annotation: Any) -> frozenset[Any]:
    """The types that a union, or the items of a list, may have."""
    if not (parts := get_args(annotation)):
        return frozenset((annotation,))
    return frozenset().union(*map(_types_in, parts[:1] if get_origin(annotation) is Annotated else parts))


def _unlike(value: Any, types: frozenset[Any]) -> str:
    """Why a value is refused that pydantic would take: `yes` for 1, and no name for the working folder."""
    values = value if isinstance(value, list | tuple) else (value,)
    if (
        types & {int, float}
        and not types & {bool, Any}
        and any(isinstance(element, bool) for element in values)
    ):
        return "this should be a number, not yes or no"
    if Path in types and any(isinstance(element, str) and not element.strip() for element in values):
        return "this path is empty; name a file or a folder"
    return ""


def _check(value: Any) -> None:
    """Raise ValueError for a number, a text or a path that cannot be stored."""
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f"this number is too large; the largest is {LARGEST}")
    if isinstance(value, str | PurePath):
        text = str(value)
        if "\0" in text:
            raise ValueError("this text holds a NUL character, which no path or file of text may; remove it")
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError("this text holds half of a character (a lone surrogate)")
    if isinstance(value, PurePath):
        if any(len(part.encode()) > _LONGEST_NAME for part in value.parts):
            raise ValueError(f"a name in this path is longer than the {_LONGEST_NAME} bytes of file systems")
        if len(str(value).encode()) > _LONGEST_PATH:
            raise ValueError(f"this path is longer than the {_LONGEST_PATH} bytes that systems allow")
    for part in (
        value.items() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    ):
        _check(part)


@dataclass(frozen=True, slots=True)
class Kind(Generic[Config, Made]):
    """One variant of a stage: the model of its configuration and the function or class that does the work.

    ``words`` say what it does where settings are named, such as ``vector search``; without any its name does.
    ``by`` is what a retriever finds passages by: ``words``, ``vectors`` or both. ``tries`` are keys with
    which the kind is worth a try where no setting has it, the first one first.
    """

    config: type[Config]
    make: Callable[..., Made]
    words: str = ""
    by: tuple[str, ...] = ()
    tries: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The value of ``kind`` that selects it."""
        default: str = self.config.model_fields["kind"].default
        return default


@dataclass(frozen=True, slots=True)
class KindAt:
    """A variant that is imported when a configuration first names it.

    ``config`` is the model of its configuration, ``make`` what does the work; without it the configuration
    does the work itself. Both are names in ``module``, which is beside the table, by default with the name of
    the kind; a name with dots is that of a module elsewhere. ``words``, ``by`` and ``tries`` are those of
    ``Kind``.
    """

    name: str
    config: str
    make: str = ""
    module: str = ""
    words: str = ""
    by: tuple[str, ...] = ()
    tries: tuple[Mapping[str, Any], ...] = ()

    def load(self, home: str) -> Kind[Any, Any]:
        """The variant itself; ``home`` is the package of the table."""
        place = self.module or self.name
        module = import_module(place if "." in place else f"{home}.{place}")
        make = attrgetter(self.make)(module) if self.make else lambda config: config
        return Kind(getattr(module, self.config), make, self.words, self.by, self.tries)


class Kinds(OpenTable[Kind[Any, Made]], Generic[Made]):
    """The variants of one stage, by name; the first is the default. ``Made`` is the type they all make.

    Other packages add theirs, see docs/own-steps.md.
    """

    def __init__(
        self,
        stage: str,
        *kinds: Kind[Any, Made] | KindAt,
        home: str = "",
        retired: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``stage`` is how messages name the stage: the section of the configuration.

        ``home`` is the package of the table. ``retired`` maps the names of kinds that are gone to what takes
        their place, a sentence.
        """
        super().__init__(stage, Kind, {kind.name: kind for kind in kinds}, home)
        self.ours = tuple(kind.name for kind in kinds)
        self._retired = retired

    @property
    def default(self) -> str:
        """The kind of a section that names none."""
        return next(iter(self._items))

    def find(self, name: object) -> Kind[Any, Made]:
        """The kind of that name; raises ConfigError that lists the known ones."""
        if isinstance(name, str) and name in self:
            return self[name]
        raise ConfigError(f"{self.stage}: {self.unknown(name)}")

    def words(self, name: str) -> str:
        """What the kind of that name calls itself; the name where it is unknown here. Loads none of ours."""
        about = self._about(name)
        return (about.words if about else "") or name.replace("_", " ")

    def by(self, name: str) -> tuple[str, ...]:
        """What the kind of that name finds passages by; () where it is unknown here. Loads none of ours."""
        about = self._about(name)
        return about.by if about else ()

    @property
    def tries(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The kinds that are worth a try, each with the keys to try it with, in order. Loads none of ours."""
        kinds = [(name, self._about(name)) for name in self]
        return [(name, keys) for name, about in kinds if about for keys in about.tries]

    def config(self, name: str) -> type[StageConfig] | None:
        """The model of the configuration of the kind of that name; None where it is unknown here."""
        try:
            return self[name].config
        except (KeyError, ConfigError):
            return None

    def _about(self, name: str) -> Kind[Any, Made] | KindAt | None:
        """What the kind of that name says of itself; None where it is unknown here."""
        item = self._items.get(name)
        if isinstance(item, Kind | KindAt):
            return item
        try:
            return self[name]
        except (KeyError, ConfigError):
            return None

    def unknown(self, name: object) -> str:
        """That there is no kind of that name, what to use in its place, and which kinds there are."""
        instead = self._retired.get(name, "") if isinstance(name, str) else ""
        gone = f" any more. {instead}" if instead else f"{suggestion(str(name), self)}."
        return f"there is no kind {quoted(name)}{gone} Known kinds: {', '.join(sorted(self))}."

    def make(self, config: StageConfig, *arguments: Any) -> Made:
        """The object that ``config`` asks for, of what else its stage gives.

        Raises ConfigError if it is of no kind of this stage.
        """
        return self.find(kind_of(config)).make(config, *arguments)


@dataclass(frozen=True, slots=True)
class Section:
    """Marks a field that holds one configuration of ``stage``, or a tuple of them, each of any kind."""

    stage: str


def kind_of(config: StageConfig) -> str:
    """The kind of a configuration; '' for a section that has no kinds."""
    kind: str = getattr(config, "kind", "")
    return kind
