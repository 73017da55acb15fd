"""Tables and sentences in the format that was asked for.

LaTeX needs booktabs, graphicx and (for accents) a Unicode engine or inputenc. All text is escaped: a name
neither formats anything nor breaks a table nor runs a command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.report.tables import Table, to_text
from harness.values import printable, wrapped

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
