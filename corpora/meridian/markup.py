"""Turns the filled source text into flowables. The markup is a small part of Markdown plus fenced blocks.

``# `` part, ``## `` item (a new page), ``### ``, ``#### `` headings, ``- `` bullets, ``(1) `` footnotes,
``**bold**``, ``*italic*``; ``:::table``, ``:::center``, ``:::columns`` blocks end with ``:::``;
``:::contents`` and ``:::page`` stand alone. A row of a table starts with ``|`` and its kind (layout.table).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from layout import STYLES, Section, contents, prose_table, table
from reportlab.platypus import Flowable, NextPageTemplate, PageBreak, Paragraph

SOFT_HYPHEN = "\u00ad"
KEPT_ROWS = 17  # a longer table may run over the end of a page
_ROW = re.compile(r"\|([#*>=]?)\s(.*)")


@dataclass(frozen=True)
class Block:
    """A piece of the source: its kind, its lines, the options of its fence."""

    kind: str
    lines: list[str]
    options: dict[str, str] = field(default_factory=dict)


def blocks(text: str) -> list[Block]:
    """Split source text into blocks."""
    found: list[Block] = []
    lines = iter(text.splitlines())
    open_text = False  # whether the next line of prose goes on with the block before it
    for line in lines:
        plain = False
        if line.startswith(":::"):
            kind, *words = line[3:].split()
            options = dict(word.partition("=")[::2] for word in words)
            body = [] if kind in {"page", "contents"} else _until_fence(lines, line)
            found.append(Block(kind, body, options))
        elif heading := re.match(r"(#{1,4}) (.*)", line):
            found.append(Block(f"h{len(heading[1])}", [heading[2]]))
        elif line.startswith("- "):
            found.append(Block("bullet", [line[2:]]))
        elif re.match(r"\(\d\) ", line):
            found.append(Block("note", [line]))
        elif line.strip():
            plain = True
            if open_text:
                found[-1].lines.append(line)
            else:
                found.append(Block("body", [line]))
        open_text = plain
    return found


def rows(block: Block) -> list[tuple[str, list[str]]]:
    """The rows of a table block as (kind, cells)."""
    found = []
    for line in block.lines:
        match = _ROW.fullmatch(line.rstrip() + " " if line.rstrip() in {"|"} else line.rstrip())
        if not match:
            raise ValueError(f"not a table row: {line!r}")
        found.append((match[1], [cell.strip() for cell in match[2].split("|")]))
    return found


def flowables(text: str, hyphens: dict[str, str]) -> list[Flowable]:
    """Set a whole document."""
    story: list[Flowable] = []
    found = blocks(text)
    for before, block in zip([None, *found], found, strict=False):
        at_top = not story or isinstance(story[-1], PageBreak) or (before is not None and before.kind == "h1")
        story += _set(block, hyphens, at_top)
    return _raised(story)


def _raised(story: list[Flowable]) -> list[Flowable]:
    """Move each section mark before the page break it belongs to: the head of a page is drawn first."""
    for i, flowable in enumerate(story):
        if isinstance(flowable, Section):
            breaks = [j for j in range(max(0, i - 2), i) if isinstance(story[j], PageBreak)]
            if breaks:
                story.insert(breaks[-1], story.pop(i))
    return story


def load_hyphens(path: Path) -> dict[str, str]:
    """Read words with their division points: ``manu-fac-tur-ing``."""
    words = path.read_text(encoding="utf-8").split()
    return {word.replace("-", ""): word.replace("-", SOFT_HYPHEN) for word in words}


def _until_fence(lines: Iterator[str], opening: str) -> list[str]:
    body = []
    for line in lines:
        if line.strip() == ":::":
            return body
        if line.strip():
            body.append(line)
    raise ValueError(f"the block {opening!r} is not closed")


def _set(block: Block, hyphens: dict[str, str], at_top: bool) -> list[Flowable]:
    if block.kind == "page":
        return [NextPageTemplate(block.options.get("template", "one")), PageBreak()]
    if block.kind == "contents":
        return [contents()]
    if block.kind == "table":
        return _table(block)
    if block.kind == "columns":
        inner = flowables("\n\n".join(block.lines), hyphens)
        return [NextPageTemplate("two"), PageBreak(), *inner, NextPageTemplate("one"), PageBreak()]
    if block.kind == "center":
        style = STYLES[block.options.get("style", "center")]
        return [Paragraph(_inline(line), style) for line in block.lines]
    text = " ".join(block.lines)
    if block.kind == "h2":
        opening: list[Flowable] = [Section(text)] + ([] if at_top else [PageBreak()])
        return [*opening, _heading(text, "h2", 1)]
    if block.kind == "h1":
        return [*([] if at_top else [PageBreak()]), _heading(text, "h1", 0)]
    if block.kind == "bullet":
        return [Paragraph(_inline(_divide(text, hyphens)), STYLES["bullet"], bulletText="•")]
    if block.kind == "body":
        text = _divide(text, hyphens)
    return [Paragraph(_inline(text), STYLES[block.kind])]


def _heading(text: str, style: str, level: int) -> Paragraph:
    heading = Paragraph(_inline(text), STYLES[style])
    heading.toc_level = level
    return heading


def _table(block: Block) -> list[Flowable]:
    found = rows(block)
    columns = max(len(row) for _, row in found)
    if "cols" in block.options:
        widths = [float(w) for w in block.options["cols"].split(",")]
    else:
        widths = [100 - 13.0 * (columns - 1)] + [13.0] * (columns - 1)
    if columns > len(widths):
        raise ValueError(f"table {block.options.get('id')}: a row has {columns} cells, not {len(widths)}")
    if "text" in block.options:
        return [prose_table([(kind, [_inline(cell) for cell in row]) for kind, row in found], widths)]
    plain = [(kind, [re.sub(r"\^(\d)", r" (\1)", cell) for cell in row]) for kind, row in found]
    return [table(plain, widths, int(block.options.get("left", "1")), whole=len(plain) <= KEPT_ROWS)]


def _divide(text: str, hyphens: dict[str, str]) -> str:
    return re.sub(r"[A-Za-z]+", lambda word: _divided(word[0], hyphens), text)


def _divided(word: str, hyphens: dict[str, str]) -> str:
    divided = hyphens.get(word.lower())
    return word if divided is None else word[0] + divided[1:]


def _inline(text: str) -> str:
    text = re.sub(r"&(?!amp;|lt;|gt;)", "&amp;", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<!\*)\*([^*]+?)\*(?!\*)", r"<i>\1</i>", text)
    return re.sub(r"\^(\d)", r"<super>(\1)</super>", text)
