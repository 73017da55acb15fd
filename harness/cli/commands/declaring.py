"""How a command is declared: its name, its help, its options, and the function that does the work."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Run = Callable[[argparse.Namespace], int]
# adds itself to a parser, or to a group of options
Option = Callable[[Any], object]


@dataclass(slots=True)
class Command:
    """One command or, with ``parts``, a family of them, such as ``harness judge``.

    ``description`` is the text of its help. ``run`` does the work and returns the exit code. ``title`` and
    ``metavar`` are how the help names the parts. A part has a ``name`` and, in the list of parts, a line of
    ``help``; those of other commands are in the table of commands.
    """

    description: str | None = None
    options: tuple[Option, ...] = ()
    run: Run | None = None
    parts: tuple[Command, ...] = ()
    title: str = "commands"
    metavar: str = "COMMAND"
    name: str = ""
    help: str = ""

    def fill(self, parser: Any) -> None:
        """Give a parser the options; it sets ``run`` and, for wrong combinations of them, ``wrong_usage``."""
        parser.description = self.description
        _add(self.options, parser)
        if not self.parts:
            parser.set_defaults(run=self.run, wrong_usage=parser.error)
            return
        parts = parser.add_subparsers(title=self.title, metavar=self.metavar, required=True)
        for part in self.parts:
            part.fill(parts.add_parser(part.name, help=part.help))


def command(description: str, *options: Option) -> Callable[[Run], Command]:
    """Make a command of the function below it."""
    return lambda run: Command(description, options, run)


def part(name: str, help: str, description: str | None = None, *options: Option) -> Callable[[Run], Command]:
    """Make a part of a family of commands of the function below it."""
    return lambda run: Command(description, options, run, name=name, help=help)


def option(*names: str, **settings: Any) -> Option:
    """An argument or option, in the words of argparse; one that takes a value is refused the second time."""
    if names[0].startswith("-") and not {"action", "nargs"} & set(settings):
        settings["action"] = _Once
    return lambda parser: parser.add_argument(*names, **settings)


class _Once(argparse.Action):
    """Keeps the value of an option; where argparse would forget the first of two, this is an error."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        seen: set[str] = vars(namespace).setdefault("_given", set())
        if self.dest in seen:
            parser.error(f"{option_string} is given twice, but takes one value")
        seen.add(self.dest)
        setattr(namespace, self.dest, values)


def several(name: str, help: str, metavar: str, **settings: Any) -> Option:
    """An option of several values, ``--x a b`` or ``--x a --x b``; an empty list if it is not given."""
    return option(
        name, help=help, metavar=metavar, **{"nargs": "+", "action": "extend", "default": [], **settings}
    )


def path(name: str, help: str, metavar: str = "FILE", **settings: Any) -> Option:
    """A file or folder."""
    return option(name, help=help, metavar=metavar, type=Path, **settings)


def flag(name: str, help: str, **settings: Any) -> Option:
    """An option without a value, False if it is not given."""
    return option(name, help=help, action="store_true", **settings)


def number(name: str, default: float, help: str, metavar: str = "N") -> Option:
    """A number of the type of its default, which help names."""
    return option(
        name, type=type(default), default=default, metavar=metavar, help=f"{help}; default {default}"
    )


def one_of(*options: Option, required: bool = False) -> Option:
    """Options of which at most one is given."""
    return lambda parser: _add(options, parser.add_mutually_exclusive_group(required=required))


def group(title: str, *options: Option) -> Option:
    """Options under a title of their own in the help."""
    return lambda parser: _add(options, parser.add_argument_group(title))


def _add(options: Sequence[Option], parser: Any) -> None:
    for add_to in options:
        add_to(parser)


LOG_TO = several(
    "--log-to",
    "log the results to a tracker of experiments: mlflow, wandb, trackio or one of another package",
    "NAME",
)


def results_folder(example: str = "results/mine") -> Option:
    """A folder of results."""
    return path("results", f"folder such as {example}", "RESULTS")


def config_file(help: str) -> Option:
    """The configuration."""
    return path("config", help, "CONFIG")


def formats(*more: str) -> tuple[Option, Option]:
    """How to write tables, and where."""
    usual = "text (default), markdown for a pull request, latex (with booktabs and graphicx)"
    return (
        option(
            "--format",
            choices=("text", "markdown", "latex", *more),
            default="text",
            help=", ".join((usual, *more)),
        ),
        OUTPUT,
    )


OUTPUT = path("--output", "write to this file instead of the terminal")
AGAIN = flag(
    "--again", "run even if nothing has changed since the results were written; the cache is still reused"
)
QUIET = flag("--quiet", "no progress bars and warnings")
DEFAULT_CACHE = Path(".cache/harness")
CACHE = path("--cache", f"the cache folder; default {DEFAULT_CACHE}", "DIR", default=DEFAULT_CACHE)
