"""Presentations (PPTX): every slide is a page, its title first, tables as tab-separated rows, then notes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.data.corpus.extracted import Blocks, reading

SLIDES_SUFFIXES = (".pptx",)


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
    _add(slide.shapes, None if title is None else title.shape_id, blocks)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = _lines(slide.notes_slide.notes_text_frame)
        if notes:
            blocks.add(f"Notes: {notes}")
    drawn = any(not shape.has_text_frame for shape in slide.shapes)
    return blocks.text() or (None if drawn else "")


def _add(shapes: Iterable[Any], title: int | None, blocks: Blocks) -> None:
    from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

    left_out = (
        PP_PLACEHOLDER.SLIDE_NUMBER,
        PP_PLACEHOLDER.DATE,
        PP_PLACEHOLDER.FOOTER,
        PP_PLACEHOLDER.HEADER,
    )
    for shape in shapes:
        if shape.shape_id == title:
            continue
        if shape.is_placeholder and shape.placeholder_format.type in left_out:
            continue
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            _add(shape.shapes, None, blocks)
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
