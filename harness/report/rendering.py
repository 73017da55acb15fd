"""Tables and sentences in the format that was asked for; cells that open and print safely.

LaTeX needs booktabs, graphicx and (for accents) a Unicode engine or inputenc. All text is escaped: a name
neither formats anything nor breaks a table nor runs a command.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import NoneType
from typing import Any, TextIO

from harness.report.plain_table import Table, to_text
from harness.values import FORMULA, printable, wrapped

# Characters that may follow the apostrophe: a carriage return was made a line feed.
_STARTS = (*FORMULA, "\n")
# Escapes such as \x1b or \ud800 with the backslashes before them, and text that looks like one.
_CONTROL = re.compile(r"(\\*)([\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff])")
_LOOKALIKE = re.compile(r"\\+(?=x[0-9a-f]{2}|ud[89a-f][0-9a-f]{2})")
_ESCAPE = re.compile(r"(\\+)(x[0-9a-f]{2}|ud[89a-f][0-9a-f]{2})")


# what needs no quotes
_NUMBERS = {int, float, NoneType}
# what a cell is quoted for
_QUOTED = re.compile('[,"\n]').search


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV text; numbers in full precision, None as an empty cell, text made safe."""
    out = io.StringIO()
    write_csv(out, columns, ([row[column] for column in columns] for row in rows))
    return out.getvalue()


def write_csv(out: TextIO, columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """The same, line by line into an open file: for tables too long to hold as text.

    These are the lines of the module ``csv``, which would look anew at every letter of what repeats.
    """
    for line in chain((columns,), lines):
        row = ",".join(
            [
                _quoted(value)
                if isinstance(value, str)
                else str(cell(value))
                if value.__class__ in _NUMBERS
                else _in_quotes(str(cell(value)))
                for value in line
            ]
        )
        out.write(f"{row}\n" if row else '""\n')


def cell(value: Any) -> Any:
    r"""One cell: text that a spreadsheet would run gets an apostrophe before it.

    Control characters are escaped, ESC as ``\x1b``; the backslash of text that holds such letters is doubled.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    # also of numpy, which adds its name
    return float.__repr__(value) if isinstance(value, float) else value


@lru_cache(maxsize=8192)  # names and passages repeat in many rows
def _quoted(value: str) -> str:
    return _in_quotes(_text_cell(value))


def _in_quotes(text: str) -> str:
    """The text, in quotes where they are needed."""
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED(text) else text


def _text_cell(value: str) -> str:
    # a bare carriage return ends a row for some readers, and csv does not quote it
    text = _escaped(value.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{text}" if value.startswith(FORMULA) else text


def original(text: str) -> str:
    """The text of a cell as it was before ``cell``.

    Text that began with an apostrophe and a formula's sign by itself loses it: the two look alike.
    """
    text = text[1:] if text[:1] == "'" and text[1:].startswith(_STARTS) else text
    return _ESCAPE.sub(_from_escape, text) if "\\" in text else text


def as_read(value: Any) -> str:
    """What reading gives of the cell that is written for a value."""
    return _text_as_read(value) if isinstance(value, str) else str(cell(value))


@lru_cache(maxsize=8192)
def _text_as_read(value: str) -> str:
    return original(_text_cell(value))


def _escaped(text: str) -> str:
    text = _LOOKALIKE.sub(lambda match: 2 * match[0], text) if "\\" in text else text
    return text if text.isprintable() else _CONTROL.sub(_as_escape, text)


def _as_escape(match: re.Match[str]) -> str:
    code = ord(match[2])
    return 2 * match[1] + (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _from_escape(match: re.Match[str]) -> str:
    before = match[1][: len(match[1]) // 2]
    return before + (chr(int(match[2][1:], 16)) if len(match[1]) % 2 else match[2])


FORMATS = ("text", "markdown", "latex")
Part = Table | tuple[str, ...]

_IN_MARKDOWN = re.compile(r"([\\`*_\[\]<>|&~$#!])")
# `@name` notifies a person and `:100:` becomes a picture, behind a backslash too; an empty comment parts them
_MENTION = re.compile(r"(?<!\w)@(?=\w)|:(?=(?:[a-z][a-z0-9_-]*|[+-]1|100|1234|8ball):)")
_IN_LATEX = {
    **{sign: rf"\{sign}" for sign in "{}$&#%_"},
    # brackets and stars after a line break in a table would be read as its options, two hyphens as a dash
    **{sign: f"{{{sign}}}" for sign in "[]*-'"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "`": r"\textasciigrave{}",
    "–": "--",
    "…": r"\ldots{}",
}
# a table wider than the line is set smaller, others are left as they are
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
# before a figure the hyphen is a minus
_MINUS = re.compile(r"(^|\s)\{-\}(?=\d)")


def render(parts: Sequence[Part], form: str, width: int | None = None) -> str:
    """Parts one after another, a blank line between; a tuple is a list of sentences.

    ``width`` is that of the window and matters to text alone. Raises ValueError for an unknown format.
    """
    if form not in FORMATS:
        raise ValueError(f"there is no format {form!r}; known: {', '.join(FORMATS)}")
    return "\n".join(_rendered(part, form, width) for part in parts if part != ())


def _rendered(part: Part, form: str, width: int | None) -> str:
    if isinstance(part, Table):
        if form == "text":
            return to_text(part, width)
        return _markdown_table(part) if form == "markdown" else _latex_table(part)
    if form == "markdown":
        return "".join(f"- {in_markdown(sentence)}\n" for sentence in part)
    shown = in_latex if form == "latex" else lambda sentence: _wrapped(sentence, width)
    return "".join(f"{shown(sentence)}\n" for sentence in part)


def _wrapped(sentence: str, width: int | None) -> str:
    plain = printable(sentence)
    if width is None:
        return plain
    # a name of a setting is broken only where it has blanks
    return "\n".join(wrapped(plain, max(width, 20), break_words=False))


def in_markdown(text: str) -> str:
    """Text that Markdown shows letter for letter, on one line."""
    return _MENTION.sub(r"\g<0><!-- -->", _IN_MARKDOWN.sub(r"\\\1", printable(text)))


def _markdown_table(table: Table) -> str:
    """A table with its title above and its notes below."""
    align = ["---" if i in table.left else "---:" for i in range(len(table.columns))]
    head, *rows = (f"| {' | '.join(map(in_markdown, cells))} |" for cells in (table.columns, *table.rows))
    lines = [f"**{in_markdown(table.title)}**", "", head, f"|{'|'.join(align)}|", *rows]
    if table.notes:
        lines += ["", " ".join(map(in_markdown, table.notes))]
    return "\n".join(lines) + "\n"


def in_latex(text: str) -> str:
    """Text that LaTeX sets letter for letter."""
    letters = "".join(_IN_LATEX.get(letter, letter) for letter in printable(text))
    return _MINUS.sub(r"\1$-$", letters)


def _latex_table(table: Table) -> str:
    """A floating table with the title as caption and the notes below."""
    columns = "".join("l" if i in table.left else "r" for i in range(len(table.columns)))
    if table.prose:
        columns = columns[: -table.prose] + rf"p{{{0.4 / table.prose:g}\linewidth}}" * table.prose
    head, *rows = (" & ".join(map(in_latex, cells)) + r" \\" for cells in (table.columns, *table.rows))
    lines = [
        r"\begin{table}",
        rf"\caption{{{in_latex(table.title)}}}",
        r"\centering\setlength{\tabcolsep}{4pt}",
        _FIT,
        rf"\begin{{tabular}}{{{columns}}}",
        *(r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
        r"\end{tabular}}",
    ]
    if table.notes:
        lines += ["", rf"\smallskip{{\footnotesize {' '.join(map(in_latex, table.notes))}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"
