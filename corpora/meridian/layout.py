"""The look of the printed reports: paper, type, running heads, and tables. Standard Type-1 fonts only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.colors import black
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import inch
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Table, TableStyle
from reportlab.platypus.tableofcontents import TableOfContents

WIDTH = LETTER[0] - 2 * inch
HEIGHT = LETTER[1] - 2.1 * inch
GUTTER = 0.3 * inch

BODY = ParagraphStyle(
    "body", fontName="Times-Roman", fontSize=11, leading=15.2, spaceAfter=8.5, alignment=TA_JUSTIFY
)


def _heading(name: str, font: str, size: float, before: float, after: float) -> ParagraphStyle:
    return ParagraphStyle(
        name,
        fontName=font,
        fontSize=size,
        leading=1.28 * size,
        spaceBefore=before,
        spaceAfter=after,
        keepWithNext=1,
    )


STYLES = {
    "body": BODY,
    "bullet": ParagraphStyle("bullet", BODY, leftIndent=20, bulletIndent=8, spaceAfter=5),
    "note": ParagraphStyle(
        "note", BODY, fontSize=8.5, leading=10.4, spaceAfter=4, leftIndent=12, firstLineIndent=-12
    ),
    "center": ParagraphStyle("center", BODY, alignment=TA_CENTER),
    "title": ParagraphStyle(
        "title", fontName="Times-Bold", fontSize=22, leading=28, spaceAfter=10, alignment=TA_CENTER
    ),
    "h1": ParagraphStyle(
        "h1", fontName="Times-Bold", fontSize=15, leading=19, spaceAfter=12, alignment=TA_CENTER
    ),
    "h2": _heading("h2", "Times-Bold", 12.5, 10, 8),
    "h3": _heading("h3", "Times-Bold", 11.5, 8, 5),
    "h4": _heading("h4", "Times-BoldItalic", 11, 5, 4),
}
CELL = ParagraphStyle("cell", fontName="Times-Roman", fontSize=9.5, leading=12)
_TOC_STYLES = [
    ParagraphStyle("toc0", fontName="Times-Bold", fontSize=10.5, leading=15),
    ParagraphStyle("toc1", fontName="Times-Roman", fontSize=10.5, leading=14, leftIndent=14),
]


@dataclass(frozen=True)
class Head:
    """What stands in the running head and in the metadata of a printed document."""

    title: str
    left: str
    right: str


class Report(BaseDocTemplate):
    """A printed document with running heads, page numbers and a table of contents."""

    def __init__(self, path: Path, head: Head) -> None:
        super().__init__(
            str(path),
            pagesize=LETTER,
            title=head.title,
            author="Meridian Motors, Inc.",
            subject="Invented company; test data",
            invariant=1,
            # Stored, not deflated: compressors differ between builds of zlib, and the bytes must not.
            pageCompression=0,
        )
        self.head = head
        self.section = ""
        left, bottom = inch, 1.05 * inch
        column = (WIDTH - GUTTER) / 2
        one = [Frame(left, bottom, WIDTH, HEIGHT, 0, 0, 0, 0)]
        lefts = (left, left + column + GUTTER)
        two = [Frame(at, bottom, column, HEIGHT, 0, 0, 0, 0, id=f"column at {at}") for at in lefts]
        self.addPageTemplates(
            [
                PageTemplate("cover", one),
                PageTemplate("one", one, onPage=_running_head),
                PageTemplate("two", two, onPage=_running_head),
            ]
        )

    def beforeDocument(self) -> None:  # noqa: N802
        """Forget the section that an earlier pass ended with."""
        self.section = ""

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802
        """Tell the table of contents of every heading that asked to be listed."""
        level = getattr(flowable, "toc_level", None)
        if level is not None:
            self.notify("TOCEntry", (level, flowable.getPlainText(), self.page))


class Section(Flowable):
    """Draws nothing; from the next page on the running head names this section."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def wrap(self, *_: Any) -> tuple[int, int]:
        """Take no room."""
        return 0, 0

    def draw(self) -> None:
        """Set the section on the document."""
        self.canv._doctemplate.section = self.name


def contents() -> TableOfContents:
    """An empty table of contents that fills itself while the document is built."""
    return TableOfContents(levelStyles=_TOC_STYLES, dotsMinLevel=-1)


class FigureTable(Table):
    """A table of figures whose rows extract as lines: cells are drawn without reportlab's line feed."""

    def _drawCell(self, value: Any, style: Any, position: Any, size: Any) -> None:  # noqa: N802
        (x, y), (width, _) = position, size
        lines = value.split("\n")
        for above, line in zip(range(len(lines) - 1, -1, -1), lines, strict=True):
            if not line:
                continue
            indent = 0 if line is lines[0] else 6
            used = stringWidth(line, style.fontname, style.fontsize)
            left = x + style.leftPadding + indent
            at = x + width - style.rightPadding - used if style.alignment == "RIGHT" else left
            text = self.canv.beginText(at, y + style.bottomPadding + 1.5 + above * CELL.leading)
            text.setFont(style.fontname, style.fontsize)
            text.textOut(line)
            self.canv.drawText(text)


def table(
    rows: list[tuple[str, list[str]]], widths: list[float], text_columns: int = 1, whole: bool = False
) -> Table:
    """Lay out figures: rows of (kind, cells), '#' head, '*' subheading, '>' indented, '=' total, '' plain.

    A ``whole`` table is never divided between pages.
    """
    scaled = [w * WIDTH / sum(widths) for w in widths]
    style: list[tuple[Any, ...]] = [
        ("FONT", (0, 0), (-1, -1), CELL.fontName, CELL.fontSize, CELL.leading),
        ("VALIGN", (0, 0), (-1, -1), "BOTTOM"),
        ("ALIGN", (text_columns, 0), (-1, -1), "RIGHT"),
        *_padding(1.6),
    ]
    if whole:
        style.append(("NOSPLIT", (0, 0), (-1, -1)))
    data = []
    for i, (kind, row) in enumerate(rows):
        bold = kind in {"#", "*", "="}
        if bold:
            style.append(("FONT", (0, i), (-1, i), "Times-Bold", CELL.fontSize, CELL.leading))
        if kind == "#":
            style.append(("LINEBELOW", (0, i), (-1, i), 0.7, black))
        if kind == "=":
            style.append(("LINEABOVE", (text_columns, i), (-1, i), 0.5, black))
        if kind == ">":
            style.append(("LEFTPADDING", (0, i), (0, i), 12))
        padded = row + [""] * (len(widths) - len(row))
        if kind == "*" and not any(row[1:]):
            style.append(("SPAN", (0, i), (-1, i)))
            data.append(padded)
        else:
            room = [scaled[0] - 24, *(width - 6 for width in scaled[1:])]
            data.append([_broken(cell, width, bold) for cell, width in zip(padded, room, strict=True)])
    return FigureTable(
        data, scaled, repeatRows=_heads(rows), style=TableStyle(style), spaceBefore=4, spaceAfter=10
    )


def prose_table(rows: list[tuple[str, list[str]]], widths: list[float]) -> Table:
    """Lay out a table whose cells are prose: flush left, wrapped, a thin rule between rows."""
    style: list[tuple[Any, ...]] = [("VALIGN", (0, 0), (-1, -1), "TOP"), *_padding(2.4)]
    data = []
    for i, (kind, row) in enumerate(rows):
        bold = ParagraphStyle("bold cell", CELL, fontName="Times-Bold")
        data.append([Paragraph(cell, bold if kind in {"#", "="} else CELL) for cell in row])
        style.append(("LINEBELOW", (0, i), (-1, i), 0.7 if kind == "#" else 0.25, black))
    scaled = [w * WIDTH / sum(widths) for w in widths]
    return Table(data, scaled, repeatRows=_heads(rows), style=TableStyle(style), spaceBefore=4, spaceAfter=10)


def _padding(bottom: float) -> list[tuple[Any, ...]]:
    sides = {"LEFT": 3, "RIGHT": 3, "TOP": 1.4, "BOTTOM": bottom}
    return [(f"{side}PADDING", (0, 0), (-1, -1), width) for side, width in sides.items()]


def _heads(rows: list[tuple[str, list[str]]]) -> int:
    return next((i for i, (kind, _) in enumerate(rows) if kind != "#"), 0)


def _broken(cell: str, width: float, bold: bool) -> str:
    return "\n".join(simpleSplit(cell, "Times-Bold" if bold else CELL.fontName, CELL.fontSize, width))


def _running_head(canvas: Any, doc: Report) -> None:
    canvas.saveState()
    canvas.setFont("Times-Italic", 8.5)
    top = LETTER[1] - 0.72 * inch
    canvas.drawString(inch, top, doc.head.left)
    right = doc.section or doc.head.right
    if stringWidth(right, "Times-Italic", 8.5) > 0.75 * WIDTH:
        right = right.partition(",")[0]
    canvas.drawRightString(LETTER[0] - inch, top, right)
    canvas.line(inch, top - 4, LETTER[0] - inch, top - 4)
    canvas.setFont("Times-Roman", 9)
    canvas.drawCentredString(LETTER[0] / 2, 0.65 * inch, str(doc.page))
    canvas.restoreState()
