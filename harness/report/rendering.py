"""Tables and sentences in the format that was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.latex import sentences_to_latex, to_latex
from harness.report.markdown import sentences_to_markdown, to_markdown
from harness.report.tables import Table
from harness.report.text import to_text
from harness.values import printable, wrapped

FORMATS = ("text", "markdown", "latex")

Part = Table | tuple[str, ...]


def render(parts: Sequence[Part], form: str, width: int | None = None) -> str:
    """Parts one after another, a blank line between; a tuple is a list of sentences.

    ``width`` is that of the window and matters to text alone. Raises ValueError for an unknown format.
    """
    if form not in FORMATS:
        raise ValueError(f"there is no format {form!r}; known: {', '.join(FORMATS)}")
    return "\n".join(_one(part, form, width) for part in parts if part != ())


def _one(part: Part, form: str, width: int | None) -> str:
    if isinstance(part, Table):
        if form == "text":
            return to_text(part, width)
        return to_markdown(part) if form == "markdown" else to_latex(part)
    if form == "text":
        return "".join(f"{_wrapped(sentence, width)}\n" for sentence in part)
    return sentences_to_markdown(part) if form == "markdown" else sentences_to_latex(part)


def _wrapped(sentence: str, width: int | None) -> str:
    plain = printable(sentence)
    if width is None:
        return plain
    # a name of a setting is broken only where it has blanks
    return "\n".join(wrapped(plain, max(width, 20), break_words=False))
