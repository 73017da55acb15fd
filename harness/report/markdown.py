"""Tables and sentences as Markdown, for a pull request. All text is escaped: a name formats nothing."""

from __future__ import annotations

import re

from harness.report.tables import Table
from harness.values import printable

_SPECIAL = re.compile(r"([\\`*_\[\]<>|&~$#!])")
# `@name` notifies a person and `:100:` becomes a picture, behind a backslash too; an empty comment parts them
_MENTION = re.compile(r"(?<!\w)@(?=\w)|:(?=(?:[a-z][a-z0-9_-]*|[+-]1|100|1234|8ball):)")


def escaped(text: str) -> str:
    """Text that Markdown shows letter for letter, on one line."""
    return _MENTION.sub(r"\g<0><!-- -->", _SPECIAL.sub(r"\\\1", printable(text)))


def to_markdown(table: Table) -> str:
    """A table with its title above and its notes below."""
    align = ["---" if i in table.left else "---:" for i in range(len(table.columns))]
    lines = [f"**{escaped(table.title)}**", "", _row(table.columns), f"|{'|'.join(align)}|"]
    lines += map(_row, table.rows)
    if table.notes:
        lines += ["", " ".join(map(escaped, table.notes))]
    return "\n".join(lines) + "\n"


def sentences_to_markdown(sentences: tuple[str, ...]) -> str:
    """Sentences as a list."""
    return "".join(f"- {escaped(sentence)}\n" for sentence in sentences)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
