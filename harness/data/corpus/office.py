"""Presentations (PPTX), a page a slide, Word documents (DOCX), headings as in Markdown; workbooks (XLSX)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.data.corpus.document_files import Blocks, reading


def read_slides(path: Path) -> list[str | None]:
    """The text of every slide: its title as a heading, its shapes, its notes.

    '' stands for an empty slide, None for one with pictures, charts and the like alone.

    Groups are opened. Numbers of slides, dates and footers are left out, and so are charts and pictures.
    Raises CorpusError for a file that is no PPTX, and where python-pptx is missing.
    """
    with reading(path, "a presentation", "python-pptx", "pptx", "Save it again as .pptx, or as .pdf."):
        from pptx import Presentation

        return [_text_of(slide) for slide in Presentation(str(path)).slides]


def _text_of(slide: Any) -> str | None:
    blocks = Blocks()
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        blocks.heading(title.text_frame.text.replace("\v", " "), 1)
    _add_shapes(slide.shapes, None if title is None else title.shape_id, blocks)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = _lines(slide.notes_slide.notes_text_frame)
        if notes:
            blocks.add(f"Notes: {notes}")
    drawn = any(not shape.has_text_frame for shape in slide.shapes)
    return blocks.text() or (None if drawn else "")


def _add_shapes(shapes: Iterable[Any], title: int | None, blocks: Blocks) -> None:
    from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

    left_out = [PP_PLACEHOLDER[name] for name in ("SLIDE_NUMBER", "DATE", "FOOTER", "HEADER")]
    for shape in shapes:
        if shape.shape_id == title or (shape.is_placeholder and shape.placeholder_format.type in left_out):
            continue
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            _add_shapes(shape.shapes, None, blocks)
        elif shape.has_text_frame:
            blocks.add(_lines(shape.text_frame))
        elif shape.has_table:
            blocks.table([[_cell(cell) for cell in row.cells] for row in shape.table.rows])


def _lines(frame: Any) -> str:
    """A paragraph per line; a line break within one is a line too."""
    lines = (paragraph.text.replace("\v", "\n").strip() for paragraph in frame.paragraphs)
    return "\n".join(line for line in lines if line)


def _cell(cell: Any) -> str:
    return "" if cell.is_spanned else " ".join(cell.text_frame.text.replace("\v", " ").split())


_MOST_COLUMNS = 1000
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


def read_word(path: Path) -> list[str]:
    """The text of a Word document in its order, as one part; none if it holds no text.

    Inserted text of tracked changes counts, deleted text does not; content controls, links and text boxes
    are read. Headers, footers, footnotes and comments are left out. Raises CorpusError for a file that is no
    DOCX, and where python-docx is missing.
    """
    with reading(path, "a Word document", "python-docx", "docx", "Save it again as .docx, or as .pdf."):
        from docx import Document

        document = Document(str(path))
        styles = {style.style_id: style.name or "" for style in document.styles}
        blocks = Blocks()
        _add_blocks(document.element.body, styles, blocks)
        return [blocks.text()] if blocks.text() else []


def _name(element: Any) -> str:
    """The tag without its namespace; '' for comments and the like."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Any) -> str:
    """Its attribute ``val``."""
    return next((value for key, value in element.items() if key.endswith("}val")), "")


def _add_blocks(parent: Any, styles: dict[str, str], blocks: Blocks) -> None:
    for element in parent:
        name = _name(element)
        if name == "p":
            _add_paragraph(element, styles, blocks)
        elif name == "tbl":
            blocks.table([_cells(row) for row in _rows_of(element)])
        elif name in ("sdt", "sdtContent", "ins", "customXml", "smartTag"):
            _add_blocks(element, styles, blocks)


def _add_paragraph(paragraph: Any, styles: dict[str, str], blocks: Blocks) -> None:
    text = "".join(_letters_of(paragraph))
    properties = next((child for child in paragraph if _name(child) == "pPr"), ())
    style = next((child for child in properties if _name(child) == "pStyle"), None)
    named = "" if style is None else styles.get(_value(style), "")
    level = _HEADING.match(named)
    if level is not None or named == "Title":
        blocks.heading(text, int(level[1]) if level else 1)
    elif named.startswith("List") or any(_name(child) == "numPr" for child in properties):
        blocks.item(text)
    else:
        blocks.add(text)
    for box in _within(paragraph, "txbxContent"):
        _add_blocks(box, styles, blocks)


def _letters_of(element: Any) -> Iterator[str]:
    """The text of a paragraph; that of text boxes in it comes after it."""
    for child in element:
        name = _name(child)
        if name == "t":
            yield child.text or ""
        elif name in ("tab", "ptab"):
            yield "\t"
        elif name in ("br", "cr"):
            yield "\n"
        elif name == "noBreakHyphen":
            yield "-"
        elif name not in ("del", "moveFrom", "pPr", "rPr", "AlternateContent", "drawing", "pict", "object"):
            yield from _letters_of(child)


def _within(parent: Any, name: str) -> Iterator[Any]:
    """The elements of a name at any depth; of alternatives for older readers those of the first."""
    for element in parent.iter():
        above = element.iterancestors()
        if _name(element) == name and not any(_name(ancestor) == "Fallback" for ancestor in above):
            yield element


def _rows_of(table: Any) -> Iterator[Any]:
    for element in table:
        if _name(element) == "tr":
            yield element
        elif _name(element) in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _rows_of(element)


def _cells(row: Any) -> list[str]:
    """The cells of a row; one over several columns is followed by empty ones."""
    cells: list[str] = []
    for element in row.iter():
        if _name(element) != "tc" or _row_of(element) is not row:
            continue
        cells.append(" ".join(" ".join("".join(_letters_of(p)) for p in _within(element, "p")).split()))
        properties = next((child for child in element if _name(child) == "tcPr"), ())
        span = next((child for child in properties if _name(child) == "gridSpan"), None)
        width = "1" if span is None else _value(span)
        cells += [""] * (min(int(width), _MOST_COLUMNS) - 1)
    return cells


def _row_of(cell: Any) -> Any:
    """The row of a cell; that of a table in a cell is another one."""
    return next(above for above in cell.iterancestors() if _name(above) == "tr")
