"""Text from files, configurations and endpoints, made safe to show; all cleaning is done here."""

from __future__ import annotations

import re

# They join letters of Persian, of Indic scripts and of emoji; they steer nothing.
_JOINERS = "\u200c\u200d"
# Workflow commands of GitHub Actions (`::error::`) and Azure Pipelines (`##vso[`): a runner obeys the first
# at the beginning of any line, wherever the text was wrapped, and the second anywhere.
_COMMAND = re.compile(r":(?=:[A-Za-z][\w-]*(?:[ \t][^\n]*?)?::)|#(?=#\w*\[)")


def printable(text: str) -> str:
    r"""Text on one line, where nothing steers a terminal, reorders letters or commands a CI runner.

    Blanks of any kind become a space. Control characters, lone surrogates, marks of writing direction and
    other invisible characters are shown as Python would write them, such as ``\x1b``.
    """
    shown = text if text.isprintable() else "".join(map(_shown, text))
    return _COMMAND.sub(_escaped, shown)


def printable_lines(text: str) -> str:
    """The same for a message of several lines, which stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def quoted(value: object, longest: int = 100) -> str:
    """A value as Python would write it, cut where it is long: for messages about what was found instead."""
    text = repr(value)
    return printable(text if len(text) <= longest else f"{text[: longest - 1]}…")


def without_controls(text: str) -> str:
    """Text for another program: lines, tabs and invisible letters stay; control characters are escaped."""
    return _CONTROL.sub(_escaped, text)


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _shown(letter: str) -> str:
    if letter.isprintable() or letter in _JOINERS:
        return letter
    return " " if letter.isspace() else _escape(letter)


def _escaped(match: re.Match[str]) -> str:
    return _escape(match[0])


def _escape(letter: str) -> str:
    r"""``\x1b``, ``\u202e`` or ``\U000e0041``."""
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
