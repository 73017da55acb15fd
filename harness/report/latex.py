"""Tables and sentences as LaTeX, with booktabs, graphicx and (for accents) a Unicode engine or inputenc.

All text is escaped: a name can neither break the table nor run a command.
"""

from __future__ import annotations

import re

from harness.report.tables import Table
from harness.values import printable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "`": r"\textasciigrave{}",
    "'": "{'}",
    "–": "--",
    "…": r"\ldots{}",
    # brackets and stars after a line break in a table would be read as its options
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    # two in a row would make a dash
    "-": "{-}",
}
# a table wider than the line is set smaller, others are left as they are
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
# before a figure the hyphen is a minus
_MINUS = re.compile(r"(^|\s)\{-\}(?=\d)")


def escaped(text: str) -> str:
    """Text that LaTeX sets letter for letter."""
    letters = "".join(_SPECIAL.get(letter, letter) for letter in printable(text))
    return _MINUS.sub(r"\1$-$", letters)


def to_latex(table: Table) -> str:
    """A floating table with the title as caption and the notes below."""
    columns = "".join("l" if i in table.left else "r" for i in range(len(table.columns)))
    if table.prose:
        columns = columns[: -table.prose] + rf"p{{{0.4 / table.prose:g}\linewidth}}" * table.prose
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(table.title)}}}",
        r"\centering\setlength{\tabcolsep}{4pt}",
        _FIT,
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(table.columns),
        r"\midrule",
        *map(_row, table.rows),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    if table.notes:
        lines += ["", rf"\smallskip{{\footnotesize {' '.join(map(escaped, table.notes))}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def sentences_to_latex(sentences: tuple[str, ...]) -> str:
    """Sentences as a paragraph."""
    return "\n".join(map(escaped, sentences)) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
