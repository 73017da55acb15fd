"""Builds ``documents/lanchuan-report-2025.pdf`` from ``source/report.md``.

``python corpora/lanchuan/build.py`` rebuilds what is committed, byte for byte; ``--check`` compares only.
Needs reportlab and WenQuanYi Micro Hei (Debian's ``fonts-wqy-microhei``), of which the PDF holds the
characters it uses.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table, TableStyle

HERE = Path(__file__).parent
REPORT = HERE / "documents" / "lanchuan-report-2025.pdf"
FONT = Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc")
NAME = "MicroHei"
TITLE = ParagraphStyle("title", fontName=NAME, fontSize=15, leading=24, spaceAfter=10, wordWrap="CJK")
HEADING = ParagraphStyle(
    "heading", fontName=NAME, fontSize=13, leading=20, spaceBefore=12, spaceAfter=6, wordWrap="CJK"
)
BODY = ParagraphStyle(
    "body", fontName=NAME, fontSize=11, leading=18, spaceAfter=8, firstLineIndent=22, wordWrap="CJK"
)
GRID = TableStyle(
    [
        ("FONT", (0, 0), (-1, -1), NAME, 10),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
    ]
)


def flowables(source: str) -> list[Flowable]:
    """The parts of the report: headings (#, ##), tables (rows that begin with |), paragraphs."""
    story: list[Flowable] = []
    for block in source.strip().split("\n\n"):
        if block.startswith("|"):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
            story.append(Table(rows, style=GRID, spaceBefore=4, spaceAfter=12))
        elif block.startswith("## "):
            story.append(Paragraph(block[3:], HEADING))
        elif block.startswith("# "):
            story.append(Paragraph(block[2:], TITLE))
        else:
            story.append(Paragraph(block, BODY))
    return story


def build() -> bytes:
    """The PDF."""
    pdfmetrics.registerFont(TTFont(NAME, FONT, subfontIndex=0))
    buffer = io.BytesIO()
    page = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        leftMargin=25 * mm,
        rightMargin=25 * mm,
        title="澜川储能 2025年年度报告（节选）",
        author="",
        invariant=1,
    )
    page.build(flowables((HERE / "source" / "report.md").read_text(encoding="utf-8")))
    return buffer.getvalue()


def main() -> None:
    """Write the PDF, or compare it with the one that is committed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    made = build()
    if parser.parse_args().check:
        sys.exit(0 if made == REPORT.read_bytes() else f"{REPORT} is stale: run build.py")
    REPORT.write_bytes(made)


if __name__ == "__main__":
    main()
