"""Shared by several commands: reading options, opening a ledger, naming prices, the exit code of a run."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness import comparison, report, running, store
from harness.cli.commands.declaring import Option, several
from harness.cli.terminal import print_error, print_line, show, write_lines, write_parts
from harness.values import ConfigError, LlmError, counted, listed

_SHOWN = 5


def measures(default: str) -> Option:
    """``--measures``, where ``names_of_measures`` reads them."""
    return several("--measures", f"separated by commas or spaces; default: {default}", "NAMES")


def names_of_measures(values: Sequence[str]) -> list[str]:
    """Split at the commas outside parentheses; each name once. None for an option that is not given."""
    names = re.findall(r"(?:[^,(]|\([^)]*\)?)+", ",".join(values))
    distinct = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if values and not distinct:
        raise ConfigError("--measures is empty; omit it to get the default measures.")
    return distinct


def refuse_below_one(**numbers: int | None) -> None:
    """Raise ConfigError for an option that counts, by its name, and is below 1."""
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise ConfigError(f"--{name} counts from 1; it cannot be {value}.")


def print_ending(ending: running.FinalOutput) -> None:
    """The end of a run: notes, and last, where readers look first, the results at a glance."""
    if ending.notes:
        show(ending.notes)
    for line in ending.glance:
        print_line(line)


def write_tables(
    parts: Iterable[report.Part], args: argparse.Namespace, verdict: comparison.Verdict | None
) -> None:
    """Print parts, or write them to a file, in the format of ``args``; their tables name settings in words.

    In a Markdown file the verdict is shown on top, as a picture that is written beside the file.
    """
    names = names_in_words(verdict)
    parts = [report.in_words(part, names) if isinstance(part, report.Table) else part for part in parts]
    if verdict is None or args.format != "markdown" or args.output is None:
        write_parts(parts, args.format, args.output)
        return
    picture = args.output.with_suffix(".svg")
    store.write_text(picture, comparison.svg_of(verdict))
    text = report.render(parts, "markdown")
    write_lines(f"![{comparison.sentence(verdict)}]({picture.name})\n\n{text}", args.output)


def names_in_words(verdict: comparison.Verdict | None) -> dict[str, str]:
    """What settings, and the routes of fusions, are called in tables; nothing without a verdict."""
    if verdict is None:
        return {}
    routes = comparison.routes_in_words(verdict.configured.values())
    return {standing.setting: verdict.words(standing.setting) for standing in verdict.standings} | routes


@contextmanager
def open_ledger(cache: Path) -> Iterator[store.Ledger]:
    """The ledger of a cache that has one; raises LlmError, rather than make an empty one."""
    path = store.CacheLayout(cache).ledger
    if not path.is_file():
        raise LlmError(f"There is no ledger at {path}: nothing has been judged with this cache. See --cache.")
    with store.Ledger(path) as ledger:
        yield ledger


def can_show_pages() -> bool:
    """Whether somebody sits at this terminal, with a screen on which a browser can open."""
    screen = sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return screen and sys.stdout is not None and sys.stdout.isatty()


def exit_code(config: running.BenchConfig, skipped: Sequence[str]) -> int:
    """0; or 1, with an error that names documents, where ``on_bad_document: fail_at_end`` skipped some."""
    if not skipped or config.on_bad_document != "fail_at_end":
        return 0
    print_error(
        f"{counted(len(skipped), 'document')} could not be used: {listed(skipped, _SHOWN)}. The rest is done "
        "(on_bad_document: fail_at_end)."
    )
    return 1
