"""Web pages (HTML): their visible text, headings as in Markdown, tables as tab-separated rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.data.corpus.document_files import Blocks, reading

_UNSEEN = frozenset(
    (
        *("head", "script", "style", "noscript", "template", "svg", "math", "iframe", "object"),
        *("audio", "video", "canvas", "select", "button", "input"),
    )
)
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend"),
        *("main", "nav", "ol", "p", "section", "summary", "ul", "li", "table", "caption", "tr", "pre"),
        *("td", "th", "h1", "h2", "h3", "h4", "h5", "h6"),
    )
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MOST_COLUMNS = 1000


def read_web(path: Path) -> list[str]:
    """The text of a web page in its order, as one part; none if it shows none.

    Entities are letters. Scripts, styles, the head, comments and what is hidden are left out. What is UTF-8
    is read as such, whatever the page declares; else the encoding is what the page says it is, or is guessed.
    Raises CorpusError for what cannot be read, and where beautifulsoup4 or lxml is missing.
    """
    remedy = "Save it again as .html in UTF-8."
    with reading(path, "a web page", "beautifulsoup4 and lxml", "html", remedy):
        import lxml.etree  # noqa: F401  beautifulsoup4 asks for it by name, with an error of its own
        from bs4 import BeautifulSoup

        raw = path.read_bytes()
        if b"\0" in raw and raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            raise ValueError("it holds NUL bytes, which no text has")
        blocks = Blocks()
        flow = _Flow(blocks)
        flow.walk(BeautifulSoup(raw, "lxml", from_encoding="utf-8" if _is_utf8(raw) else None))
        flow.end()
        return [blocks.text()] if blocks.text() else []


def _is_utf8(raw: bytes) -> bool:
    """Whether letters beyond ASCII are UTF-8: text of another encoding, by chance, next to never is."""
    if raw.isascii():
        return False
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Flow:
    """Collects running text until a block ends it."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._line: list[str] = []
        self._in_item = False

    def end(self) -> None:
        """End the running text: lines without blanks around them, each blank once."""
        lines = (re.sub(r"[ \t]+", " ", line).strip(" ") for line in "".join(self._line).split("\n"))
        text = "\n".join(lines).strip("\n")
        self._line.clear()
        (self._blocks.item if self._in_item and text else self._blocks.add)(text)
        if text:
            self._in_item = False

    def walk(self, parent: Any) -> None:
        """Take the content of an element, in its order."""
        for child in parent.children:
            name = _name_of(child)
            if name is None:
                self._line.append(_text_of(child))
            elif _is_hidden(child):
                continue
            elif name == "br":
                self._line.append("\n")
            elif name not in _BLOCKS:
                self.walk(child)
            else:
                self.end()
                self._block(child, name)
                self.end()

    def _block(self, child: Any, name: str) -> None:
        if len(name) == 2 and name[0] == "h" and name[1].isdigit():
            self._blocks.heading(_inline(child), int(name[1]))
        elif name == "pre":
            self._blocks.add("".join(_shown(child, preformatted=True)), "pre")
        elif name == "table" and child.find("table") is None:
            caption = child.find("caption")
            if caption is not None:
                self._blocks.add(_inline(caption))
            self._blocks.table(_grid(child))
        elif name == "li":
            self._in_item = True
            self.walk(child)
            self.end()
            self._in_item = False
        else:
            self.walk(child)


def _name_of(node: Any) -> str | None:
    """The name of an element, None for text."""
    return node.name.lower() if getattr(node, "name", None) else None


def _text_of(node: Any, preformatted: bool = False) -> str:
    from bs4.element import PreformattedString

    # comments, declarations and the like; CDATA is text of XHTML, but hidden from browsers
    text = "" if isinstance(node, PreformattedString) else str(node)
    return text if preformatted else re.sub(r"[ \t\r\n\f]+", " ", text)


def _is_hidden(element: Any) -> bool:
    hidden = element.has_attr("hidden") or _HIDDEN.search(str(element.get("style")))
    return element.name.lower() in _UNSEEN or bool(hidden)


def _inline(element: Any) -> str:
    """The shown text of an element on one line."""
    return " ".join("".join(_shown(element)).split())


def _shown(parent: Any, preformatted: bool = False) -> Iterator[str]:
    """The shown text in an element, a blank around the blocks in it unless it is preformatted."""
    for child in parent.children:
        name = _name_of(child)
        if name is None:
            yield _text_of(child, preformatted)
        elif name == "br":
            yield "\n"
        elif not _is_hidden(child):
            edge = " " if name in _BLOCKS and not preformatted else ""
            yield from (edge, *_shown(child, preformatted), edge)


def _grid(table: Any) -> list[list[str]]:
    """The cells of a table by row and column; below and right of one over several places is nothing."""
    rows: list[list[str]] = []
    covered: dict[int, int] = {}
    for row in table.find_all("tr"):
        if _is_hidden(row) or _is_hidden(row.parent):
            continue
        cells: list[str] = []
        below: dict[int, int] = {}
        for cell in row.find_all(["td", "th"], recursive=False):
            while covered.get(len(cells), 0) > 0:
                cells.append("")
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(len(cells), len(cells) + wide):
                below[column] = high
            cells += ["" if _is_hidden(cell) else _inline(cell), *[""] * (wide - 1)]
        covered = {column: left - 1 for column, left in covered.items() if left > 1}
        covered |= {column: high - 1 for column, high in below.items() if high > 1}
        rows.append(cells)
    return rows


def _span(cell: Any, name: str) -> int:
    value = str(cell.get(name, "1")).strip()
    return max(1, min(int(value), _MOST_COLUMNS)) if value.isdecimal() else 1
