"""The user's own code as a step, called with plain values."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from harness.values import ConfigError, HarnessError, StageConfig, Telling, guide

_OURS = Path(__file__).parents[2]
_NOT_THEIRS = tuple(Path(file) for file in (contextlib.__file__, importlib.__file__))
_CALL = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def _is_call(name: str) -> str:
    if not _CALL.fullmatch(name):
        raise ValueError("must be package.module:function")
    return name


Version = Annotated[
    str,
    Field(
        min_length=1,
        description="You set it; results of the code are cached under it. Change it when the code changes.",
    ),
]


Broken = Callable[[str], HarnessError]
"""The error of an answer that breaks the contract, made of the words for what is wrong with it."""


def broken_contract(who: str, what: str) -> HarnessError:
    """The error of an answer of ``who``, and ``what`` is wrong with it."""
    return HarnessError(f"{who} {what}. {guide('own-steps.md')} says what it must return.")


class CodeConfig(StageConfig):
    """Base of the configurations of steps that are a function of the user's."""

    call: Annotated[
        str,
        AfterValidator(_is_call),
        Telling(),
        Field(
            description="`package.module:function`, found in the working folder or among installed packages. "
            "It is imported when a run begins, also by `validate`, and called when the step runs, with your "
            "permissions."
        ),
    ]
    version: Version
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Keyword arguments of the call; a list of mappings is a sweep."
    )

    def check_ready(self) -> None:
        """Import the function; raises ConfigError if there is none."""
        find_call(self.call)

    def broken(self, what: str) -> HarnessError:
        """The error for an answer of the function that breaks the contract."""
        return broken_contract(f"call: {self.call}", what)


def find_call(name: str) -> Callable[..., Any]:
    """The object that ``package.module:function`` names; raises ConfigError if there is none."""
    module_name, _, path = name.partition(":")
    try:
        with _working_folder():
            target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"call: {name}: no module {error.name} in the working folder or installed."
        ) from error
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"call: {name}: {module_name} cannot be imported: {type(error).__name__}: {error}{_where(error)}."
        ) from error
    for part in path.split("."):
        if not hasattr(target, part):
            raise ConfigError(f"call: {name}: {module_name} has no {part}.")
        target = getattr(target, part)
    if not callable(target):
        raise ConfigError(f"call: {name} is a {type(target).__name__}; name a function.")
    call: Callable[..., Any] = target
    return call


def call_function(name: str, *values: Any, **arguments: Any) -> Any:
    """Call it; raises HarnessError that names the call and the line in which it failed."""
    call = find_call(name)
    with calling(name):
        return call(*values, **arguments)


@contextmanager
def calling(name: str) -> Iterator[None]:
    """Run the user's code, or read what it returned, in the with block.

    Its exceptions become a HarnessError that names the call; what it returned may work only when it is read.
    """
    try:
        yield
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        raise HarnessError(
            f"call: {name} failed: {type(error).__name__}: {error}{_where(error)}. This is your code; "
            f"{guide('own-steps.md')} says what it receives and must return."
        ) from error


def _where(error: BaseException) -> str:
    """The last place of a traceback that is not ours, such as `` (search.py:12)``."""
    steps = [(Path(step.filename), step.lineno) for step in traceback.extract_tb(error.__traceback__)]
    user_frames = [
        (file.name, line) for file, line in steps if not (file in _NOT_THEIRS or _OURS in file.parents)
    ]
    places = [f" ({name}:{line})" for name, line in user_frames if not name.startswith("<")]
    return places[-1] if places else ""


@contextmanager
def _working_folder() -> Iterator[None]:
    """Modules of the working folder can be imported, as with ``python -m``."""
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
