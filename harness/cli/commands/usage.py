"""The words of the command line and their help."""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from collections.abc import Collection
from functools import partial
from typing import Any, NoReturn

from harness import __version__
from harness.cli.commands import COMMANDS, command_named, commands_of_packages, fill_from
from harness.values import printable_lines, quoted, suggestion

_wrapped = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False)
_COMMENT = re.compile(r"^(?P<indent> +)(?P<command>\S.*?) {2,}(?P<comment>\S.*)$")
_DESCRIPTION = """\
Benchmark retrieval over your own documents: which chunking, retriever and reranker
ranks best, by how much, and is the difference real?

Start with:
  harness demo                  see a finished benchmark
  harness init FOLDER           begin with a folder of your documents
  harness testset DIR status    make questions and labels
  harness bench my.yaml         run a benchmark, write its results
  harness compare results/mine  which is best, and is it real?
"""


START = """\
harness tells which chunking, retriever and reranker ranks best over your own documents.

Start with one of these:
  harness demo                  see a finished benchmark
  harness init FOLDER           begin with a folder of your documents
  harness bench my.yaml         run a benchmark, write its results

Help:
  harness --help                all commands
  harness COMMAND --help        what a command does, with examples
  harness docs                  all the docs, offline
"""
"""What `harness` alone prints."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Wraps paragraphs; the comment of an example that is too wide comes first, on a line of its own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        out: list[str] = []
        prose: list[str] = []
        for line in [*text.splitlines(), ""]:
            if line[:1].strip():
                prose.append(line)
                continue
            if prose:
                out += _wrapped(" ".join(prose), width)
                prose = []
            out += _example(line, width)
        return "\n".join(indent + line for line in out).rstrip() + "\n"

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(" ".join(text.split()), width)


def _example(line: str, width: int) -> list[str]:
    # a line of data is pasted as it is
    if len(line) <= width or line.lstrip().startswith("{"):
        return [line]
    parts = _COMMENT.match(line)
    if parts is None:
        return _folded(line, width)
    comment = f"# {parts['comment'].removeprefix('# ')}"
    wrapped = textwrap.wrap(comment, width - len(parts["indent"]), subsequent_indent="# ")
    command = parts["indent"] + parts["command"]
    return [parts["indent"] + row for row in wrapped] + (
        [command] if len(command) <= width else _folded(command, width)
    )


def _folded(command: str, width: int) -> list[str]:
    """A command over several lines, as a shell takes it."""
    indent = " " * (len(command) - len(command.lstrip()))
    lines = _wrapped(command.strip(), width - len(indent) - 2, subsequent_indent="    ")
    joined = [indent + line for line in lines]
    return [line + " \\" for line in joined[:-1]] + joined[-1:]


# how argparse begins its message
_UNKNOWN = "unrecognized arguments:"


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, **options})

    def error(self, message: str) -> NoReturn:
        """Refuse an argument, which is shown but steers no terminal; ends with 2.

        Of unknown options the first gets a suggestion.
        """
        unknown = next((word for word in message.split() if word.startswith("-")), "")
        near = ""
        if message.startswith(_UNKNOWN) and unknown:
            # the dashes that all options share, and one of two letters such as -h, make none alike
            names = {name.lstrip("-"): name for name in self._option_string_actions if name[:2] == "--"}
            near = suggestion(unknown.partition("=")[0].lstrip("-"), names, likeness=0.75)
            for bare, name in names.items():
                near = near.replace(f"'{bare}'", f"'{name}'")
        super().error(f"{printable_lines(message)}{near}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is no command in one line: usage and the list of all would hide the answer."""
        if action.nargs == argparse.PARSER and action.choices is not None and value not in action.choices:
            near = suggestion(value, action.choices)
            wrong = f"there is no command {quoted(value)}{near}. `{self.prog} --help` lists them."
            self.exit(2, f"{self.prog}: error: {wrong}\n")
        super()._check_value(action, value)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Refuse an empty value, such as a variable that a shell has not set."""
        # the words of a command are checked by its own parser
        if action.nargs != argparse.PARSER and not all(word.strip() for word in arg_strings):
            raise argparse.ArgumentError(action, "the value is empty")
        return super()._get_values(action, arg_strings)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Refuse numbers that no option can use."""
        value = super()._get_value(action, arg_string)
        if isinstance(value, float) and not math.isfinite(value):
            raise argparse.ArgumentError(action, f"{arg_string} is no finite number")
        return value


def parser(words: Collection[str] = COMMANDS.keys()) -> argparse.ArgumentParser:
    """The parser of all commands; its result has ``run``, which does the work of the chosen one.

    ``words`` are those of the command line. If each is the name of a command of ours, the parser has these
    alone; otherwise it lists all, but imports none that is not named, so that the others have no options.
    """
    whole = _Parser(prog="harness", description=_DESCRIPTION)
    whole.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    all_are_ours = bool(words) and set(words) < COMMANDS.keys()
    for name, (_, about) in COMMANDS.items():
        if name in words or not all_are_ours:
            listed = commands.add_parser(name, help=about)
        if name in words:
            command_named(name).fill(listed)
    if not all_are_ours:
        for name, add_to in commands_of_packages().items():
            listed = commands.add_parser(
                name, help=f"of the package {add_to.dist.name if add_to.dist else '?'}"
            )
            if name in words:
                fill_from(add_to, listed)
    return whole
